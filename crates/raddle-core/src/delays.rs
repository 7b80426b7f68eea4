//! Delays: virtual time that passes although threads could run, as on a machine that is busy with something else.
//!
//! A delay makes every thread that could run late: the clock jumps to a deadline that another thread waits for. How much
//! time may pass like this in a run is its [`Lag`]. A lag that were renewed at each step, thread or wait would let
//! time-outs of seconds fire in half of all runs, so it belongs to the whole run.
//!
//! Only a point at which such a deadline is pending can have a delay: a *delay point*. Half of the runs have no delay;
//! the others have one to three, at delay points that are drawn uniformly over as many as earlier runs had. All of it
//! comes from a random stream of its own ([`Draw`]), so that policies draw what they would draw without delays. After half
//! of the delays the late threads stay behind: others go on until none of them can, or until they only wait for a late
//! one. After the other half the policy decides at once whether a late thread overtakes after all.

use crate::rng::Rng;

/// The most delays of a run.
pub const MOST: usize = 3;

/// The most deadlines that a delay chooses among, the earliest ones.
pub const DEADLINES: usize = 8;

/// The random stream of delays, among the purposes of [`Rng::for_purpose`].
const PURPOSE: u64 = 4;

/// While it is not known how many delay points runs have, they are taken to have up to 2 to this power.
const UNKNOWN: u64 = 12;

/// A delay of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Delay {
    /// The schedule point before whose decision it came.
    pub point: u64,
    /// By how much the clock jumped.
    pub nanoseconds: u64,
    /// A thread that was late: the one that was about to go on.
    pub thread: u64,
}

/// How much time may still pass while threads can run. Valid when zeroed: none.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    most: u64,
    left: u64,
}

impl Lag {
    /// The lag of a run, in nanoseconds.
    pub fn new(nanoseconds: u64) -> Lag {
        Lag { most: nanoseconds, left: nanoseconds }
    }

    /// Whether there never is any.
    pub fn is_off(&self) -> bool {
        self.most == 0
    }

    /// The nanoseconds that may pass now.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Time has passed while a thread could run.
    pub fn spend(&mut self, nanoseconds: u64) {
        self.left = self.left.saturating_sub(nanoseconds);
    }

    /// Time has passed while no thread could run: a tenth of it comes back.
    pub fn refill(&mut self, nanoseconds: u64) {
        self.left = self.most.min(self.left.saturating_add(nanoseconds / 10));
    }
}

/// The delays of a run, drawn from its seed. Valid when zeroed: there are none.
#[derive(Clone, Debug)]
pub struct Draw {
    rng: Rng,
    /// The delay points, counted from 1, in ascending order; those before `next` have passed.
    at: [u64; MOST],
    next: usize,
    count: usize,
}

impl Draw {
    /// The delays of the run with this seed. Earlier runs had at most `points` delay points; 0: that is not known.
    pub fn new(seed: u64, points: u64) -> Draw {
        let mut rng = Rng::for_purpose(seed, PURPOSE);
        let mut draw = Draw { at: [0; MOST], next: 0, count: 0, rng: rng.clone() };
        if rng.below(2) == 1 {
            draw.count = 1 + rng.below(MOST as u64) as usize;
            for at in &mut draw.at[..draw.count] {
                let range = if points == 0 { 1 << rng.below(UNKNOWN + 1) } else { points };
                *at = 1 + rng.below(range);
            }
            draw.at[..draw.count].sort_unstable();
        }
        draw.rng = rng;
        draw
    }

    /// The next delay point with a delay, if there is one.
    pub fn next(&self) -> Option<u64> {
        self.at[..self.count].get(self.next).copied()
    }

    /// At delay point number `point`, with at least one deadline to choose from: which of them comes now, if any, and
    /// whether the late threads stay behind.
    pub fn at(&mut self, point: u64, deadlines: usize) -> Option<(usize, bool)> {
        let mut is_here = false;
        // Several that fall on one point are one.
        while self.next().is_some_and(|next| next <= point) {
            self.next += 1;
            is_here = true;
        }
        is_here.then(|| (self.rng.below(deadlines as u64) as usize, self.rng.below(2) == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_runs_have_no_delay_and_the_others_one_to_three() {
        let mut counts = [0; MOST + 1];
        for seed in 0..40_000 {
            counts[Draw::new(seed, 50).count] += 1;
        }
        // Five standard deviations of 40,000 draws.
        assert!((counts[0] as f64 - 20_000.0).abs() < 500.0, "{counts:?}");
        for count in &counts[1..] {
            assert!((*count as f64 - 20_000.0 / 3.0).abs() < 373.0, "{counts:?}");
        }
    }

    #[test]
    fn every_delay_point_is_as_likely_as_any_other() {
        let mut hits = [0u32; 20];
        for seed in 0..60_000 {
            let mut draw = Draw::new(seed, 20);
            for point in 1..=20 {
                if draw.at(point, 3).is_some() {
                    hits[point as usize - 1] += 1;
                }
            }
            assert_eq!(draw.next(), None);
        }
        let mean = f64::from(hits.iter().sum::<u32>()) / 20.0;
        // Chi-squared with 19 degrees of freedom; 43.8 is the 99.9% quantile.
        let chi: f64 = hits.iter().map(|&hit| (f64::from(hit) - mean).powi(2) / mean).sum();
        assert!(chi < 43.8, "{chi}: {hits:?}");
    }

    #[test]
    fn every_deadline_is_chosen() {
        let chosen = |seed| (1..=9).find_map(|point| Draw::new(seed, 9).at(point, 4));
        let seen: Vec<_> = (0..400).filter_map(chosen).collect();
        let all = (0..4).flat_map(|k| [(k, false), (k, true)]);
        assert!(all.clone().all(|it| seen.contains(&it)) && seen.iter().all(|&(k, _)| k < 4), "{seen:?}");
    }

    #[test]
    fn what_was_spent_comes_back_by_a_tenth_and_never_beyond_the_lag() {
        let mut lag = Lag::new(100);
        lag.spend(70);
        assert_eq!(lag.left(), 30);
        lag.refill(200);
        assert_eq!(lag.left(), 50);
        lag.refill(1_000_000);
        assert_eq!(lag.left(), 100);
        assert!(Lag::default().is_off() && !lag.is_off());
    }
}
