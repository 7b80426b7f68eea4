//! Who of a portfolio keeps finding new schedules.

use std::collections::HashSet;

use raddle_core::policies::portfolio::{self, MEMBERS};

/// What a block weighs against the one after it.
const MEMORY: f64 = 0.5;

/// What the members have found so far.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Runs of each member, the later ones weighing more, and those of them whose schedule was new.
    runs: [f64; MEMBERS.len()],
    new: [f64; MEMBERS.len()],
    seen: HashSet<u64>,
}

impl Shares {
    /// A run of a member had a schedule with this hash.
    pub fn add(&mut self, member: u64, hash: u64) {
        let Some(runs) = self.runs.get_mut(member as usize) else { return };
        *runs += 1.0;
        if self.seen.insert(hash) {
            self.new[member as usize] += 1.0;
        }
    }

    /// A block is complete: what the members are worth in the next one.
    pub fn shift(&mut self) -> Vec<u32> {
        let shares = portfolio::shift(&self.runs, &self.new);
        for number in self.runs.iter_mut().chain(&mut self.new) {
            *number *= MEMORY;
        }
        shares.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_new_is_worth_less() {
        let mut shares = Shares::default();
        for run in 0..1_000 {
            shares.add(0, run);
            shares.add(1, 7);
        }
        // A member that is not there is not counted.
        shares.add(99, 1);
        let shifted = shares.shift();
        assert!(shifted[0] >= 99 && shifted[1] < 26 && shifted[2] > 60, "{shifted:?}");
    }
}
