//! How often something happens: intervals for the share of runs that fail.
//!
//! Wilson's interval (JASA 1927) is what tables show: it is never empty, also when nothing failed, and its
//! confidence is right on average. Clopper and Pearson's (Biometrika 1934) is never below its confidence and
//! is what a claim should rest on.

use super::{normal, Interval};

/// Wilson's score interval for `hits` of `trials`.
pub fn wilson(hits: u64, trials: u64, confidence: f64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (n, p) = (trials as f64, hits as f64 / trials as f64);
    let z = normal::quantile(0.5 + confidence / 2.0);
    let weight = z * z / n;
    let middle = (p + weight / 2.0) / (1.0 + weight);
    let half = z / (1.0 + weight) * (p * (1.0 - p) / n + weight / (4.0 * n)).sqrt();
    // At the ends the formula is exact, but rounding is not.
    Interval {
        low: if hits == 0 { 0.0 } else { (middle - half).max(0.0) },
        high: if hits == trials { 1.0 } else { (middle + half).min(1.0) },
    }
}

/// Clopper and Pearson's exact interval for `hits` of `trials`.
pub fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> Interval {
    if trials == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let tail = (1.0 - confidence) / 2.0;
    let (x, n) = (hits as f64, trials as f64);
    Interval {
        low: if hits == 0 { 0.0 } else { beta_quantile(tail, x, n - x + 1.0) },
        high: if hits == trials { 1.0 } else { beta_quantile(1.0 - tail, x + 1.0, n - x) },
    }
}

/// The probability of at least `hits` in `trials` of probability `p`.
pub fn at_least(hits: u64, trials: u64, p: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials {
        return 0.0;
    }
    beta_cdf(p, hits as f64, (trials - hits + 1) as f64)
}

fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if beta_cdf(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8),
/// evaluated with Lentz's method.
fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let change = c * d;
        fraction *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front * fraction).min(1.0)
}

/// The logarithm of the gamma function for positive numbers: Stirling's series, moved up until it is exact.
fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 0.0;
    while x < 15.0 {
        product += x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;

    fn near(interval: Interval, low: f64, high: f64) {
        let close = (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5;
        assert!(close, "{interval:?} is not [{low}, {high}]");
    }

    #[test]
    fn wilson_against_published_values() {
        // Newcombe, Statistics in Medicine 1998, table I, method 3.
        near(wilson(81, 263, 0.95), 0.2553, 0.3662);
        near(wilson(15, 148, 0.95), 0.0624, 0.1605);
        near(wilson(0, 20, 0.95), 0.0, 0.1611);
        near(wilson(1, 29, 0.95), 0.0061, 0.1718);
        near(wilson(29, 29, 0.95), 0.8830, 1.0);
    }

    #[test]
    fn clopper_pearson_against_published_values() {
        // The same table, method 5.
        near(clopper_pearson(81, 263, 0.95), 0.2527, 0.3676);
        near(clopper_pearson(15, 148, 0.95), 0.0578, 0.1617);
        near(clopper_pearson(0, 20, 0.95), 0.0, 0.1684);
        near(clopper_pearson(1, 29, 0.95), 0.0009, 0.1776);
        near(clopper_pearson(29, 29, 0.95), 0.8806, 1.0);
    }

    #[test]
    fn ends_and_nothing() {
        for of in [wilson, clopper_pearson] {
            assert_eq!(of(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
            assert_eq!((of(0, 1_000_000, 0.95).low, of(7, 7, 0.95).high), (0.0, 1.0));
        }
        // The rule of three.
        assert!((clopper_pearson(0, 1000, 0.90).high - 3.0 / 1000.0).abs() < 1e-4);
        // Many runs are no problem.
        near(clopper_pearson(500_000, 1_000_000, 0.95), 0.49902, 0.50098);
    }

    #[test]
    fn the_tail_of_a_binomial() {
        // Ten coins: 386 of 1,024 ways have at least six heads.
        assert!((at_least(6, 10, 0.5) - 386.0 / 1024.0).abs() < 1e-12);
        assert_eq!((at_least(0, 5, 0.1), at_least(6, 5, 0.1)), (1.0, 0.0));
    }

    #[test]
    fn the_exact_interval_keeps_its_confidence() {
        // 2,000 samples of 50 runs each: the interval must contain the truth in at least 95% of them, less
        // 3.1 standard deviations of the count.
        let mut rng = Rng::new(11);
        for p in [0.01, 0.2, 0.5] {
            let held = (0..2000).filter(|_| {
                let hits = (0..50).filter(|_| rng.chance(p)).count() as u64;
                clopper_pearson(hits, 50, 0.95).contains(p)
            });
            let held = held.count() as f64;
            assert!(held >= 2000.0 * 0.95 - 3.1 * (2000.0_f64 * 0.95 * 0.05).sqrt(), "{p}: {held}");
        }
    }
}
