//! A step of a thread: it arrives before the step, a thread is chosen, and the chosen one departs.

use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::results::blind_spot;

use super::clock::NEVER;
use super::progress::PATIENCE;
use super::thread::{Packed, Wait, Wake};
use super::{Scheduler, OUTSIDE_POLL_INTERVAL};
use crate::signals::kernel as signals;

impl Scheduler {
    /// Thread `me` is about to do `event`, for which it needs `wait` before `deadline`. Returns the
    /// thread that goes on.
    #[inline(always)]
    pub fn arrive(&mut self, me: ThreadId, event: Event, wait: Packed, deadline: u64) -> ThreadId {
        let ready = self.announce(me, event, wait, deadline);
        if self.alive == 1 && ready && self.is_quiet() {
            if self.reports_no_choice {
                self.pass_without_choice(me, me);
            }
            return me;
        }
        self.await_turn(me, wait, ready, deadline);
        self.decide(me)
    }

    /// Whether nothing can happen at a point of the only thread.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        let waits = self.polled.is_empty() && self.futile < PATIENCE && signals::next_alarm() == NEVER;
        waits && !self.replays_parallel && !self.is_fair
    }

    /// Notes what `me` is about to do. Returns whether what it needs is there.
    #[inline(always)]
    pub(super) fn announce(&mut self, me: ThreadId, event: Event, wait: Packed, deadline: u64) -> bool {
        let points = self.results().points + 1;
        self.results().points = points;
        if points.is_multiple_of(OUTSIDE_POLL_INTERVAL) {
            self.poll_outside_periodically();
        }
        self.clock.point();
        if event.kind != EventKind::Clock {
            self.clock.other_work();
        }
        self.account(me);
        self.set_pending(me, event);
        let thread = &mut self.threads[me.index()];
        thread.wait = wait;
        thread.wake = Wake::Go;
        thread.deadline = deadline;
        self.ready(me)
    }

    /// `me` waits before its step, and others may go first.
    #[inline(always)]
    pub(super) fn await_turn(&mut self, me: ThreadId, wait: Packed, ready: bool, deadline: u64) {
        if self.alive > 1 {
            self.results().shared_points += 1;
        }
        self.enabled.set(me, ready);
        let key = wait.get().key();
        if key != 0 {
            self.waiters.insert(me, key);
        }
        if wait.is_polled() && !ready {
            self.polled.set(me, true);
        }
        // Even when it is ready: another thread may be faster, and then it waits.
        if deadline != NEVER {
            self.record_blind_spot(blind_spot::TIMED);
            self.timers.insert(me, deadline);
        }
    }

    /// Thread `me` has been chosen and goes on.
    #[inline(always)]
    pub fn depart(&mut self, me: ThreadId) -> Wake {
        self.current = me;
        self.waiters.remove(me);
        let thread = &mut self.threads[me.index()];
        if thread.deadline != NEVER {
            thread.deadline = NEVER;
            self.timers.remove(me);
        }
        if thread.wait.is_polled() {
            self.polled.set(me, false);
        }
        // What it waited for may have come together with another reason to go on: then it has it.
        let why = self.threads[me.index()].wake;
        let wake = if why == Wake::Go || self.ready(me) { Wake::Go } else { why };
        let thread = &mut self.threads[me.index()];
        thread.wait = Wait::None.pack();
        thread.wake = Wake::Go;
        thread.woken = false;
        #[cfg(feature = "verify")]
        crate::verify::departed(self, me);
        wake
    }
}
