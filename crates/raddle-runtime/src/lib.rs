//! The library that raddle loads into the program under test.
//!
//! The folders are the boxes of the architecture:
//!
//! | Folder | What is in it |
//! |---|---|
//! | `process` | from exec to the end: finding the block, the fork server, checks, series of runs, failures |
//! | `control` | the state of the runtime, and the way into the scheduler: `current`, `point`, `wait` |
//! | `points` | something is about to happen: the functions that stand for libc's, one file per primitive |
//! | `dispatch` | system calls that are made past these functions (syscall user dispatch) |
//! | `access`, `race` | instrumented programs: the compiler's hooks, spin loops, leases; data races |
//! | `heap` | the allocator's functions: freed memory is held back, misuse of the heap is a finding |
//! | `model` | which threads can go on: the state of each primitive, as pure operations |
//! | `scheduler` | counts steps, keeps the enabled set, asks the policy, logs the decision |
//! | `recurrence` | whether a run is in a state again that it was in before: the evidence for a livelock |
//! | `switch` | makes the chosen thread run: fibers, OS threads, or the gate of parallel runs |
//! | `signals` | handlers that only queue; delivery at schedule points |
//! | `os` | system calls, output and the address space, without libc |
//! | `verify` | with the feature of that name: compares the runtime's books with each other after every decision |
//!
//! The policies are in raddle-core.
//!
//! Rules for code in here: it runs before main, inside other people's locks, in forked children and
//! in signal handlers. No thread-local state, no allocation, no libc call on the path of a schedule
//! point, no panic.
//!
//! The library itself is a crate of type `cdylib` that depends on this one and calls [`runtime!`], or [`register!`] if it
//! has policies of its own. raddle-runtime-image builds the library that comes with raddle. These two macros are all
//! that this crate offers to others.
//!
//! The functions that nearly every run calls lie together, in the section `raddle_run`: the child of a fork
//! server pays for each stretch of text that it is the first to touch, and the rest is eight times as long.

#![cfg_attr(not(test), no_std)]
// Interposed functions keep the contracts of the functions they stand for; see their manual pages.
#![allow(clippy::missing_safety_doc)]
// The bodies that `interpose!` takes are meant to be unsafe code.
#![allow(clippy::macro_metavars_in_unsafe)]
// In a test binary nothing is exported, so the functions that stand for libc's are not used.
#![cfg_attr(test, allow(dead_code))]

mod access;
mod control;
mod dispatch;
mod heap;
mod model;
mod os;
mod points;
mod process;
mod race;
mod recurrence;
mod scheduler;
mod signals;
mod switch;
#[cfg(feature = "verify")]
mod verify;

use os::sys::syscall;
use points::{interpose, real};

/// What the macros of this crate expand to.
#[doc(hidden)]
pub mod macro_support {
    pub use crate::process::failure::internal;
    pub use crate::process::policies::{register, validated};
}
