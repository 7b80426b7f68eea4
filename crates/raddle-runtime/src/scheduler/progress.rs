//! Accounts of progress: which threads only spin, and when all seem to.
//!
//! Operations are counted, not states. So nothing follows from it except who is scheduled when, and that time may pass.

use raddle_core::decorators::guard::SPINNING;
use raddle_core::ThreadId;

use super::Scheduler;
use crate::os::sys;

/// What an access of an instrumented program weighs as progress. A loop that looks for work and yields makes
/// dozens of them in each turn, and few calls.
pub(super) const ACCESS: u32 = 1;
/// What any other operation weighs.
const OPERATION: u32 = 8;
/// Operations after which an earlier one without progress is forgotten.
const FORGIVEN: u32 = 8 * OPERATION;
/// After this many operations in a row with progress, by weight, a thread gets somewhere.
const BUSY: u32 = 64 * OPERATION;
/// Operations without progress, for each thread that runs, after which all of them only spin. Locks and pools that
/// spin before they park yield up to 32 times first.
pub(super) const BACK_OFF: u64 = 32;
/// Points without any progress after which the run may be in a livelock.
pub(super) const LIVELOCK: u64 = 100_000;
/// Operations without progress after which even a single thread is looked at closely.
pub(super) const PATIENCE: u64 = 64;
impl Scheduler {
    /// A thread made progress.
    pub fn progressed(&mut self) {
        self.progress_at = self.results().points;
        self.futile = 0;
    }

    /// The thread's last operation made no progress: a yield, a failed attempt, a clock reading.
    pub fn made_no_progress(&mut self, me: ThreadId) {
        let thread = self.thread(me);
        thread.was_futile = true;
        thread.spins = thread.spins.saturating_add(1);
        thread.since_futile = 0;
    }

    /// The thread has used up CPU time and passed few points, or none: it counts as spinning until it makes progress.
    pub fn spins_silently(&mut self, me: ThreadId) {
        let thread = self.thread(me);
        thread.gives_way = true;
        thread.spins = thread.spins.saturating_add(1).max(SPINNING);
        thread.since_futile = 0;
    }

    /// Accounts for the progress of the thread's last operation.
    #[inline(always)]
    pub(super) fn account(&mut self, me: ThreadId) {
        let thread = &mut self.threads[me.index()];
        if thread.was_futile {
            thread.was_futile = false;
            thread.gives_way = true;
            self.futile += 1;
            return;
        }
        let done = self.pending[me.index()].kind;
        let weight = if done.is_access() { ACCESS } else { OPERATION };
        thread.since_futile = thread.since_futile.saturating_add(weight);
        if thread.since_futile > FORGIVEN {
            thread.spins = 0;
        }
        if thread.since_futile > BUSY || thread.spins == 0 {
            self.progressed();
        }
    }

    /// All running threads only spin: lets time pass for the sleeping ones, or a fair schedule take over.
    pub(crate) fn nothing_progresses(&mut self) {
        if let Some(deadline) = self.next_deadline() {
            self.futile = 0;
            self.clock.jump(deadline);
            self.expire();
        } else if !self.polled.is_empty() {
            self.futile = 0;
            self.poll_outside();
        } else if self.open_world {
            // Another process, or a thread that is not ours, may be what is waited for.
            sys::give_way();
            self.recheck();
        } else {
            self.suspect();
        }
    }
}
