//! Preemption bounding with random preemptions (NeedlePoint section 3.2).
//!
//! One thread runs until it blocks or a preemption point comes: their number and steps are drawn before the run
//! among the k steps. The next thread is drawn uniformly, not taken in turn, which the paper found to be better.
//!
//! Deviations: the paper says "using a distribution" and does not name it; there are three. k is learned, as for
//! [`super::pct`]. The points of a run are different ones. A point at the step that made a second thread enabled, where
//! no thread could be preempted, counts for the next step.

use super::change_points;
use super::preempt_always::another;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// The most preemptions.
const MOST: usize = 64;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    PreemptBound,
    name: "preempt-bound",
    summary: "a thread runs until it blocks, except for a number of preemptions at random points",
    source: "Nagarakatte et al., PLDI'12, as PB",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("n", 2.0, 0.0, MOST as f64, "the number of preemptions"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which they are drawn; 0: learned from earlier runs"),
        Parameter::choice("points", 0, &["uniform", "early", "late"], "where they are likely: anywhere, or the earlier or the later of two draws"),
    ]
);

/// The policy's state.
pub struct PreemptBound {
    rng: Rng,
    preemptions: usize,
    at: [u64; MOST],
    /// Steps below this one have passed.
    passed: u64,
}

impl Default for PreemptBound {
    fn default() -> Self {
        PreemptBound { rng: Rng::new(0), preemptions: 0, at: [0; MOST], passed: 0 }
    }
}

impl PreemptBound {
    fn draw(&mut self, k: u64, how: f64) -> u64 {
        let (one, other) = (self.rng.below(k), self.rng.below(k));
        match how as u32 {
            0 => one,
            1 => one.min(other),
            _ => one.max(other),
        }
    }
}

impl Policy for PreemptBound {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.passed = 0;
        let k = change_points::steps(run.parameters[1], run.profile.steps);
        self.preemptions = (run.parameters[0] as usize).min(MOST).min(k as usize);
        for i in 0..self.preemptions {
            self.at[i] = self.draw(k, run.parameters[2]);
            while self.at[..i].contains(&self.at[i]) {
                self.at[i] = self.draw(k, run.parameters[2]);
            }
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let now = self.passed..=point.step;
        self.passed = point.step + 1;
        if point.goes_on() && !self.at[..self.preemptions].iter().any(|at| now.contains(at)) {
            return point.current;
        }
        another(point, &mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn so_many_preemptions_and_no_more() {
        let program = toy::Program::straight(&[10, 10, 10]);
        let mut most = 0;
        for seed in 0..2_000 {
            let s = toy::run(&mut PreemptBound::default(), &program, seed, &[2.0, 30.0, 0.0]).schedule;
            let left = |i: usize| s[i + 1..].contains(&s[i]);
            let preemptions = (0..s.len() - 1).filter(|&i| s[i] != s[i + 1] && left(i)).count();
            // The toy's first point counts as main's, so that a preemption may come before the first step.
            assert!(preemptions <= 2, "{s:?}");
            most = most.max(preemptions);
        }
        assert_eq!(most, 2);
    }

    #[test]
    fn points_are_different_ones() {
        let program = toy::Program::straight(&[1, 1]);
        for (seed, how) in (0..200).flat_map(|seed| [(seed, 0.0), (seed, 1.0), (seed, 2.0)]) {
            let mut policy = PreemptBound::default();
            toy::run(&mut policy, &program, seed, &[4.0, 4.0, how]);
            let mut at = policy.at[..4].to_vec();
            at.sort();
            assert_eq!(at, [0, 1, 2, 3]);
            // There are not as many as are wanted.
            toy::run(&mut policy, &program, seed, &[9.0, 2.0, how]);
            assert_eq!(policy.preemptions, 2);
        }
    }

    #[test]
    fn early_and_late_points() {
        let mean = |how: f64| {
            let run = |seed| {
                let mut policy = PreemptBound::default();
                toy::run(&mut policy, &toy::Program::straight(&[1, 1]), seed, &[1.0, 100.0, how]);
                policy.at[0]
            };
            (0..2_000).map(run).sum::<u64>() as f64 / 2_000.0
        };
        // The means of the smaller, of any and of the larger of two uniform draws below 100, each ±4.
        let near = |how, mean_of: f64| (mean(how) - mean_of).abs() < 4.0;
        assert!(near(0.0, 49.5) && near(1.0, 33.0) && near(2.0, 66.0));
    }
}
