//! Random delays: the sister of [`super::random_sleep`] for one thread at a time.
//!
//! A thread runs until it blocks; before each of its steps it is delayed with a small probability, as by a sleep
//! that is longer than all that the others have to do: then it is the next thread's turn, and the delayed one comes
//! again when its own turn does. So a run has as many delays as it is long, wherever they fall, and nothing about it
//! has to be known before; [`super::delay_bound`] has a fixed number of them.
//!
//! Deviations from NeedlePoint's random sleep (section 3.2), besides that threads do not run in parallel: a sleep ends
//! when its thread's turn comes, not after a time. The probability is the paper's.

use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    RandomDelay,
    name: "random-delay",
    summary: "a thread runs until it blocks, or is delayed, with probability p before each step: round-robin",
    source: "after Nagarakatte et al., PLDI'12, RS",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[
        Parameter::number("p", 1.0 / 30.0, 0.0, 1.0, "the probability of a delay before a step"),
    ]
);

/// The policy's state.
pub struct RandomDelay {
    rng: Rng,
    probability: f64,
}

impl Default for RandomDelay {
    fn default() -> Self {
        RandomDelay { rng: Rng::new(0), probability: 0.0 }
    }
}

impl Policy for RandomDelay {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.probability = run.parameters[0];
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        if self.rng.chance(self.probability) {
            point.next_turn(point.current)
        } else {
            point.unpreempted()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    fn run(seed: u64, p: f64) -> Vec<usize> {
        let program = toy::Program::straight(&[40, 40, 40]);
        toy::run(&mut RandomDelay::default(), &program, seed, &[p]).schedule
    }

    #[test]
    fn never_and_always() {
        let one_by_one: Vec<usize> = (0..120).map(|i| i / 40).collect();
        assert!((0..20).all(|seed| run(seed, 0.0) == one_by_one));
        // Always delayed: they take turns.
        let schedule = run(1, 1.0);
        assert!(schedule.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 3), "{schedule:?}");
    }

    #[test]
    fn delays_are_as_likely_as_it_is_told() {
        // A switch while all three have steps left is a delay. After step 40 a thread may have none.
        let switches = |seed| run(seed, 0.1)[..40].windows(2).filter(|pair| pair[0] != pair[1]).count();
        let total: usize = (0..1_000).map(switches).sum();
        // Binomial with 39,000 draws and mean 3,900, 99.9%: 3.3 standard deviations of 59.
        assert!((3_705..=4_095).contains(&total), "{total}");
    }
}
