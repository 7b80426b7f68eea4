//! Deciding: asks the policy, or the replay in its place, at each point where more than one thread can go on,
//! counts the step and logs the decision. Leases are decisions that are taken in advance.

use raddle_core::decorators::parallel_replay::ParallelReplay;
use raddle_core::decorators::{guard::Guard, replay::Replay};
use raddle_core::policy::Policy;
use raddle_core::{forward_policy, Decision, EventKind, Point, ThreadId};
use raddle_protocol::settings::flag;
use raddle_protocol::Outcome;

use super::clock::NEVER;
use super::progress::{ACCESS, BACK_OFF};
use super::{Scheduler, OUTSIDE_POLL_INTERVAL};
use crate::access::spin_loop;
use crate::control;
use crate::process::failure;

/// What a run of a check is for, and so what decides in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum RunKind {
    /// It counts: the policy decides, or a recording.
    #[default]
    Counted = 0,
    /// It repeats the run before, with that run's decisions.
    Repeated,
    /// It sets things up that are set up once: a thread goes on until it waits or spins.
    WarmUp,
}

/// What decides at a point.
pub(super) enum Decider {
    Explore(Guard<PolicyHandle>),
    Replay(Replay<'static>),
    ParallelReplay(ParallelReplay<'static>),
}

/// The policy of this run, built in the runtime's own memory.
pub(super) struct PolicyHandle(pub *mut dyn Policy);

impl PolicyHandle {
    pub(super) fn get(&mut self) -> &'static mut dyn Policy {
        // SAFETY: built at start-up in memory that lives as long as the process; only the holder of
        // the baton comes here.
        unsafe { &mut *self.0 }
    }
}

impl Policy for PolicyHandle {
    forward_policy!(
        // SAFETY: as for `get`.
        self => self.get(), unsafe { &*self.0 };
        start, choose, created, lower, lease, pass, end, sees_every_point, no_choice, member, choose_waiter, pass_time,
        run_discarded, bound, gaps, exhausted,
    );
}

impl Scheduler {
    /// Decides which thread goes on. Ends the run if none ever can.
    #[inline]
    #[link_section = "raddle_run"]
    pub fn decide(&mut self, me: ThreadId) -> ThreadId {
        if self.outside_touched {
            self.outside_touched = false;
            self.poll_outside();
        }
        self.expire();
        if self.any_spinning {
            spin_loop::wake_changed(self);
            if self.enabled.is_empty() {
                spin_loop::wake_preempted(self);
            }
            if self.enabled.is_empty() && self.next_deadline().is_none() {
                spin_loop::wake_all(self);
            }
        }
        if self.futile > BACK_OFF * (1 + self.enabled.len() as u64) {
            self.nothing_progresses();
        }
        if self.enabled.is_empty() {
            self.idle(me);
        }
        if self.timers.len > 0 {
            self.consider_delay(me);
        }
        if self.replays_parallel {
            self.advance_to_recorded_thread();
        }
        let next = if self.enabled.len() == 1 {
            self.alone = true;
            // One thread is enabled, so the first one exists.
            let next = self.enabled.first().unwrap_or(me);
            if self.reports_no_choice | self.replays_parallel {
                self.pass_without_choice(me, next);
            }
            next
        } else {
            self.ask_policy(me)
        };
        if next != me {
            self.results().switches += 1;
        }
        #[cfg(feature = "verify")]
        crate::verify::decided(self, me, next);
        next
    }

