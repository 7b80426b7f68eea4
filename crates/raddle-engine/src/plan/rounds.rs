//! Rounds of runs, which end at fixed numbers: 10, 74, 138, …, 1034, 2068, ….
//!
//! The same seed must give the same results whatever the number of jobs is. So a run may depend only on the seed, its
//! number and completed rounds.

/// After these runs of the first round a look at those that are over tells the others how large runs are, and nothing
/// else: a policy that draws points among the steps of a run should not have to guess their number ten times.
pub const LOOKS: [u64; 2] = [1, 4];
/// The last run of the first round.
pub const FIRST_ROUND: u64 = 10;
/// Runs of every other round, up to a thousand runs.
const ROUND: u64 = 64;
/// From here on rounds grow: each is as long as all that was before it.
pub const THOUSAND: u64 = FIRST_ROUND + 16 * ROUND;

/// The last run of the round that a run belongs to. A campaign that makes hundreds of thousands of runs a second cannot
/// wait for its jobs every 64 runs.
pub fn round_end(run: u64) -> u64 {
    if run <= THOUSAND {
        return FIRST_ROUND + run.saturating_sub(FIRST_ROUND).div_ceil(ROUND).saturating_mul(ROUND);
    }
    let mut end = THOUSAND;
    while end < run {
        end = end.saturating_mul(2);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_at_fixed_numbers() {
        let ends: Vec<_> = [1, 10, 11, 74, 75, 138, 139, 1034, 1035, 2068, 2069].into_iter().map(round_end).collect();
        assert_eq!(ends, [10, 10, 74, 74, 138, 138, 202, 1034, 2068, 2068, 4136]);
    }
}
