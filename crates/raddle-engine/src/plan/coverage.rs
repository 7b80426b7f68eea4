//! Which runs are sampled for ordered pairs of events: their decisions are wanted.

use super::rounds::{FIRST_ROUND, THOUSAND};

/// The longest log that a sampled run brings along: more would take longer to send than to make.
pub const LONGEST_LOG: u64 = 1 << 16;

/// Which runs are sampled for ordered pairs of events. It depends on the run's number alone, so that the number
/// of jobs does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// The first round, then every eighth run of the first thousand: a run that is sampled is made singly, which
    /// must not slow down a campaign of millions of them.
    #[default]
    Some,
    /// Every so many runs; 0: none.
    Every(u64),
}

impl Coverage {
    /// Whether a run is sampled.
    pub fn samples(self, run: u64) -> bool {
        match self {
            Coverage::Some => run <= FIRST_ROUND || (run <= THOUSAND && (run - FIRST_ROUND).is_multiple_of(8)),
            Coverage::Every(n) => n > 0 && run.is_multiple_of(n),
        }
    }

    /// The last run from `first` to `last` before one that is sampled; `first` itself is not.
    pub fn before_sample(self, first: u64, last: u64) -> u64 {
        let next = match self {
            Coverage::Some if first > THOUSAND => return last,
            Coverage::Every(0) => return last,
            // At most one stretch between two samples is looked at.
            _ => (first..=last).find(|&run| self.samples(run)),
        };
        next.map_or(last, |run| run - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_chosen_by_number() {
        let sampled = |coverage: Coverage, runs: u64| (1..=runs).filter(|&run| coverage.samples(run)).count();
        assert_eq!(sampled(Coverage::Some, 10), 10);
        assert_eq!(sampled(Coverage::Some, 1034), 10 + 128);
        assert_eq!(sampled(Coverage::Some, 100_000), 10 + 128);
        assert_eq!([0, 1, 7].map(|n| sampled(Coverage::Every(n), 70)), [0, 70, 10]);
    }

    #[test]
    fn stretches_end_before_samples() {
        let before = |first, last| Coverage::Some.before_sample(first, last);
        assert_eq!([before(11, 100), before(19, 100), before(19, 22), before(1035, 9999)], [17, 25, 22, 9999]);
        assert_eq!(Coverage::Every(0).before_sample(1, 50), 50);
        assert_eq!(Coverage::Every(100).before_sample(101, 256), 199);
    }
}
