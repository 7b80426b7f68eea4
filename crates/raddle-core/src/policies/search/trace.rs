//! The steps of a run in their partial order, and which of them could have come the other way round.
//!
//! Two steps are ordered when one thread takes both, when they depend on each other, or when one makes the other
//! possible. A *race* is a pair of dependent steps of different threads that nothing else orders: there is a
//! schedule in which the later one comes first. Each race asks for one more thread to be tried at the choice before
//! the earlier step: one with which a reversal of the race can start (its initials). These sets are the source sets
//! of Abdulla, Aronis, Jonsson and Sagonas (POPL'14).
//!
//! Deviations:
//! - Races are looked for when a step is taken, against all steps before it; and when the run is over, for operations
//!   that were never possible. So locks and what else blocks need no rules of their own, and what a deadlock keeps
//!   from happening is tried first in another run.
//! - Where it is not sure that a race can be reversed, it is both reversed and looked behind.
//! - A step costs time in proportion to the steps before it.

use super::independence::{dependent, frees_for, waits_to_do};
use super::{each, first, only, Threads, THREADS};
use crate::event::Event;
use crate::policy::Point;

/// Steps that are kept.
pub const STEPS: usize = 1 << 14;

/// The step was taken where there was nothing to choose.
pub const NO_NODE: u32 = u32::MAX;

/// How many steps of each thread come before something.
#[derive(Clone, Copy)]
#[repr(C)]
struct Clock([u16; THREADS]);

impl Clock {
    const ZERO: Clock = Clock([0; THREADS]);

    fn join(&mut self, other: &Clock, threads: usize) {
        for t in 0..threads {
            self.0[t] = self.0[t].max(other.0[t]);
        }
    }

    fn covers(&self, step: &Step) -> bool {
        self.0[usize::from(step.thread)] >= step.number
    }
}

/// A step that was taken. Valid when zeroed.
#[repr(C)]
struct Step {
    event: Event,
    /// The threads that could have taken one instead.
    enabled: Threads,
    /// The choice before it, or [`NO_NODE`].
    node: u32,
    thread: u8,
    /// Which of its thread's steps it is, from 1.
    number: u16,
    clock: Clock,
}

/// Whether a race can be reversed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reversal {
    Done,
    Impossible,
    Unsure,
}

/// What a race asks for: at this choice, one of these threads, best the last one.
pub struct Wanted {
    /// The choice.
    pub node: u32,
    /// Threads with which the reversal can start, or all that there are.
    pub threads: Threads,
    /// Whether all of them are needed.
    pub all: bool,
    /// The thread whose operation is to come first.
    pub thread: usize,
}

/// The steps of a run. Valid when zeroed.
#[repr(C)]
pub struct Trace {
    len: usize,
    /// Steps at the last look.
    looked: usize,
    /// Threads that were seen.
    threads: usize,
    /// Threads that could go on at the last point.
    enabled: Threads,
    /// What has led to each thread's next operation.
    clocks: [Clock; THREADS],
    /// What has made it possible since.
    freed: [Clock; THREADS],
    /// Steps of each thread.
    counts: [u16; THREADS],
    pending: [Event; THREADS],
    steps: [Step; STEPS],
}

impl Trace {
    /// A run starts.
    pub fn start(&mut self) {
        for t in 0..self.threads {
            (self.clocks[t], self.freed[t]) = (Clock::ZERO, Clock::ZERO);
            self.counts[t] = 0;
        }
        (self.len, self.looked, self.threads, self.enabled) = (0, 0, 0, 0);
    }

    /// Whether there is no room for another step.
    pub fn is_full(&self) -> bool {
        self.len == STEPS
    }

    /// The last step is over: sees what the threads do next.
    pub fn look(&mut self, point: &Point<'_>) {
        let enabled = point.enabled.first_64();
        let threads = point.pending.len().min(THREADS);
        let last = self.len.checked_sub(1);
        let ran = last.map_or(usize::MAX, |i| usize::from(self.steps[i].thread));
        for t in 0..threads {
            let changed = t >= self.threads || point.pending[t] != self.pending[t];
            let freed = enabled & !self.enabled & only(t) != 0;
            if let Some(i) = last.filter(|_| t != ran) {
                if changed {
                    // The last step has made it, or woken it.
                    self.clocks[t].join(&self.steps[i].clock, threads);
                } else if freed {
                    self.freed[t].join(&self.steps[i].clock, threads);
                }
            }
            self.pending[t] = point.pending[t];
        }
        (self.threads, self.enabled, self.looked) = (threads, enabled, self.len);
    }

