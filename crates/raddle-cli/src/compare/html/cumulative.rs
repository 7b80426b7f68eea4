//! How many programs' bugs a policy has found after so many runs. With several repetitions it is the expected number:
//! the sum over programs of the share of repetitions that have found something by then.

use super::super::Comparison;
use super::svg::{Stairs, StairsChart};

pub fn chart(comparison: &Comparison) -> String {
    if comparison.programs.is_empty() {
        return String::new();
    }
    let lines = comparison.policies.iter().enumerate().map(|(policy, name)| (policy, stairs(comparison, policy, name)));
    let chart = StairsChart {
        id: "cumulative-chart",
        title: format!(
            "Programs in which each policy has found a failure, of {}, against runs",
            comparison.programs.len()
        ),
        across: "runs",
        up: "programs",
        range: (1.0, comparison.runs.max(2) as f64),
        top: comparison.programs.len() as f64,
        lines: lines.collect(),
    };
    format!("<figure>\n{}</figure>\n", chart.draw())
}

/// The number of programs found, as runs go on.
fn stairs(comparison: &Comparison, policy: usize, name: &str) -> Stairs {
    let cells = comparison.programs.iter().filter_map(|program| program.cells.get(policy)).filter(|c| c.measured());
    let mut gains: Vec<(f64, f64)> = Vec::new();
    for cell in cells {
        let mut before = 1.0;
        for step in cell.survival_in_runs().steps {
            gains.push((step.at, before - step.survival));
            before = step.survival;
        }
    }
    gains.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut total = 0.0;
    let points = gains.into_iter().map(|(at, gain)| {
        total += gain;
        (at, total)
    });
    Stairs { name: name.to_string(), start: 0.0, points: points.collect(), end: comparison.runs as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample;

    #[test]
    fn expected_numbers_add_up() {
        let comparison = sample::comparison();
        let last = |policy| stairs(&comparison, policy, "").points.last().map_or(0.0, |p| p.1);
        // Random finds one program in all repetitions, pct one in half and another one in a quarter of them.
        assert!((last(0) - 1.0).abs() < 1e-12 && (last(1) - 0.75).abs() < 1e-12 && (last(2) - 1.0).abs() < 1e-12);
    }
}
