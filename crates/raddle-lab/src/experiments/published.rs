//! Numbers that the papers print. What is only drawn in a figure is not here.

pub struct Published {
    /// The row, as headers name it; empty: the policy's number over all rows.
    pub row: &'static str,
    /// The policy, up to `=depth` when that follows.
    pub policy: &'static str,
    /// The number, or another word.
    pub value: &'static str,
}

const fn one(row: &'static str, policy: &'static str, value: &'static str) -> Published {
    Published { row, policy, value }
}

/// NeedlePoint, table 2: whether the bug is triggered in 1,000 runs.
pub const NEEDLEPOINT_TABLE_2: &[Published] = &[
    one("needlepoint:Memc", "random-sleep", "yes"),
    one("needlepoint:Memc", "preempt-always", "yes"),
    one("needlepoint:Memc", "preempt-bound", "yes"),
    one("needlepoint:Memc", super::needlepoint::ATOMFUZZER, "yes"),
    one("needlepoint:Memc", "pct:d", "yes"),
    one("needlepoint:Pbzip2", "random-sleep", "no"),
    one("needlepoint:Pbzip2", "preempt-always", "no"),
    one("needlepoint:Pbzip2", "preempt-bound", "no"),
    one("needlepoint:Pbzip2", super::needlepoint::ATOMFUZZER, "no"),
    one("needlepoint:Pbzip2", "pct:d", "yes"),
    one("needlepoint:NSPR", "random-sleep", "no"),
    one("needlepoint:NSPR", "preempt-always", "no"),
    one("needlepoint:NSPR", "preempt-bound", "yes"),
    one("needlepoint:NSPR", super::needlepoint::ATOMFUZZER, "no"),
    one("needlepoint:NSPR", "pct:d", "yes"),
    one("needlepoint:WSQ-1", "random-sleep", "no"),
    one("needlepoint:WSQ-1", "preempt-always", "yes"),
    one("needlepoint:WSQ-1", "preempt-bound", "no"),
    one("needlepoint:WSQ-1", super::needlepoint::ATOMFUZZER, "yes"),
    one("needlepoint:WSQ-1", "pct:d", "yes"),
    one("needlepoint:WSQ-2", "random-sleep", "yes"),
    one("needlepoint:WSQ-2", "preempt-always", "yes"),
    one("needlepoint:WSQ-2", "preempt-bound", "no"),
    one("needlepoint:WSQ-2", super::needlepoint::ATOMFUZZER, "yes"),
    one("needlepoint:WSQ-2", "pct:d", "yes"),
    one("needlepoint:WSQ-3", "random-sleep", "no"),
    one("needlepoint:WSQ-3", "preempt-always", "no"),
    one("needlepoint:WSQ-3", "preempt-bound", "yes"),
    one("needlepoint:WSQ-3", super::needlepoint::ATOMFUZZER, "yes"),
    one("needlepoint:WSQ-3", "pct:d", "yes"),
    one("needlepoint:Trans", "random-sleep", "no"),
    one("needlepoint:Trans", "preempt-always", "yes"),
    one("needlepoint:Trans", "preempt-bound", "yes"),
    one("needlepoint:Trans", super::needlepoint::ATOMFUZZER, "yes"),
    one("needlepoint:Trans", "pct:d", "yes"),
    one("needlepoint:Memc-am", "random-sleep", "no"),
    one("needlepoint:Memc-am", "preempt-always", "no"),
    one("needlepoint:Memc-am", "preempt-bound", "yes"),
    one("needlepoint:Memc-am", super::needlepoint::ATOMFUZZER, "no"),
    one("needlepoint:Memc-am", "pct:d", "yes"),
];

/// PCT, table 3: the share of runs that find the bug. The last column is the guarantee for the paper's n, k and d.
pub const PCT_TABLE_3: &[Published] = &[
    one("pct:Splash-FFT", "stress", "0.06"),
    one("pct:Splash-FFT", super::pct::RANDOM_SLEEP, "0.27"),
    one("pct:Splash-FFT", "pct:d", "0.50"),
    one("pct:Splash-FFT", "guarantee", "0.5"),
    one("pct:Splash-LU", "stress", "0.07"),
    one("pct:Splash-LU", super::pct::RANDOM_SLEEP, "0.39"),
    one("pct:Splash-LU", "pct:d", "0.50"),
    one("pct:Splash-LU", "guarantee", "0.5"),
    one("pct:Splash-Barnes", "stress", "0.0074"),
    one("pct:Splash-Barnes", super::pct::RANDOM_SLEEP, "0.0101"),
    one("pct:Splash-Barnes", "pct:d", "0.4916"),
    one("pct:Splash-Barnes", "guarantee", "0.5"),
    one("pct:Pbzip2", "stress", "0"),
    one("pct:Pbzip2", super::pct::RANDOM_SLEEP, "0"),
    one("pct:Pbzip2", "pct:d", "0.701"),
    one("pct:Pbzip2", "guarantee", "0.0001"),
    one("pct:Work Steal Queue", "stress", "0"),
    one("pct:Work Steal Queue", super::pct::RANDOM_SLEEP, "0.001"),
    one("pct:Work Steal Queue", "pct:d", "0.002"),
    one("pct:Work Steal Queue", "guarantee", "0.0003"),
    one("pct:Dryad", "stress", "0"),
    one("pct:Dryad", super::pct::RANDOM_SLEEP, "0"),
    one("pct:Dryad", "pct:d", "0.164"),
    one("pct:Dryad", "guarantee", "2e-5"),
];

/// Stride, figure 7 and section VI: bugs of 41 that are missed in 10,000 runs, where the text says how many.
pub const STRIDE_FIGURE_7: &[Published] = &[
    one("", super::stride::STRIDE_3_4, "2 of 41"),
    one("", super::stride::STRIDE_6_6, "2 of 41"),
    one("", "random", "6 of 41"),
    one("", "idb", "7 of 41"),
];
