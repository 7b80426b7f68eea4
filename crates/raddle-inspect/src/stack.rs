//! Backtraces of the threads of a live process.
//!
//! The process is one that a run left standing: its threads wait in futexes or in a signal handler.
//! Each thread is held for a moment, its stack is walked from outside, and it is let go as it was.
//! A campaign asks for thousands of stacks of the same few programs, so everything that does not
//! depend on the process is kept: unwind tables here, debug information and the places of each address in
//! [`Builds`].

use std::sync::Arc;
use std::thread;

use super::builds::Builds;
use super::cfi::Registers;
use super::process::{Images, Process};
use super::symbols::Place;
use super::tracee;
pub use super::tracee::StackError;
use super::walk::{Step, Walker, MOST_FRAMES};

/// The name of the frame between a signal handler and what it interrupted, as gdb has it.
const SIGNAL_FRAME: &str = "<signal handler called>";

/// One function call on the stack of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Where the thread is in the function, or goes on when the call above returns.
    pub address: u64,
    /// The demangled name; `None` when neither debug information nor a symbol tells it. A function
    /// that was inlined has a frame of its own.
    pub function: Option<String>,
    /// The source file, where it is known.
    pub file: Option<String>,
    /// The line in it, counted from 1.
    pub line: Option<u32>,
    /// The file name of the program or library, or a name in brackets for other memory.
    pub module: String,
}

/// Makes backtraces, and remembers what it read to make them.
#[derive(Default)]
pub struct Unwinder {
    images: Images,
    walker: Walker,
}

/// A thread to look at.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// The OS thread that it is or that runs it.
    pub tid: i32,
    /// Where a parked fiber's registers are saved; 0 for a thread that runs.
    pub context: u64,
}

impl Unwinder {
    /// An unwinder that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An unwinder that knows what is known of these builds, and adds to it.
    pub fn with(builds: Builds) -> Self {
        Unwinder { images: Images::new(builds), ..Self::default() }
    }

    /// The stacks of threads of a process, innermost frame first; one result for each thread, in
    /// the order of `tids`.
    ///
    /// The process must belong to the same user and descend from the caller (Yama asks for it).
    /// While this runs, no other thread of the caller may wait for the process with `waitpid`: it
    /// would see stops that are not meant for it.
    pub fn stacks(&mut self, pid: i32, tids: &[i32]) -> Vec<Result<Vec<Frame>, StackError>> {
        let threads: Vec<Thread> = tids.iter().map(|&tid| Thread { tid, context: 0 }).collect();
        self.stacks_of(pid, &threads)
    }

    /// As [`Unwinder::stacks`], for threads that may be parked fibers.
    pub fn stacks_of(&mut self, pid: i32, threads: &[Thread]) -> Vec<Result<Vec<Frame>, StackError>> {
        // A thread's tracees are detached when it ends, whatever happened: a thread that would not
        // stop, or one that is dying, is left to nobody.
        thread::scope(|scope| scope.spawn(|| self.hold_and_walk(pid, threads)).join())
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The frames of a call that returns to an address in a process, which need not be in progress: several when
    /// functions were inlined, none when nothing is known.
    pub fn frames_at(&mut self, pid: i32, back: u64) -> Vec<Frame> {
        let Ok(mut process) = Process::of(pid) else { return Vec::new() };
        self.frames(&mut process, &Step { address: back, lookup: back.wrapping_sub(1), is_signal: false })
    }

    fn hold_and_walk(&mut self, pid: i32, threads: &[Thread]) -> Vec<Result<Vec<Frame>, StackError>> {
        let mut tids: Vec<i32> = threads.iter().map(|thread| thread.tid).collect();
        tids.sort_unstable();
        tids.dedup();
        let held = tracee::hold(pid, &tids);
        // When the main thread has ended before the others, the process can only be reached through
        // one of those.
        let alive = held.iter().flatten().next().map_or(pid, tracee::Held::tid);
        let mut process = Process::of(alive).map_err(Arc::new);
        let mut stacks = Vec::with_capacity(held.len());
        for thread in threads {
            // Every id was held above.
            let at = tids.binary_search(&thread.tid).unwrap_or(0);
            stacks.push(match (&held[at], &mut process) {
                (Ok(held), Ok(process)) => {
                    let parked =
                        (thread.context != 0).then(|| Registers::of_parked_fiber(thread.context, &mut process.memory));
                    Ok(self.stack(process, parked.flatten().as_ref().unwrap_or(held.registers())))
                }
                (Ok(_), Err(error)) => Err(StackError::NoMap { pid, source: Arc::clone(error) }),
                (Err(error), _) => Err(error.clone()),
            });
        }
        stacks
    }

    fn stack(&mut self, process: &mut Process, registers: &Registers) -> Vec<Frame> {
        let steps = self.walker.walk(process, &mut self.images, registers);
        let frames = steps.iter().flat_map(|step| self.frames(process, step));
        frames.take(MOST_FRAMES).collect()
    }

    /// The frames of one step of a walk: several when functions were inlined.
    fn frames(&mut self, process: &mut Process, step: &Step) -> Vec<Frame> {
        let module = process.module(step.lookup);
        if step.is_signal {
            return vec![frame(step, &module, Place { function: Some(SIGNAL_FRAME.into()), ..Place::default() })];
        }
        let at = self.images.find(process, step.lookup);
        let build = at.and_then(|at| Some((self.images.get(at).build?, at.address)));
        let places = match build {
            Some((build, address)) => self.images.builds.places(build, address),
            None => vec![Place::default()],
        };
        places.into_iter().map(|place| frame(step, &module, place)).collect()
    }
}

fn frame(step: &Step, module: &str, place: Place) -> Frame {
    Frame {
        address: step.address,
        function: place.function,
        file: place.file,
        line: place.line,
        module: module.to_owned(),
    }
}
