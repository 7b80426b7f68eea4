//! Equation 5 of the stride paper, as printed and corrected: which ratio of a thread's length and its longest stride
//! finds a bug with the wanted confidence in the planned runs. [`raddle_core::policies::stride`] says what is wrong with
//! the printed one.

use super::depth_rule;

/// Fills in the ratio that the equation gives, if it is asked for.
pub fn resolve(values: &mut [f64], runs: u64) {
    if values[0] != 0.0 || values[1] != 0.0 {
        return;
    }
    if values[4] == 0.0 {
        // The first ten runs are for the lengths.
        values[4] = runs.saturating_sub(10).max(1) as f64;
    }
    let needed = depth_rule::needed(values[3], values[4]).powf(1.0 / values[2]);
    values[0] = ratio(needed, values[5] != 0.0);
}

/// Parts of a unit in which the equation is solved.
const GRID: usize = 2_000;

/// The ratio of a thread's length and its longest stride at which the thread runs to its end before another one
/// starts with this probability.
pub fn ratio(probability: f64, corrected: bool) -> f64 {
    let printed = if corrected { 2.0 * probability } else { probability };
    let beyond = printed_probabilities().take_while(|p| *p > printed).count();
    beyond as f64 / GRID as f64
}

/// The probability for a ratio, as printed or corrected.
pub fn probability(ratio: f64, corrected: bool) -> f64 {
    let printed = printed_probabilities().nth((ratio * GRID as f64).round() as usize).unwrap_or(0.0);
    if corrected {
        printed / 2.0
    } else {
        printed
    }
}

/// P at 0, 1/GRID, 2/GRID, …. The first stride leaves a ratio that is smaller by a number between 0 and 1, so
/// P(x) is half of the mean of P over the unit before x; where that unit lies below 0 the way is over, by the
/// first stride or by any later one, which counts twice. Integrated by the trapezium rule.
fn printed_probabilities() -> impl Iterator<Item = f64> {
    let step = 1.0 / GRID as f64;
    // P so far, and its sums.
    let (mut values, mut sums) = (vec![1.0], vec![1.0]);
    (0..100 * GRID).map(move |i| {
        if i > 0 {
            let from = i.saturating_sub(GRID);
            let below = 2.0 * (1.0 - i as f64 * step).max(0.0);
            let above = sums[i - 1] - sums[from] + 0.5 * values[from];
            // The new value stands on both sides.
            let value = 0.5 * (below + step * above) / (1.0 - 0.25 * step);
            sums.push(sums[i - 1] + value);
            values.push(value);
        }
        values[i]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_equation_gives_the_papers_ratios() {
        let needed = depth_rule::needed(0.95, 9_990.0);
        let round = |x: f64| (x * 100.0).round() / 100.0;
        // The paper rounds the first two down.
        assert_eq!(round(ratio(needed, false)), 6.68);
        assert_eq!(round(ratio(needed.sqrt(), false)), 3.45);
        assert_eq!(round(ratio(needed, true)), 6.13);
        assert_eq!(round(ratio(needed.sqrt(), true)), 2.90);
        let mut values = [0.0, 0.0, 1.0, 0.95, 0.0, 0.0];
        resolve(&mut values, 10_000);
        assert_eq!((round(values[0]), values[4]), (6.68, 9_990.0));
    }

    #[test]
    fn the_tests_of_the_policy_know_these_numbers() {
        assert!((probability(3.4, true) - 0.009_226_020_4).abs() < 1e-10);
        assert!((probability(3.4, false) - 0.018_452_040_8).abs() < 1e-10);
    }
}
