//! Which depth to look for (section V.B of the stride paper): how improbable a bug of one run may be when one of the
//! planned runs is to find it with the wanted confidence. [`raddle_core::policies::depth`] has the other half.

use raddle_core::policies::depth::Rule;

/// Fills in what the wanted confidence means for a number of planned runs.
pub fn resolve(rule: Rule, values: &mut [f64], runs: u64) {
    if values[rule.depth] != 0.0 || values[rule.tries] != 0.0 {
        return;
    }
    if values[rule.runs] == 0.0 {
        values[rule.runs] = runs as f64;
    }
    values[rule.tries] = 1.0 / needed(values[rule.confidence], values[rule.runs]);
}

/// The probability per run with which at least one run succeeds with this confidence.
pub fn needed(confidence: f64, runs: f64) -> f64 {
    -f64::exp_m1(f64::ln_1p(-confidence) / runs.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_confidence() {
        // 95% in 9,990 runs: 1 − 0.05^(1/9990).
        assert!((needed(0.95, 9990.0) - 2.998_3e-4).abs() < 1e-7);
        assert_eq!(needed(0.95, 1.0), 0.95);
        // The number that the tests of the depth rule start from.
        assert!((1.0 / needed(0.95, 10_000.0) - 3_338.0).abs() < 1.0);
    }
}
