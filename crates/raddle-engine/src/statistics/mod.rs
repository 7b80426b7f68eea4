//! What many runs say, and how sure one can be of it: shares with intervals, first failures where some
//! campaigns found nothing, what has not been seen yet, and what PCT's guarantee adds up to.
//!
//! Pure functions of counts. Nothing here knows of a process or a report.

pub mod depth_rule;
pub mod event_pairs;
pub mod good_turing;
pub mod normal;
pub mod pct_bound;
pub mod proportion;
pub mod stride_equation;
pub mod survival;

/// The confidence of every interval that raddle reports.
pub const CONFIDENCE: f64 = 0.95;

/// The bounds of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies within, bounds included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
