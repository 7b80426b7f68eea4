//! The share of the unseen: Good and Turing's estimate (Good, Biometrika 1953).
//!
//! Of N independent runs, f1 had a schedule that no other run had: then about f1/N of the probability lies on
//! schedules that no run has shown. The interval is Esty's (Annals of Statistics 1983) with the variance
//! f1 + 2·f2 − f1²/N over N². Where f1 is small the normal approximation claims too much; there the exact
//! binomial bound for f1 of N is taken when it is wider.

use super::{normal, proportion, Interval};

/// An estimated share of the probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unseen {
    /// The estimate.
    pub share: f64,
    /// Where it may lie.
    pub interval: Interval,
}

/// The share of schedules that `runs` independent runs have not shown, when `once` of them were seen once and
/// `twice` twice. `None` without runs.
pub fn unseen(runs: u64, once: u64, twice: u64, confidence: f64) -> Option<Unseen> {
    if runs == 0 {
        return None;
    }
    let (n, f1, f2) = (runs as f64, once as f64, twice as f64);
    let share = f1 / n;
    let z = normal::quantile(0.5 + confidence / 2.0);
    let half = z * (f1 + 2.0 * f2 - f1 * share).max(0.0).sqrt() / n;
    let exact = proportion::clopper_pearson(once.min(runs), runs, confidence);
    let low = (share - half).max(0.0).min(exact.low);
    let high = (share + half).min(1.0).max(exact.high);
    Some(Unseen { share, interval: Interval { low, high } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;
    use std::collections::HashMap;

    #[test]
    fn the_two_ends() {
        let none = unseen(1000, 0, 0, 0.95).expect("runs");
        assert_eq!((none.share, none.interval.low), (0.0, 0.0));
        assert!((none.interval.high - 3.7e-3).abs() < 1e-4, "{none:?}");
        let all = unseen(50, 50, 0, 0.95).expect("runs");
        assert_eq!((all.share, all.interval.high), (1.0, 1.0));
        assert!((all.interval.low - 0.9289).abs() < 1e-4, "{all:?}");
        assert_eq!(unseen(0, 0, 0, 0.95), None);
    }

    /// Draws runs from a distribution over schedules: the estimate, and the truth.
    fn sample(weights: &[f64], runs: u64, rng: &mut Rng) -> (Unseen, f64) {
        let total: f64 = weights.iter().sum();
        let mut counts: HashMap<usize, u64> = HashMap::new();
        for _ in 0..runs {
            let mut left = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * total;
            let drawn = weights.iter().position(|w| {
                left -= w;
                left < 0.0
            });
            *counts.entry(drawn.unwrap_or(weights.len() - 1)).or_default() += 1;
        }
        let seen: f64 = counts.keys().map(|&i| weights[i]).sum();
        let with = |n| counts.values().filter(|&&c| c == n).count() as u64;
        (unseen(runs, with(1), with(2), 0.95).expect("runs"), 1.0 - seen / total)
    }

    #[test]
    fn the_interval_holds_the_truth_about_as_often_as_it_says() {
        let uniform = vec![1.0; 300];
        let zipf: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
        let few: Vec<f64> = vec![0.9, 0.05, 0.02, 0.02, 0.005, 0.004, 0.001];
        for (name, weights) in [("uniform", uniform), ("zipf", zipf), ("few", few)] {
            for runs in [100, 400] {
                let mut rng = Rng::new(runs);
                let held = (0..400).filter(|_| {
                    let (estimate, truth) = sample(&weights, runs, &mut rng);
                    estimate.interval.contains(truth)
                });
                let held = held.count();
                // 95% of 400 is 380; the interval is approximate, and 3.1 standard deviations are 14.
                assert!(held >= 366, "{name}, {runs} runs: {held} of 400");
            }
        }
    }
}
