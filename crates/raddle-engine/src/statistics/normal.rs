//! The standard normal distribution.

use std::f64::consts::{PI, SQRT_2};

/// The probability of a value below `x`, exact to about 15 digits.
pub fn cdf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    0.5 * erfc(-x / SQRT_2)
}

/// The value that is not exceeded with probability `p`.
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // Beyond 40 standard deviations the probability is 0 in double precision.
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The complementary error function: its Taylor series near zero, its continued fraction elsewhere
/// (Abramowitz and Stegun, 7.1.6 and 7.1.14).
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    let square = x * x;
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        let mut n = 0.0;
        while term > sum * 1e-17 {
            n += 1.0;
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 / PI.sqrt() * (-square).exp() * sum;
    }
    if x > 27.0 {
        return 0.0;
    }
    let mut tail = x;
    for n in (1..=120).rev() {
        tail = x + f64::from(n) / 2.0 / tail;
    }
    (-square).exp() / PI.sqrt() / tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // From tables of the normal distribution.
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (1.959_963_984_540_054, 0.975),
            (-3.0, 1.349_898_031_630_094_6e-3),
            (-6.0, 9.865_876_450_377e-10),
            (5.0, 0.999_999_713_348_428),
        ] {
            assert!((cdf(x) - p).abs() < 1e-14 + 1e-12 * p, "{x}: {} but {p}", cdf(x));
        }
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((quantile(0.5)).abs() < 1e-12);
        assert!(quantile(1.5).is_nan() && cdf(f64::NAN).is_nan());
    }

    #[test]
    fn the_quantile_is_the_inverse() {
        for p in [1e-9, 1e-4, 0.01, 0.3, 0.5, 0.77, 0.999] {
            assert!((cdf(quantile(p)) - p).abs() < 1e-12, "{p}");
        }
    }
}
