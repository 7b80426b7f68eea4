//! Ordered pairs of events: which of all orders of two steps of different threads runs have shown (PCT section
//! 5.3.3 and figure 11).
//!
//! An event is a thread and how many points it has passed since the second thread was created, whether there was
//! anything to decide at them or not. For two threads and each step of the second one it is enough to know how many
//! steps the first one had taken before it, at most, over all runs: all of those have been seen before it, and no
//! others. That is one number for each step and thread, and no table of pairs.

/// The most numbers that are kept: 64 MiB of them.
const MOST: u64 = 1 << 24;

/// The orders that runs have shown.
#[derive(Clone, Debug, Default)]
pub struct EventPairs {
    /// `before[u][j][t]`: the most steps that `t` had taken before step `j` of `u`.
    before: Vec<Vec<Vec<u32>>>,
    covered: u64,
    cells: u64,
    /// What was covered after each run.
    curve: Vec<u64>,
    /// Runs that would have needed too much room.
    too_large: u64,
}

impl EventPairs {
    /// Counts a run, given by the thread of each of its steps.
    pub fn add(&mut self, schedule: impl Iterator<Item = usize> + Clone) {
        let threads = schedule.clone().max().map_or(0, |t| t + 1).max(self.before.len());
        let steps = schedule.clone().count() as u64;
        // Rows are as long as the threads that were there when they were made.
        if self.cells.saturating_add(steps.saturating_mul(threads as u64)) > MOST {
            self.too_large += 1;
            return;
        }
        self.before.resize_with(threads, Vec::new);
        let mut taken = vec![0u32; threads];
        for u in schedule {
            let j = taken[u] as usize;
            let rows = &mut self.before[u];
            if rows.len() <= j {
                rows.push(Vec::new());
            }
            let row = &mut rows[j];
            if row.len() < threads {
                self.cells += (threads - row.len()) as u64;
                row.resize(threads, 0);
            }
            for (t, (most, &now)) in row.iter_mut().zip(&taken).enumerate() {
                if now > *most && t != u {
                    self.covered += u64::from(now - *most);
                    *most = now;
                }
            }
            taken[u] += 1;
        }
        self.curve.push(self.covered);
    }

    /// Orders that some run has shown.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Both orders of all pairs of events that were seen in different threads. Some may be impossible.
    pub fn possible(&self) -> u64 {
        let lengths = self.before.iter().map(|rows| rows.len() as u64);
        let total: u64 = lengths.clone().sum();
        total * total - lengths.map(|length| length * length).sum::<u64>()
    }

    /// Runs that were counted.
    pub fn runs(&self) -> u64 {
        self.curve.len() as u64
    }

    /// Runs that were not, because there was no room for them.
    pub fn too_large(&self) -> u64 {
        self.too_large
    }

    /// What was covered after each run.
    pub fn curve(&self) -> &[u64] {
        &self.curve
    }

    /// What the second half of the runs added.
    pub fn late(&self) -> u64 {
        let half = self.curve.len() / 2;
        self.covered - half.checked_sub(1).map_or(0, |i| self.curve[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;
    use std::collections::BTreeSet;

    fn add(pairs: &mut EventPairs, schedule: &[usize]) {
        pairs.add(schedule.iter().copied());
    }

    #[test]
    fn two_threads_of_two_steps() {
        let mut pairs = EventPairs::default();
        add(&mut pairs, &[0, 0, 1, 1]);
        // Each step of thread 0 before each of thread 1.
        assert_eq!((pairs.covered(), pairs.possible(), pairs.late()), (4, 8, 4));
        add(&mut pairs, &[0, 1, 0, 1]);
        assert_eq!((pairs.covered(), pairs.late()), (5, 1));
        add(&mut pairs, &[1, 1, 0, 0]);
        assert_eq!((pairs.covered(), pairs.possible(), pairs.curve()), (8, 8, &[4, 5, 8][..]));
    }

    #[test]
    fn runs_of_different_lengths() {
        let mut pairs = EventPairs::default();
        add(&mut pairs, &[0, 1]);
        add(&mut pairs, &[1, 0, 2, 0]);
        // Orders: 0.1<1.1, 1.1<0.1, 1.1<2.1, 1.1<0.2, 0.1<2.1, 2.1<0.2.
        assert_eq!(pairs.covered(), 6);
        // Lengths 2, 1 and 1: 2 · (2·1 + 2·1 + 1·1).
        assert_eq!(pairs.possible(), 10);
    }

    #[test]
    fn agrees_with_a_table_of_all_pairs() {
        let mut rng = Rng::new(3);
        for _ in 0..50 {
            let mut pairs = EventPairs::default();
            let mut table = BTreeSet::new();
            let mut events = BTreeSet::new();
            for _ in 0..20 {
                let schedule: Vec<usize> = (0..rng.below(30)).map(|_| rng.below(5) as usize).collect();
                let mut seen: Vec<(usize, usize)> = Vec::new();
                for &u in &schedule {
                    let event = (u, seen.iter().filter(|(t, _)| *t == u).count());
                    table.extend(seen.iter().filter(|(t, _)| *t != u).map(|&earlier| (earlier, event)));
                    events.insert(event);
                    seen.push(event);
                }
                add(&mut pairs, &schedule);
                assert_eq!(pairs.covered(), table.len() as u64);
            }
            let possible = events.iter().map(|a| events.iter().filter(|b| a.0 != b.0).count()).sum::<usize>();
            assert_eq!(pairs.possible(), possible as u64);
        }
    }

    #[test]
    fn what_has_no_room_is_counted_as_such() {
        let mut pairs = EventPairs::default();
        pairs.add((0..100_000).map(|i| i % 1000));
        assert_eq!((pairs.too_large(), pairs.runs(), pairs.covered()), (1, 0, 0));
    }
}