    /// A thread takes a step: its next operation happens.
    pub fn step(&mut self, t: usize, node: u32, want: &mut impl FnMut(Wanted)) {
        self.compare(t, want);
        let event = self.pending[t];
        let mut clock = self.clocks[t];
        clock.join(&core::mem::replace(&mut self.freed[t], Clock::ZERO), self.threads);
        for step in self.steps[..self.len].iter().rev() {
            if !clock.covers(step) && dependent(&step.event, &event) {
                clock.join(&step.clock, self.threads);
            }
        }
        self.counts[t] += 1;
        let number = self.counts[t];
        clock.0[t] = number;
        self.clocks[t] = clock;
        self.steps[self.len] = Step { event, enabled: self.enabled, node, thread: t as u8, number, clock };
        self.len += 1;
    }

    /// The run is over, or what follows is of no interest: what was not possible races too.
    pub fn finish(&mut self, want: &mut impl FnMut(Wanted)) {
        let blocked = (0..self.threads).filter(|&t| self.enabled & only(t) == 0 && waits_to_do(self.pending[t].kind));
        blocked.for_each(|t| self.compare(t, want));
        if self.looked == self.len {
            return;
        }
        // The process ended with the last step. Any thread that could go on would have, so its next step races with
        // that.
        let last = usize::from(self.steps[self.len - 1].thread);
        let others = each(self.enabled).filter(|&t| t != last);
        others.for_each(|t| self.compare(t, want));
    }

    /// The choice before the last step, if there was one.
    pub fn last_node(&self) -> Option<usize> {
        let last = self.len.checked_sub(1)?;
        Some(self.steps[last].node).filter(|&node| node != NO_NODE).map(|node| node as usize)
    }

    /// Looks for steps that race with the next operation of a thread.
    fn compare(&self, t: usize, want: &mut impl FnMut(Wanted)) {
        let mut behind = Clock::ZERO;
        for i in (0..self.len).rev() {
            let step = &self.steps[i];
            let ordered = usize::from(step.thread) == t || self.clocks[t].covers(step) || behind.covers(step);
            if !ordered && dependent(&step.event, &self.pending[t]) && self.race(i, t, want) == Reversal::Done {
                behind.join(&step.clock, self.threads);
            }
        }
    }

    /// Step `i` and the next operation of thread `t` race: asks for the other order, if there is one.
    fn race(&self, i: usize, t: usize, want: &mut impl FnMut(Wanted)) -> Reversal {
        let step = &self.steps[i];
        if step.node == NO_NODE || frees_for(&step.event, &self.pending[t]) {
            return Reversal::Impossible;
        }
        // What does not come after step i, in the order of the run.
        let mut initials = 0;
        let mut seen = 0;
        let mut starts = [0; THREADS];
        let mut before_t = false;
        for later in self.steps[i + 1..self.len].iter().filter(|later| !later.clock.covers(step)) {
            let u = usize::from(later.thread);
            before_t |= dependent(&later.event, &self.pending[t]);
            if seen & only(u) != 0 {
                continue;
            }
            if each(seen).all(|v| later.clock.0[v] < starts[v]) {
                initials |= only(u);
            }
            seen |= only(u);
            starts[u] = later.number;
        }
        let moved = seen & only(t) != 0;
        let led = |v: usize| self.clocks[t].0[v].max(self.freed[t].0[v]);
        let at_once = !moved && !before_t && each(seen).all(|v| led(v) < starts[v]);
        if at_once {
            if step.enabled & only(t) == 0 {
                return Reversal::Impossible;
            }
            initials |= only(t);
        }
        let possible = initials & step.enabled;
        let threads = if possible == 0 { step.enabled } else { possible };
        want(Wanted { node: step.node, threads, all: possible == 0, thread: t });
        if at_once {
            Reversal::Done
        } else {
            Reversal::Unsure
        }
    }
}

impl Wanted {
    /// The thread to try, given the threads that are known, tried, or asleep, which is as good.
    pub fn missing(&self, known: Threads) -> Threads {
        if self.all {
            self.threads & !known
        } else if self.threads & known != 0 {
            0
        } else if self.threads & only(self.thread) != 0 {
            only(self.thread)
        } else {
            only(first(self.threads))
        }
    }
}
