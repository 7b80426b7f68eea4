//! What the stride paper derives, computed exactly: figure 4, how likely a thread runs to its end before another one
//! starts, by the ratio of its length to the longest stride; and Proposition 1, that the share of secondary orders which
//! the random walk covers falls with the square root of the number of events.

use raddle_engine::statistics::stride_equation;

use super::{Experiment, Shown, ALONE};
use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::error::Error;
use raddle_report::words::number;

/// The ratios of figure 4.
const RATIOS: [f64; 11] = [1.0, 2.0, 3.0, 3.4, 4.0, 5.0, 6.0, 6.6, 7.0, 8.0, 10.0];

/// The longest stride of the exact column: the paper takes its length to be large.
const LONGEST_STRIDE: usize = 1000;

/// The lengths of the shorter thread in Proposition 1.
const LENGTHS: [usize; 7] = [25, 50, 100, 200, 400, 800, 1600];

/// How much longer the other thread is.
const TIMES: [usize; 2] = [1, 4];

/// The least probabilities that make an order coverable.
const LEAST: [f64; 2] = [0.01, 0.0001];

pub const FIGURE_4: Experiment = Experiment {
    name: "stride-4",
    title: "Randomized stride, figure 4: the probability that a thread runs to its end before another one starts",
    remarks: &[
        "computed, not measured. The paper draws the second column: about 10⁻¹ at a ratio of 2 and 10⁻⁵ at 10",
        "the printed sum adds 0.5^i for every number of strides that is enough, not only for the first such number, which \
         doubles it; the third column counts the first one only",
        "the last column is a thread of 1,000 steps for each unit of the ratio, with strides from 1 to 1,000: the integral \
         is its limit",
    ],
    alone: Some(figure_4),
    ..ALONE
};

pub const PROPOSITION_1: Experiment = Experiment {
    name: "stride-proposition-1",
    title: "Randomized stride, Proposition 1: the share of secondary orders that the random walk covers",
    remarks: &[
        "computed, not measured: for each pair of events of two threads, the exact probability of its less likely order; \
         coverable means at least p",
        "the proposition: the share is at most in proportion to 1/√(l_A + l_B). So its product with the root, in brackets, \
         must not grow without bound",
    ],
    alone: Some(proposition_1),
    ..ALONE
};

fn figure_4(_: &arguments::Compare, _: &Setup) -> Result<Shown, Error> {
    let header = ["l / s_max", "Equation (5) as printed", "corrected", "exact, s_max = 1,000"].map(str::to_string);
    let rows = RATIOS.iter().map(|&ratio| {
        let length = (ratio * LONGEST_STRIDE as f64).round() as usize;
        let values = [
            stride_equation::probability(ratio, false),
            stride_equation::probability(ratio, true),
            runs_through(length, LONGEST_STRIDE),
        ];
        std::iter::once(format!("{ratio}")).chain(values.map(|value| format!("{value:.2e}"))).collect()
    });
    Ok(shown(&FIGURE_4, std::iter::once(header.to_vec()).chain(rows).collect()))
}

fn proposition_1(_: &arguments::Compare, _: &Setup) -> Result<Shown, Error> {
    let shares = || TIMES.iter().flat_map(|&times| LEAST.iter().map(move |&least| (times, least)));
    let header = shares().map(|(times, least)| format!("l_B = {times}·l_A, p = {least}"));
    let mut rows = vec![std::iter::once("l_A".to_string()).chain(header).collect()];
    for length in LENGTHS {
        let cells = shares().map(|(times, least)| {
            let (share, events) = (coverable(length, times * length, least), (1 + times) * length);
            format!("{:.1}% ({:.2})", 100.0 * share, share * (events as f64).sqrt())
        });
        rows.push(std::iter::once(number(length as u64)).chain(cells).collect());
    }
    Ok(shown(&PROPOSITION_1, rows))
}

fn shown(experiment: &Experiment, rows: Vec<Vec<String>>) -> Shown {
    let remarks = experiment.remarks.iter().map(|remark| remark.to_string()).collect();
    Shown { title: experiment.title, rows, remarks }
}

/// How likely a thread takes all its steps before another one takes any: it is drawn by a coin each time, and goes on for
/// a stride of one of `1..=longest` steps.
fn runs_through(length: usize, longest: usize) -> f64 {
    // through[l]: the probability for l steps that are left; the sum slides over the strides.
    let mut through = vec![1.0];
    let mut sum = 0.0;
    for left in 1..=length {
        sum += through[left - 1];
        if left > longest {
            sum -= through[left - 1 - longest];
        }
        // Strides beyond the end are enough as well.
        let enough = longest.saturating_sub(left) as f64;
        through.push(0.5 * (sum + enough) / longest as f64);
    }
    through[length]
}

/// The share of secondary orders of two threads that the random walk shows with at least this probability. With a and b
/// steps left, either thread is as likely to take the next one.
fn coverable(first: usize, second: usize, least: f64) -> f64 {
    // row[b]: the probability that the second thread's b steps are over before the first one's a are.
    let mut row = vec![0.0f64; second + 1];
    let mut covered = 0u64;
    for _ in 1..=first {
        row[0] = 1.0;
        for b in 1..=second {
            row[b] = (row[b] + row[b - 1]) / 2.0;
            covered += u64::from(row[b].min(1.0 - row[b]) >= least);
        }
    }
    covered as f64 / (first * second) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_engine::statistics::proportion;

    #[test]
    fn strides_of_one_are_coins_and_long_ones_approach_the_integral() {
        assert_eq!(runs_through(5, 1), 0.5f64.powi(5));
        // Strides of 1 or 2 and two steps: the long one at once, or two short ones.
        assert_eq!(runs_through(2, 2), 0.5 * (0.5 + 0.5 * 0.5));
        for ratio in [1.0, 3.4, 6.6] {
            let exact = runs_through((ratio * 20_000.0) as usize, 20_000);
            let limit = stride_equation::probability(ratio, true);
            assert!((exact / limit - 1.0).abs() < 0.001, "{ratio}: {exact} and {limit}");
        }
    }

    #[test]
    fn the_program_counts_what_heads_say() {
        // P(b before a) is that of at least b heads among a+b−1 tosses.
        let (first, second, least) = (12, 30, 0.01);
        let exact = |a: u64, b: u64| proportion::at_least(b, a + b - 1, 0.5);
        let pairs = (1..=first).flat_map(|a| (1..=second).map(move |b| (a, b)));
        let covered = pairs.filter(|&(a, b)| exact(a, b).min(1.0 - exact(a, b)) >= least).count();
        assert_eq!(coverable(first as usize, second as usize, least), covered as f64 / (first * second) as f64);
    }

    #[test]
    fn the_share_falls_with_the_root_of_the_events() {
        for (times, least) in [(1, 0.01), (4, 0.01), (1, 0.0001)] {
            let scaled =
                |length: usize| coverable(length, times * length, least) * ((1 + times) as f64 * length as f64).sqrt();
            let (before, after) = (scaled(800), scaled(1600));
            assert!((after / before - 1.0).abs() < 0.05, "{times}, {least}: {before} and {after}");
        }
    }
}
