//! Iterative bounding: what searches have in common that explore one bound after the other.

use core::marker::PhantomData;

use super::fair::Fair;
use super::frontier::Frontier;
use super::lateness::Lateness;
use super::Choice;
use crate::policy::{Explored, Point, Policy, Run};
use crate::thread::ThreadId;

/// What a bound is on.
pub trait Cost {
    /// The thread that takes the next step, as the frontier wants it; asks the frontier for all that costs.
    fn choose(frontier: &mut Frontier, choice: &Choice) -> usize;
}

/// A search under growing bounds. Valid when zeroed.
#[repr(C)]
pub struct Bounded<C> {
    fair: Fair,
    late: Lateness,
    frontier: Frontier,
    cost: PhantomData<C>,
}

impl<C> Bounded<C> {
    /// A policy on the heap, for tests that need no process.
    #[cfg(test)]
    pub(crate) fn boxed() -> Box<Bounded<C>> {
        super::model::zeroed()
    }
}

impl<C: Cost> Policy for Bounded<C> {
    fn start(&mut self, run: &Run<'_>) {
        self.fair.start();
        self.late.start(run.parameters[1]);
        self.frontier.start(run.parameters[0] as u32);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let Some(choice) = Choice::at(point, &mut self.fair, &mut self.frontier.explored) else {
            return point.unpreempted();
        };
        let chosen = C::choose(&mut self.frontier, &choice);
        self.fair.chosen(chosen);
        ThreadId(chosen as u16)
    }

    fn choose_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        self.frontier.choose_waiter(waiters)
    }

    fn pass_time(&mut self, deadlines: u32) -> u32 {
        if !self.late.allows() {
            return 0;
        }
        let chosen = self.frontier.ask(deadlines, 0).map_or(0, |k| k + 1);
        self.late.chosen(chosen);
        chosen
    }

    fn run_discarded(&mut self) {
        self.frontier.run_discarded();
    }

    fn bound(&self) -> Option<u32> {
        Some(self.frontier.bound())
    }

    fn gaps(&self) -> u32 {
        self.frontier.explored.gaps
    }

    fn exhausted(&self) -> Option<Explored> {
        self.frontier.exhausted()
    }
}
