//! What the runs of complete rounds have shown, put together for the policies of later runs.
//!
//! All of it counts in the order of run numbers, so that nothing depends on the number of jobs.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::observed::{Knowledge, Observed, Seen};

/// Puts together what runs have shown.
#[derive(Clone, Debug, Default)]
pub struct Learner {
    /// By path: the creator's path, and the most steps.
    threads: BTreeMap<u64, (u64, u32)>,
    /// By path: the most points, whether they were steps or not.
    points: BTreeMap<u64, u32>,
    /// The paths in the order in which they were first seen: creators come first.
    order: Vec<u64>,
    touched: BTreeMap<(u64, u64), (u32, bool)>,
    followed: BTreeSet<(Seen, Seen)>,
    shares: Vec<u32>,
}

impl Learner {
    /// Takes in a run.
    pub fn add(&mut self, observed: &Observed) {
        for (&(path, _, steps), &alone) in observed.threads.iter().zip(&observed.alone) {
            let points = self.points.entry(path).or_default();
            *points = (*points).max(steps.saturating_add(alone));
        }
        for &(path, creator, steps) in &observed.threads {
            let known = self.threads.entry(path).or_insert_with(|| {
                self.order.push(path);
                (creator, 0)
            });
            known.1 = known.1.max(steps);
        }
        for &(object, path, count, changed) in &observed.touched {
            let known = self.touched.entry((object, path)).or_default();
            *known = (known.0.max(count), known.1 | changed);
        }
        self.followed.extend(&observed.followed);
    }

    /// How much of the budget each policy of a portfolio is to have.
    pub fn share(&mut self, shares: Vec<u32>) {
        self.shares = shares;
    }

    /// What is to be told after a few runs. There may have been none yet with preemptions, and without them who comes
    /// last is alone all the time: so points count, whether they are steps or not.
    pub fn knowledge_at_first(&self) -> Knowledge {
        let mut knowledge = self.knowledge();
        for (path, _, steps) in &mut knowledge.threads {
            *steps = self.points.get(path).copied().unwrap_or(*steps);
        }
        knowledge
    }

    /// What is to be told.
    pub fn knowledge(&self) -> Knowledge {
        let places: BTreeMap<u64, u32> = self.order.iter().copied().zip(0..).collect();
        let place = |path: &u64| places.get(path).copied().unwrap_or(0);
        let threads = self.order.iter().map(|path| {
            let (creator, steps) = self.threads[path];
            (*path, place(&creator), steps)
        });
        Knowledge {
            threads: threads.collect(),
            counts: self.shared().map(|(object, path, count)| (object, place(&path), count)).collect(),
            orders: self.untested(),
            shares: self.shares.clone(),
        }
    }