    #[inline(always)]
    fn ask_policy(&mut self, me: ThreadId) -> ThreadId {
        let opened = core::mem::take(&mut self.alone);
        if opened {
            self.next_phase();
        }
        let (step, points) = (self.results().steps + u64::from(opened), self.results().points);
        if self.is_fair && self.takes_turns() {
            let (chosen, fired) = (self.fair_choice(me), self.results().guard_fired);
            return self.count_step(chosen, step, fired);
        }
        let point = Point {
            current: me,
            enabled: &self.enabled,
            pending: &self.pending[..self.created],
            spins: self.threads[me.index()].spins,
            step,
            opened,
            points,
        };
        // SAFETY: written in `start`.
        let decider = unsafe { self.decider.assume_init_mut() };
        let (chosen, diverged, fired) = match decider {
            _ if self.run_kind == RunKind::Repeated => {
                // SAFETY: written in `restart`.
                let follow = unsafe { self.repeat_replay.assume_init_mut() };
                (follow.choose(&point), follow.diverged, 0)
            }
            _ if self.run_kind == RunKind::WarmUp => (point.unpreempted(), None, 0),
            Decider::Explore(guard) => {
                let (chosen, fired) = (guard.choose(&point), guard.fired);
                let chosen = if self.holds_back() { self.before_late(me, chosen) } else { chosen };
                return self.count_step(chosen, step, fired);
            }
            Decider::Replay(replay) => (replay.choose(&point), replay.diverged, 0),
            Decider::ParallelReplay(order) => (order.choose(&point), None, 0),
        };
        if let Some(divergence) = diverged {
            failure::diverged(self, divergence);
        }
        self.count_step(chosen, step, fired)
    }

    /// The chosen thread takes a step, after `step` others.
    #[inline(always)]
    fn count_step(&mut self, chosen: ThreadId, step: u64, fired: u64) -> ThreadId {
        debug_assert!(self.enabled.contains(chosen));
        self.enabled.settle();
        let decision = Decision::new(chosen, self.pending[chosen.index()].kind);
        let results = self.results();
        results.steps = step + 1;
        results.guard_fired = fired;
        self.record(decision);
        if self.traces {
            self.trace_decision(chosen);
        }
        if step + 1 > self.settings().run.max_steps {
            self.limit_reached();
        }
        chosen
    }

    /// A point where there is nothing to decide, in a run that keeps track of these; `next` goes on.
    #[cold]
    pub fn pass_without_choice(&mut self, me: ThreadId, next: ThreadId) {
        if self.reports_no_choice && self.created > 1 {
            if self.traces && self.alive > 1 {
                // SAFETY: mapped since `start`; the command line reads it after the run.
                let alone = unsafe { &mut (*self.block).trace.points_without_choice };
                alone[next.index()] = alone[next.index()].saturating_add(1);
            }
            self.trace_point(next);
            self.report_no_choice(me);
        }
        if self.replays_parallel {
            self.replay_step_taken(next);
        }
    }

    /// Reports a point where there is nothing to decide to a policy that wants to see every point.
    #[cold]
    pub fn report_no_choice(&mut self, me: ThreadId) {
        if self.created == 1 || !self.policy_sees_every_point || self.run_kind != RunKind::Counted {
            return;
        }
        let results = self.results();
        let (step, points) = (results.steps, results.points);
        let point = Point {
            current: me,
            enabled: &self.enabled,
            pending: &self.pending[..self.created],
            spins: self.threads[me.index()].spins,
            step,
            opened: false,
            points,
        };
        // SAFETY: written in `start`.
        if let Decider::Explore(guard) = unsafe { self.decider.assume_init_mut() } {
            guard.no_choice(&point);
        }
    }

    /// Which of several waiters, one bit each, is woken, if a search or a recording decides that. It is a step of its
    /// own.
    #[cold]
    pub fn choose_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        let picked = match self.takes_turns() {
            true => Some(self.fair_waiter(waiters)),
            false => self.chosen_waiter(waiters),
        }?;
        let decision = Decision::new(picked, EventKind::Woken);
        self.results().steps += 1;
        self.record(decision);
        Some(picked)
    }

