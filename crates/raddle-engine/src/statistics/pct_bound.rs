//! What PCT's guarantee adds up to over a campaign.
//!
//! One run of PCT with depth d on a program of n threads and at most k steps finds a given bug of depth d with
//! probability at least 1/(n·k^(d−1)) (Burckhardt et al., ASPLOS'10, theorem 9). So m runs miss it with
//! probability at most (1 − 1/(n·k^(d−1)))^m.
//!
//! A run with depth d also covers each bug of a smaller depth e, at the bound of d, and not better in general.
//! Proof. Take the e−1 change points that the theorem needs for depth e, with their values, as the first e−1 of
//! the d−1; with the right lowest thread they are right with probability 1/(n·k^(e−1)), and then the run takes
//! the schedule of the theorem as long as the other d−e change points do nothing. One that lies on the last
//! counted step of that schedule does nothing, because after it no step is taken with two threads enabled, so
//! that priorities no longer matter. Its number is at most k, so it is drawn with probability 1/k each, which
//! gives 1/(n·k^(e−1)) · 1/k^(d−e). When no step is counted at all, any value does. A better bound does not hold:
//! when one thread must take all of its k−1 steps before the only step of another (depth 1), a run with depth 2
//! fails to keep that order unless its change point lies on the last of these steps or behind it.

//!
//! When the starvation guard is on, it overrides each choice with probability g, whatever PCT draws. Only runs in which
//! it did not step in are counted, and to leave the others out favours short runs: a run that would have found the bug
//! may be one of those. Proof of what holds all the same. PCT alone finds the bug with probability p at least, in at
//! most k steps; then the guard leaves all of them alone with probability (1−g)^k at least, independently of what PCT
//! draws, and the run is the same. So a run is left alone *and* finds the bug with probability p·(1−g)^k at least. Of
//! the runs that are left alone at least that share finds it, because it is divided by a probability, which is at
//! most 1. Runs are independent, so that whichever m of them are left alone, all of them miss it with probability at
//! most (1 − p·(1−g)^k)^m. Not in this is that the guard lowers threads that spin: it holds for bugs that come without
//! that.

use std::collections::BTreeMap;

/// How the depth of a run is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depths {
    /// Always this.
    Fixed(u32),
    /// Each from 1 to this with the same probability.
    Uniform(u32),
    /// 1 with probability 1/2, 2 with 1/4 and so on; this with what is left.
    Geometric(u32),
}

impl Depths {
    /// The largest.
    pub fn most(self) -> u32 {
        match self {
            Depths::Fixed(d) | Depths::Uniform(d) | Depths::Geometric(d) => d,
        }
    }

    /// The probability of a depth.
    fn weight(self, depth: u32) -> f64 {
        match self {
            Depths::Fixed(d) => f64::from(u8::from(depth == d)),
            Depths::Uniform(d) => 1.0 / f64::from(d),
            Depths::Geometric(d) => 0.5f64.powi(depth.min(d - 1) as i32),
        }
    }

    /// The guaranteed probability that one run finds a bug of this depth: any depth that is drawn and that is as
    /// large will do, at its own bound.
    pub fn guarantee(self, threads: u64, steps: u64, depth: u32) -> f64 {
        (depth..=self.most()).map(|drawn| self.weight(drawn) * guarantee(threads, steps, drawn)).sum()
    }
}

/// Runs of PCT to which the theorem applies, grouped by the parameters that they used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trials {
    /// How many, by k and depth.
    groups: BTreeMap<(u64, Depths), u64>,
}

impl Trials {
    /// A run that drew its change points from 1 to `k`, for a depth that was drawn like this.
    pub fn add(&mut self, k: u64, depths: Depths) {
        *self.groups.entry((k, depths)).or_default() += 1;
    }

    /// The largest depth of any run.
    pub fn depth(&self) -> u32 {
        self.groups.keys().map(|(_, depths)| depths.most()).max().unwrap_or(0)
    }

    /// How many runs count for a bug of this depth, in a program that takes at most `steps` steps.
    pub fn count(&self, steps: u64, depth: u32) -> u64 {
        self.of(steps, depth).map(|(_, _, count)| count).sum()
    }

    /// How many runs there are.
    pub fn all(&self) -> u64 {
        self.groups.values().sum()
    }

    fn of(&self, steps: u64, depth: u32) -> impl Iterator<Item = (u64, Depths, u64)> + '_ {
        let groups = self.groups.iter().map(|(&(k, depths), &count)| (k, depths, count));
        groups.filter(move |&(k, depths, _)| k >= steps && depths.most() >= depth)
    }

    /// The largest probability with which all these runs miss a bug of this depth, in a program of at most so
    /// many threads and steps, when a guard overrides each choice with a probability. 1 when no run counts.
    pub fn missed(&self, threads: u64, steps: u64, depth: u32, overrides: f64) -> f64 {
        let found = |k, depths: Depths| depths.guarantee(threads, k, depth) * left_alone(k, overrides);
        self.of(steps, depth).map(|(k, depths, count)| count as f64 * (-found(k, depths)).ln_1p()).sum::<f64>().exp()
    }
}

/// The probability that a guard which overrides each choice with a probability leaves so many steps alone.
pub fn left_alone(steps: u64, overrides: f64) -> f64 {
    (steps as f64 * (-overrides).ln_1p()).exp()
}

