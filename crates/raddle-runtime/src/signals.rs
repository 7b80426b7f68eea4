//! Signals.

use raddle_core::ThreadId;

use crate::scheduler::Scheduler;

/// Signals of the process. Valid when zeroed.
pub struct Signals {}

/// Takes what the kernel has delivered since the last look.
pub fn take_from_kernel(_scheduler: &mut Scheduler) -> bool {
    false
}

/// Whether a signal may come from outside.
pub fn expected(_scheduler: &mut Scheduler) -> bool {
    false
}

/// Time has passed.
pub fn expire(_scheduler: &mut Scheduler) {}

/// Runs the handlers of what is pending for a thread.
pub fn deliver(_me: ThreadId) {}

/// A new thread has its first turn.
pub fn adopt(_me: ThreadId) {}

/// The run starts.
pub fn start_run() {}
