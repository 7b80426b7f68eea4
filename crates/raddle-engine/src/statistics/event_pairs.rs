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
    /// The fewest steps of each thread in a run.
    shortest: Vec<u32>,
    /// How `before` grew, if that is wanted.
    growth: Option<Vec<Growth>>,
}

/// A run that has shown more steps of one thread before a step of another than any run had before.
#[derive(Clone, Copy, Debug)]
struct Growth {
    run: u32,
    event: Chosen,
    other: u16,
    from: u32,
    to: u32,
}

/// One event: a thread, and the number of its step from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub thread: u16,
    pub step: u32,
}

impl EventPairs {
    /// Remembers when each order was first shown, for [`EventPairs::curve_of`].
    pub fn follow_growth(&mut self) {
        self.growth.get_or_insert_default();
    }

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
        let run = self.curve.len() as u32;
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
                    if let Some(growth) = &mut self.growth {
                        let event = Chosen { thread: u as u16, step: j as u32 };
                        growth.push(Growth { run, event, other: t as u16, from: *most, to: now });
                    }
                    *most = now;
                }
            }
            taken[u] += 1;
        }
        self.curve.push(self.covered);
        if self.shortest.is_empty() {
            self.shortest = taken;
        } else {
            // A thread that is not in all runs has no step that is.
            self.shortest.resize(threads, 0);
            self.shortest.iter_mut().zip(taken).for_each(|(least, steps)| *least = (*least).min(steps));
        }
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

    /// The fewest steps that each thread took in a run: events before that are in all runs.
    pub fn shortest(&self) -> &[u32] {
        &self.shortest
    }

    /// How many orders of two of these events, in different threads, were covered after each run. Empty unless growth
    /// was followed.
    pub fn curve_of(&self, chosen: &[Chosen]) -> Vec<u64> {
        let Some(growth) = &self.growth else { return Vec::new() };
        let mut fresh = vec![0u64; self.curve.len()];
        for grown in growth.iter().filter(|grown| chosen.contains(&grown.event)) {
            let shown = |event: &&Chosen| event.thread == grown.other && (grown.from..grown.to).contains(&event.step);
            fresh[grown.run as usize] += chosen.iter().filter(shown).count() as u64;
        }
        fresh
            .iter()
            .scan(0, |covered, fresh| {
                *covered += fresh;
                Some(*covered)
            })
            .collect()
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
    fn chosen_events_are_counted_apart() {
        let mut rng = Rng::new(5);
        let chosen = [(0, 0), (0, 2), (1, 1), (2, 0), (2, 3)].map(|(thread, step)| Chosen { thread, step });
        let mut pairs = EventPairs::default();
        pairs.follow_growth();
        let mut shown = BTreeSet::new();
        for run in 0..30 {
            let schedule: Vec<usize> = (0..20).map(|_| rng.below(3) as usize).collect();
            let mut seen: Vec<Chosen> = Vec::new();
            for &u in &schedule {
                let step = seen.iter().filter(|event| usize::from(event.thread) == u).count() as u32;
                let event = Chosen { thread: u as u16, step };
                let earlier = seen.iter().filter(|earlier| earlier.thread != event.thread && chosen.contains(earlier));
                if chosen.contains(&event) {
                    shown.extend(earlier.map(|earlier| (earlier.thread, earlier.step, event.thread, event.step)));
                }
                seen.push(event);
            }
            add(&mut pairs, &schedule);
            assert_eq!(pairs.curve_of(&chosen)[run], shown.len() as u64);
            let least = seen.iter().filter(|event| event.thread == 1).count() as u32;
            assert!(pairs.shortest()[1] <= least);
        }
        // Both orders of each pair: threads 0 and 1 have two pairs of events, 0 and 2 four, 1 and 2 two.
        assert_eq!(shown.len(), 2 * (2 + 4 + 2));
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