/// The guaranteed probability of one run.
pub fn guarantee(threads: u64, steps: u64, depth: u32) -> f64 {
    1.0 / (threads.max(1) as f64 * (steps.max(1) as f64).powi(depth.max(1) as i32 - 1))
}

/// How many runs more, each of which finds a bug with this probability, bring the probability of having missed it
/// from `missed` to at most `target`. `None`: so many that no number holds them.
pub fn runs_until(missed: f64, target: f64, found: f64) -> Option<u64> {
    if missed <= target {
        return Some(0);
    }
    let runs = (target / missed).ln() / (-found).ln_1p();
    // When every run finds it, one is enough.
    let runs = if runs.is_nan() { 1.0 } else { runs.ceil().max(1.0) };
    (runs < 1e18).then_some(runs as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_runs() {
        let mut trials = Trials::default();
        (0..100).for_each(|_| trials.add(16, Depths::Fixed(2)));
        // n = 3, k = 16, d = 2: each run finds it with probability 1/48.
        let expected = (1.0 - 1.0 / 48.0_f64).powi(100);
        assert!((trials.missed(3, 16, 2, 0.0) - expected).abs() < 1e-12);
        // Smaller depths at the bound of the larger one; larger ones not at all.
        assert_eq!(trials.missed(3, 16, 1, 0.0), trials.missed(3, 16, 2, 0.0));
        assert_eq!((trials.missed(3, 16, 3, 0.0), trials.count(16, 3)), (1.0, 0));
        // When k was too small, the theorem says nothing.
        assert_eq!((trials.missed(3, 17, 2, 0.0), trials.count(17, 2), trials.all()), (1.0, 0, 100));
    }

    #[test]
    fn groups_multiply() {
        let mut trials = Trials::default();
        (0..10).for_each(|_| trials.add(100, Depths::Fixed(3)));
        (0..20).for_each(|_| trials.add(20, Depths::Fixed(2)));
        let expected = (1.0 - guarantee(2, 100, 3)).powi(10) * (1.0 - guarantee(2, 20, 2)).powi(20);
        assert!((trials.missed(2, 20, 2, 0.0) - expected).abs() < 1e-12);
        assert!((trials.missed(2, 21, 2, 0.0) - (1.0 - guarantee(2, 100, 3)).powi(10)).abs() < 1e-12);
        assert_eq!(trials.depth(), 3);
    }

    #[test]
    fn depths_that_are_drawn() {
        for depths in [Depths::Fixed(4), Depths::Uniform(4), Depths::Geometric(4)] {
            assert!(((1..=4).map(|d| depths.weight(d)).sum::<f64>() - 1.0).abs() < 1e-12, "{depths:?}");
        }
        // n = 2, k = 10: 1/2, 1/20 and 1/200 with the weights 1/2, 1/4 and 1/4.
        let drawn = Depths::Geometric(3);
        assert!((drawn.guarantee(2, 10, 1) - (0.25 + 0.0125 + 0.00125)).abs() < 1e-12);
        assert!((drawn.guarantee(2, 10, 2) - (0.0125 + 0.00125)).abs() < 1e-12);
        assert_eq!(drawn.guarantee(2, 10, 4), 0.0);
        let mut trials = Trials::default();
        (0..7).for_each(|_| trials.add(10, drawn));
        assert!((trials.missed(2, 10, 2, 0.0) - (1.0 - 0.01375_f64).powi(7)).abs() < 1e-12);
        assert_eq!(Depths::Geometric(1).guarantee(5, 99, 1), 0.2);
    }

    #[test]
    fn how_many_more() {
        // 3/p runs make 5%, nearly.
        let found = guarantee(3, 16, 2);
        assert_eq!(runs_until(1.0, 0.05, found), Some(143));
        assert_eq!(runs_until(0.04, 0.05, found), Some(0));
        let half = (1.0 - 1.0 / 48.0_f64).powi(71);
        assert_eq!(runs_until(half, 0.05, found), Some(72));
        assert_eq!(runs_until(1.0, 0.05, guarantee(1, 1, 1)), Some(1));
        assert_eq!(runs_until(1.0, 0.05, guarantee(1000, 1_000_000, 9)), None);
    }

    #[test]
    fn a_guard_leaves_short_runs_alone_more_often() {
        // A bug that only long runs find: half of the runs take 1,000 steps and find it, the others take one step.
        const OVERRIDES: f64 = 0.001;
        let alone = left_alone(1_000, OVERRIDES);
        assert!((alone - 0.999_f64.powi(1_000)).abs() < 1e-12);
        let of_those_left_alone = 0.5 * alone / (0.5 * alone + 0.5 * left_alone(1, OVERRIDES));
        // It is not found in half of the runs that are left alone, but not more rarely than the bound says.
        assert!(of_those_left_alone < 0.3 && of_those_left_alone > 0.5 * alone, "{of_those_left_alone}");
        let mut trials = Trials::default();
        (0..10).for_each(|_| trials.add(1_000, Depths::Fixed(1)));
        assert!((trials.missed(2, 1_000, 1, OVERRIDES) - (1.0 - 0.5 * alone).powi(10)).abs() < 1e-12);
        assert_eq!((left_alone(1_000, 0.0), left_alone(1, 1.0)), (1.0, 0.0));
    }
}