    fn chosen_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        // SAFETY: written in `start`.
        let decider = unsafe { self.decider.assume_init_mut() };
        match decider {
            // SAFETY: written in `restart`.
            _ if self.run_kind == RunKind::Repeated => {
                unsafe { self.repeat_replay.assume_init_mut() }.choose_waiter(waiters)
            }
            _ if self.run_kind == RunKind::WarmUp => None,
            Decider::Explore(guard) => guard.choose_waiter(waiters),
            Decider::Replay(replay) => replay.choose_waiter(waiters),
            // A parallel run leaves it to the model.
            Decider::ParallelReplay(_) => None,
        }
    }

    /// Whether the fair schedule decides, and not a recording of what it decided.
    fn takes_turns(&mut self) -> bool {
        // SAFETY: written in `start`.
        let recorded = match unsafe { self.decider.assume_init_mut() } {
            Decider::Explore(_) => false,
            Decider::Replay(_) => self.run_kind == RunKind::Counted,
            Decider::ParallelReplay(order) => order.next().is_some(),
        };
        self.is_fair && !recorded && self.run_kind != RunKind::Repeated
    }

    /// The policy whose runs count, if it decides in this run.
    pub(super) fn exploring(&mut self) -> Option<&mut Guard<PolicyHandle>> {
        // SAFETY: written in `start`.
        match unsafe { self.decider.assume_init_mut() } {
            Decider::Explore(guard) if self.run_kind == RunKind::Counted => Some(guard),
            _ => None,
        }
    }

    /// Tells the policy that the run has ended.
    pub fn policy_run_ended(&mut self) {
        if let Some(guard) = self.exploring() {
            guard.end();
        }
    }

    /// Tells the policy that the run does not count, because it is repeated.
    pub fn policy_run_discarded(&mut self) {
        if let Some(guard) = self.exploring() {
            guard.run_discarded();
        }
    }

    /// Whether the policy had no schedule left when the run started, which is then noted in the results.
    #[link_section = "raddle_run"]
    pub fn is_exhausted(&mut self) -> bool {
        if !self.searches {
            return false;
        }
        let Some(explored) = self.exploring().and_then(|guard| guard.exhausted()) else { return false };
        let results = self.results();
        results.explored = explored;
        results.outcome = Outcome::Exhausted as u32;
        true
    }

    /// In a replayed parallel run the next thread waits for a time, or for something outside: that has
    /// come by then.
    #[cold]
    fn advance_to_recorded_thread(&mut self) {
        // SAFETY: written in `start`.
        let Decider::ParallelReplay(order) = (unsafe { self.decider.assume_init_mut() }) else { return };
        let waits = |t: &ThreadId| t.index() < self.created && !self.enabled.contains(*t);
        let Some(t) = order.next().filter(waits) else { return };
        if self.polled.contains(t) {
            self.poll_outside();
        }
        let deadline = self.threads[t.index()].deadline;
        if !self.enabled.contains(t) && deadline != NEVER {
            self.clock.jump(deadline);
            self.expire();
        }
    }

    /// In a replayed parallel run the only thread that can go on takes its step.
    #[cold]
    fn replay_step_taken(&mut self, next: ThreadId) {
        let decision = Decision::new(next, self.pending[next.index()].kind);
        // SAFETY: written in `start`.
        if let Decider::ParallelReplay(order) = unsafe { self.decider.assume_init_mut() } {
            order.step_taken(decision);
        }
    }

    /// A sequential stretch is over.
    pub(super) fn next_phase(&mut self) {
        let results = self.results();
        results.phase = results.longest_phase();
        results.phase_start = results.steps;
    }

    /// Notes which thread passes a point, if that is asked for.
    fn trace_point(&mut self, t: ThreadId) {
        if !self.traces_points {
            return;
        }
        // SAFETY: mapped since `start`; the command line reads it after the run.
        let trace = unsafe { &mut (*self.block).trace };
        match trace.point_threads.get_mut(trace.points as usize) {
            Some(place) => *place = t.0,
            // An incomplete list is not read: the rest of a long run need not pay for it.
            None => self.set_point_tracing(false),
        }
        trace.points += 1;
    }

    /// Sets whether the threads that pass points are noted from now on; and what follows from that.
    #[cold]
    pub(super) fn set_point_tracing(&mut self, noted: bool) {
        self.traces_points = noted;
        self.traces = noted || self.settings().flags & flag::TRACE != 0;
        self.reports_no_choice = self.traces || self.policy_sees_every_point;
    }

    /// Notes the object of the last decision, and its thread.
    #[cold]
    fn trace_decision(&mut self, chosen: ThreadId) {
        self.trace_point(chosen);
        let object = self.pending[chosen.index()].object as u64;
        let last = (self.results().log_len as usize).wrapping_sub(1);
        // SAFETY: mapped since `start`; the command line reads it after the run.
        let objects = unsafe { &mut (*self.block).trace.objects };
        if let Some(place) = objects.get_mut(last) {
            *place = object;
        }
    }

    /// A decision becomes part of the run's schedule, and of its log while there is room.
    #[inline(always)]
    pub(super) fn record(&mut self, decision: Decision) {
        let (capacity, log) = (self.settings().log_capacity, self.log);
        let results = self.results();
        results.hash = Scheduler::hash(results.hash, decision.0);
        if results.log_len < capacity {
            // SAFETY: the log has room for `capacity` decisions.
            unsafe { log.add(results.log_len as usize).write(decision.0) };
            results.log_len += 1;
        }
    }

    /// FNV-1a, four bytes at a time.
    #[inline(always)]
    pub fn hash(hash: u64, decision: u32) -> u64 {
        (hash ^ u64::from(decision)).wrapping_mul(0x0100_0000_01b3)
    }

    /// Where the next decision is logged.
    pub fn log_end(&mut self) -> *mut u32 {
        let length = self.results().log_len as usize;
        // SAFETY: the log has room for more, or the pointer is not used.
        unsafe { self.log.add(length) }
    }

    /// For how many accesses nothing can happen except that `me`, which has just passed a point, goes on; and
    /// whether they are steps.
    #[inline]
    pub fn leasable_accesses(&mut self, me: ThreadId) -> Option<(u64, bool)> {
        let thread = &self.threads[me.index()];
        let busy = thread.signals != 0 || thread.was_futile || thread.spins != 0;
        let watched = self.outside_touched || self.trap_again || self.any_spinning || self.foreign_threads;
        // Before there is a second thread there is nothing to see.
        let looked_at = (self.traces || self.reports_no_choice) && self.created > 1;
        if busy
            || watched
            || looked_at
            // Which thread is the first to touch an object must not depend on leases.
            || self.names_objects
            || control::parallel()
            || self.futile != 0
            || self.is_fair
            || self.holds_back()
            || self.run_kind != RunKind::Counted
            || !self.enabled.contains(me)
        {
            return None;
        }
        let points = OUTSIDE_POLL_INTERVAL - 1 - self.results().points % OUTSIDE_POLL_INTERVAL;
        let time = self.next_deadline().map_or(u64::MAX, |deadline| self.clock.points_before(deadline));
        let most = points.min(time).min(self.accesses_before_delay());
        if self.enabled.len() == 1 {
            return Some((most, false));
        }
        let (steps, logged) = (self.results().steps, self.results().log_len);
        let room = (self.settings().log_capacity - logged).min(self.settings().run.max_steps - steps);
        // SAFETY: written in `start`.
        match unsafe { self.decider.assume_init_mut() } {
            Decider::Explore(guard) => Some((guard.lease(me, steps, most.min(room)), true)),
            Decider::Replay(_) | Decider::ParallelReplay(_) => None,
        }
    }

    /// Enters the accesses that the current thread has made on a lease; counted as steps if there is a hash.
    pub fn account_lease(&mut self, accesses: u64, hash: Option<u64>) {
        let me = self.current;
        self.pass_delay_points(accesses);
        self.clock.pass(accesses);
        let shared = self.alive > 1;
        let results = self.results();
        results.points += accesses;
        results.shared_points += if shared { accesses } else { 0 };
        if let Some(hash) = hash {
            results.steps += accesses;
            results.log_len += accesses;
            results.hash = hash;
            // SAFETY: written in `start`.
            if let Decider::Explore(guard) = unsafe { self.decider.assume_init_mut() } {
                guard.pass(accesses);
            }
        }
        let thread = &mut self.threads[me.index()];
        thread.since_futile = thread.since_futile.saturating_add(ACCESS * accesses as u32);
        self.progressed();
    }

    #[cold]
    pub(super) fn limit_reached(&mut self) {
        failure::stop(self, Outcome::StepLimit);
    }
}
