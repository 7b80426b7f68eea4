//! Waiting for a run: until it is over, frozen at a failure, or too slow.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};
use raddle_core::block::event;

use super::block::SharedBlock;
use super::output::Output;
use crate::sys;

/// How often a long run is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The event word of the job's block, for the handler of SIGCHLD.
static EVENT: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Set when the job is asked to leave.
static STOP: AtomicBool = AtomicBool::new(false);

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub enum Happened {
    /// The fork server says that the run is over.
    Done,
    /// The run has stopped at a failure and waits to be looked at.
    Frozen,
    /// The process that was started has ended, with this status.
    Ended(c_int),
    /// The time is over.
    TooSlow,
    /// The job is asked to leave.
    Stopped,
}

/// Lets signals reach [`Watch`]: to be called once in each job.
pub fn install(block: &SharedBlock) {
    EVENT.store(block.event().cast_mut(), Ordering::Release);
    sys::on_signal(libc::SIGCHLD, child_ended);
    sys::on_signal(libc::SIGTERM, stop);
}

extern "C" fn child_ended(_: c_int) {
    // SAFETY: null, or the word of a block that lives until the job's process ends.
    if let Some(word) = unsafe { EVENT.load(Ordering::Acquire).as_ref() } {
        // Changing the word keeps a wait from starting; the signal ends one that has started.
        word.fetch_or(event::CHILD, Ordering::AcqRel);
    }
}

extern "C" fn stop(_: c_int) {
    STOP.store(true, Ordering::Release);
}

/// Whether the job is asked to leave.
pub fn stopped() -> bool {
    STOP.load(Ordering::Acquire)
}

/// A watch over one run.
pub struct Watch {
    limit: Duration,
    deadline: Instant,
    beat: u32,
    beat_at: Instant,
}

impl Watch {
    /// The run starts now and may take so long.
    pub fn new(limit: Duration) -> Watch {
        let now = Instant::now();
        Watch { limit, deadline: now + limit, beat: 0, beat_at: now }
    }

    /// Time that we took ourselves does not count.
    pub fn extend(&mut self, by: Duration) {
        self.deadline += by;
    }

    /// How long the run may take, and for how long it has reached no schedule point.
    pub fn silence(&self) -> super::classify::TimedOut {
        super::classify::TimedOut { limit: self.limit.as_secs_f64(), silent: self.beat_at.elapsed().as_secs_f64() }
    }

    /// Waits for the next thing to happen. `child` is the process that was started: the fork server
    /// or the run itself.
    pub fn wait(&mut self, block: &SharedBlock, output: &mut Output, child: pid_t) -> Happened {
        let control = block.control();
        loop {
            let seen = control.event.load(Ordering::Acquire);
            for (bit, happened) in [(event::FROZEN, Happened::Frozen), (event::DONE, Happened::Done)] {
                if seen & bit != 0 {
                    control.event.fetch_and(!bit, Ordering::AcqRel);
                    return happened;
                }
            }
            if seen & event::CHILD != 0 {
                control.event.fetch_and(!event::CHILD, Ordering::AcqRel);
                if let Some(status) = sys::try_wait(child) {
                    return Happened::Ended(status);
                }
                continue;
            }
            if stopped() {
                return Happened::Stopped;
            }
            let now = Instant::now();
            if now >= self.deadline {
                return Happened::TooSlow;
            }
            let beat = control.heartbeat.load(Ordering::Relaxed);
            if beat != self.beat {
                self.beat = beat;
                self.beat_at = now;
            }
            sys::futex_wait(&control.event, seen, LOOK.min(self.deadline - now));
            if now.elapsed() >= LOOK {
                // A look that fails now will fail again after the run, and be reported there.
                let _ = output.look();
            }
        }
    }
}
