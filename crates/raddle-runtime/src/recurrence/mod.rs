//! Whether a run is in a state again that it was in before: the only evidence for a livelock.
//!
//! The claim. Let the run be at a visit of the scheduler, and again at a later one. Suppose that between the two
//! nothing came from outside the process and nothing left it, that no deadline is ahead, and that at both visits the
//! program's memory, the registers of all its threads and what the model knows of them are the same. Then the decisions
//! in between can be made again, and lead to the same state again, for ever: with the same memory and registers the
//! program does the same. If every thread that could run did so in between, this endless schedule is fair. No
//! instrumentation is needed for that, and no count of operations.
//!
//! - **Memory** is every page that is the process's own, as the kernel lists them, except for the runtime's: see
//!   [`pages`].
//! - **Registers** lie in memory. Visits are made in the runtime, which the program has called, or which a signal
//!   handler has called on top of the registers that the kernel saved on the stack. By the System V ABI such a call
//!   preserves six registers, the stack pointer and the control words of floating-point arithmetic, and nothing else
//!   that it holds is read after it. `switch::own_stack` pushes them before each visit, so they are on the thread's own
//!   stack, and the stack pointer itself is noted for each thread. What is below it is dead, but compared all the same:
//!   that can hide a recurrence, never invent one. The runtime leaves nothing there that differs from visit to visit,
//!   because it decides on a stack of its own.
//! - **The model's state** is in the program's objects, and in the records of threads: see [`model`].
//! - **The scheduler's books** (counters, the clock, the log, the order of the next turns) need not be the same: they
//!   choose among the program's behaviours, and one endless fair behaviour is enough.
//! - **The kernel's state** (descriptors, files, pipes, timers, masks) changes by system calls. They are counted
//!   ([`sys::answers`](crate::os::sys::answers)), and a state is only compared with one from which no call separates it.
//!   Memory that other processes share can change without one; a program that has such memory is not judged.
//!
//! An endless fair schedule that repeats itself may still be an accident of its regularity, from which a real machine soon
//! finds a way out. So there is a second condition: under turns of irregular lengths, states must come back as well. See
//! [`seen`].
//!
//! What no program can be asked about are instructions that read a clock or a random number of the processor's own
//! (`rdtsc`, `rdrand`). So a recurrence has to happen several times, under schedules that differ, before it counts.

mod cycle;
pub mod hash;
pub mod model;
pub mod pages;
mod seen;

pub use cycle::{Cycle, State};
pub use seen::{Quarter, Seen};