    /// The objects that several threads touch and one changes.
    fn shared(&self) -> impl Iterator<Item = (u64, u64, u32)> + '_ {
        let mut users: BTreeMap<u64, (u32, bool)> = BTreeMap::new();
        for (&(object, _), &(_, changed)) in &self.touched {
            let (threads, written) = users.entry(object).or_default();
            *threads += 1;
            *written |= changed;
        }
        let shared = move |object: &u64| users.get(object).is_some_and(|&(threads, written)| threads > 1 && written);
        self.touched
            .iter()
            .filter(move |((object, _), _)| shared(object))
            .map(|(&(object, path), &(count, _))| (object, path, count))
    }

    /// Orders that were seen one way round only: the other way is untested.
    fn untested(&self) -> Vec<(Seen, Seen)> {
        let reversed = self.followed.iter().map(|&(first, second)| (second, first));
        reversed.filter(|pair| !self.followed.contains(pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::observed::observe;
    use raddle_core::lessons::{path_of_child, Lessons, MAIN_PATH};
    use raddle_core::policy::Learns;
    use raddle_core::{Decision, EventKind, ThreadId};

    fn log(steps: &[(u16, EventKind)]) -> Vec<u32> {
        steps.iter().map(|&(t, kind)| Decision::new(ThreadId(t), kind).0).collect()
    }

    #[test]
    fn threads_are_known_by_their_creation() {
        // Main creates 1 and 3; 1 creates 2.
        let observed = observe(
            &log(&[(0, EventKind::Create), (2, EventKind::Lock), (2, EventKind::Unlock)]),
            &[],
            &[0, 0, 1, 0],
            Learns::Lengths,
        );
        let child = |parent, number| path_of_child(parent, number);
        let (first, second) = (child(MAIN_PATH, 0), child(MAIN_PATH, 1));
        assert_eq!(
            observed.threads,
            [(MAIN_PATH, MAIN_PATH, 1), (first, MAIN_PATH, 0), (child(first, 0), first, 2), (second, MAIN_PATH, 0)]
        );
        let mut learner = Learner::default();
        learner.add(&observed);
        // In another run the second thread of main came before the child of the first, and did more.
        learner.add(&observe(&log(&[(2, EventKind::Lock); 5]), &[], &[0, 0, 0, 1], Learns::Lengths));
        assert_eq!(
            learner.knowledge().threads,
            [(MAIN_PATH, 0, 1), (first, 0, 0), (child(first, 0), 1, 2), (second, 0, 5)]
        );
    }

    #[test]
    fn at_first_it_counts_that_a_thread_was_alone() {
        let mut learner = Learner::default();
        let first =
            Observed { alone: vec![1, 2], ..observe(&log(&[(0, EventKind::Lock)]), &[], &[0, 0], Learns::Lengths) };
        learner.add(&first);
        let child = path_of_child(MAIN_PATH, 0);
        assert_eq!(learner.knowledge_at_first().threads, [(MAIN_PATH, 0, 2), (child, 0, 2)]);
        assert_eq!(learner.knowledge().threads, [(MAIN_PATH, 0, 1), (child, 0, 0)]);
    }

    #[test]
    fn shared_objects_are_those_that_somebody_changes() {
        let steps = [
            (0, EventKind::AtomicLoad, 8),
            (1, EventKind::AtomicLoad, 8),
            (0, EventKind::Lock, 16),
            (0, EventKind::Lock, 24),
            (1, EventKind::Lock, 24),
            (1, EventKind::Lock, 24),
        ];
        let objects: Vec<u64> = steps.iter().map(|s| s.2).collect();
        let log = log(&steps.map(|(t, kind, _)| (t, kind)));
        let mut learner = Learner::default();
        learner.add(&observe(&log, &objects, &[0, 0], Learns::Objects));
        assert_eq!(learner.knowledge().counts, [(24, 0, 1), (24, 1, 2)]);
        // Whichever way round they stand in the map.
        assert!(learner.knowledge().orders.is_empty());
    }

    #[test]
    fn an_order_is_untested_until_it_was_seen() {
        let one = log(&[(0, EventKind::Lock), (0, EventKind::Unlock), (1, EventKind::Lock)]);
        let other = log(&[(1, EventKind::Lock), (1, EventKind::Unlock), (0, EventKind::Lock)]);
        let mut learner = Learner::default();
        learner.add(&observe(&one, &[8, 8, 8], &[0, 0], Learns::Pairs));
        let child = path_of_child(MAIN_PATH, 0);
        // Not that the second one has the lock before the first one gives it back, which cannot be.
        let lock = EventKind::Lock as u8;
        assert_eq!(learner.knowledge().orders, [((child, 8, lock), (MAIN_PATH, 8, lock))]);
        learner.add(&observe(&other, &[8, 8, 8], &[0, 0], Learns::Pairs));
        assert!(learner.knowledge().orders.is_empty());
    }

    #[test]
    fn what_is_known_arrives() {
        let mut learner = Learner::default();
        learner.add(&observe(&log(&[(0, EventKind::Lock), (1, EventKind::Lock)]), &[8, 8], &[0, 0], Learns::Pairs));
        learner.share(vec![3, 1]);
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(std::mem::zeroed()) };
        learner.knowledge().write(&mut lessons);
        assert_eq!(lessons.threads().len(), 2);
        assert_eq!(lessons.object_uses().len(), 2);
        assert_eq!(lessons.untested_pairs().len(), 1);
        assert_eq!(lessons.shares[..3], [3, 1, 0]);
    }
}
