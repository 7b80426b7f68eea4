//! The scheduler's books in a parallel run: arriving at a point, taking the step, and what to do when no thread makes
//! progress. Which threads wait and which go is the gate's business: see `switch::gate`.

use raddle_core::policy::Policy;
use raddle_core::{Decision, Event, ThreadId};

use super::clock::NEVER;
use super::decide::Decider;
use super::idle::{Idle, OutsideWait};
use super::progress::BACK_OFF;
use super::thread::{Life, Packed, Wait};
use super::Scheduler;
use crate::process::failure;
use crate::signals::kernel as signals;
use crate::switch::gate;

impl Scheduler {
    /// The policy of a parallel run.
    pub fn parallel_policy(&mut self) -> &'static mut dyn Policy {
        // SAFETY: written in `start`.
        match unsafe { self.decider.assume_init_mut() } {
            Decider::Explore(guard) => guard.inner.get(),
            _ => failure::internal(format_args!("a parallel run follows a recording")),
        }
    }

    /// Thread `me` is about to do `event`, for which it needs `wait` before `deadline`.
    pub fn arrive_in_parallel(&mut self, me: ThreadId, event: Event, wait: Packed, deadline: u64) {
        let ready = self.announce(me, event, wait, deadline);
        let points = self.results().points;
        self.threads[me.index()].last_point = points;
        self.await_turn(me, wait, ready, deadline);
        self.expire();
        if self.threads[me.index()].signals != 0 {
            // Sent while it ran: it handles them before it waits.
            crate::signals::notify(self, me);
        }
    }

    /// Thread `me` goes on: logs every step, and counts those that were taken while others could.
    pub fn take_step(&mut self, me: ThreadId) {
        let decision = Decision::new(me, self.pending[me.index()].kind);
        let max_steps = self.settings().run.max_steps;
        let last = core::mem::replace(&mut self.last, me);
        self.results().switches += u64::from(me != last);
        self.record(decision);
        if self.enabled.len() < 2 {
            self.alone = true;
            return;
        }
        let policy = self.parallel_policy();
        if core::mem::take(&mut self.alone) {
            self.next_phase();
            self.results().steps += 1;
            policy.step_taken(last, self.results().steps);
        }
        self.results().steps += 1;
        policy.step_taken(me, self.results().steps);
        if self.results().steps > max_steps {
            self.limit_reached();
        }
    }

    /// What may have changed while a thread was in the runtime.
    pub fn catch_up(&mut self) {
        if self.outside_touched {
            self.outside_touched = false;
            self.poll_outside();
        }
        self.expire();
        gate::wake_spinning(self, false);
    }

    /// Whether the thread waits for something that does not come from another thread's step.
    pub fn waits_for_time_or_outside(&self, t: ThreadId) -> bool {
        let thread = &self.threads[t.index()];
        let spins = self.any_spinning && self.spinning.contains(t);
        thread.deadline != NEVER || matches!(thread.wait.get(), Wait::Polled(_)) || spins
    }

    /// Real time has passed while a thread was busy without a point.
    pub fn real_time_passed(&mut self, nanoseconds: u64) {
        self.clock.jump(self.clock.now() + nanoseconds);
        self.expire();
    }

    /// Looks at what other processes may have done.
    pub fn poll_kernel(&mut self) {
        signals::take_from_kernel(self);
        if !self.polled.is_empty() {
            self.poll_outside();
        }
    }

    /// No thread runs and none can. Returns for how long to sleep, if that is what is left; ends the run if nothing
    /// is. Threads that are `away` may come back.
    pub fn idle_in_parallel(&mut self, me: ThreadId, away: bool) -> Option<u64> {
        gate::wake_spinning(self, self.next_deadline().is_none() && !away);
        if !self.enabled.is_empty() {
            return None;
        }
        match self.idle_once(me, away) {
            Idle::Retry | Idle::Signal | Idle::OutsideEvent => None,
            Idle::Sleep { left } => Some(left),
        }
    }

    /// What threads wait for outside, in a form to sleep on.
    pub fn outside(&mut self, at_most: u64) -> OutsideWait {
        OutsideWait::of(self, super::idle::LONGEST_NAP, at_most)
    }

    /// Whether all threads that pass points only spin, while others might compute: `None` when they do
    /// not, `Some(false)` when another thread computes.
    pub fn only_spinning(&mut self, me: ThreadId) -> Option<bool> {
        let patience = BACK_OFF * (1 + self.enabled.len() as u64);
        if self.futile <= patience {
            return None;
        }
        let points = self.results().points;
        let computes = |i: usize| {
            let thread = &self.threads[i];
            let runs = thread.life == Life::Alive && !thread.parked && i != me.index();
            runs && points - thread.last_point > patience
        };
        Some(!(0..self.created).any(computes))
    }
}
