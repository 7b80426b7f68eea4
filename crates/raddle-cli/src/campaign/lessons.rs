//! What policies are told of earlier runs, beyond how long these were.
//!
//! A job looks at the decisions of a run that is traced ([`observe`]); the main process puts together what the
//! runs of complete blocks have shown ([`Learner`]); jobs write it into their block, where the policy finds it.
//! All of it counts in the order of run numbers, so that nothing depends on the number of jobs.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::lessons::{self, path_of_child, Class, Count, Lessons, Order, ThreadLesson, MAIN_PATH};
use raddle_core::policy::Learns;
use raddle_core::{Decision, Event, EventKind, ThreadId};
use serde::{Deserialize, Serialize};

/// Pairs of operations that one run may report.
const MOST_PAIRS: usize = 4096;

/// Operations of one kind that a thread, known by its path, performs on an object.
pub type Seen = (u64, u64, u8);

/// What one run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The threads: path, path of the creator, steps; a thread comes after its creator.
    pub threads: Vec<(u64, u64, u32)>,
    /// Points that each of them passed while no other was enabled.
    pub alone: Vec<u32>,
    /// Objects, paths of threads that touched them, steps on them, and whether one of these changed them.
    pub touched: Vec<(u64, u64, u32, bool)>,
    /// Operations of two threads of which the second followed the first, as far as the object was concerned, and
    /// their order can matter.
    pub followed: Vec<(Seen, Seen)>,
}

/// Looks at a run: its decisions, the objects of these as far as they were noted, and who created each thread.
pub fn observe(log: &[u32], objects: &[u64], parents: &[u16], learns: Learns) -> Observed {
    let paths = paths(parents);
    let mut steps = vec![0u32; paths.len()];
    let decisions = || log.iter().map(|&decision| Decision(decision));
    for decision in decisions() {
        if let Some(count) = steps.get_mut(decision.thread().index()) {
            *count += 1;
        }
    }
    let creator = |t: usize| if t == 0 { MAIN_PATH } else { paths[usize::from(parents[t])] };
    let mut observed = Observed {
        threads: (0..paths.len()).map(|t| (paths[t], creator(t), steps[t])).collect(),
        ..Observed::default()
    };
    if learns < Learns::Objects {
        return observed;
    }
    let mut touched: BTreeMap<(u64, u64), (u32, bool)> = BTreeMap::new();
    let mut followed = BTreeSet::new();
    let mut last: BTreeMap<u64, (ThreadId, EventKind)> = BTreeMap::new();
    for (decision, &object) in decisions().zip(objects) {
        let (t, Some(kind)) = (decision.thread(), decision.kind()) else { continue };
        let Some(&path) = paths.get(t.index()).filter(|_| object != 0) else { continue };
        let (count, changed) = touched.entry((object, path)).or_default();
        *count += 1;
        *changed |= kind.effect() == raddle_core::event::Effect::Write;
        // What gives a lock back comes after what acquired it, whoever is first: the order of two sections is that of
        // their acquisitions.
        if learns >= Learns::Orders && !kind.releases() {
            if let Some((before, earlier)) = last.insert(object, (t, kind)) {
                let event = |kind| Event::new(kind, object as usize);
                if before != t && event(earlier).conflicts(&event(kind)) && followed.len() < MOST_PAIRS {
                    followed.insert(((paths[before.index()], object, earlier as u8), (path, object, kind as u8)));
                }
            }
        }
    }
    observed.touched = touched.into_iter().map(|((object, path), (count, w))| (object, path, count, w)).collect();
    observed.followed = followed.into_iter().collect();
    observed
}

/// The paths of all threads, by id.
fn paths(parents: &[u16]) -> Vec<u64> {
    let mut children = vec![0u32; parents.len()];
    let mut paths = Vec::with_capacity(parents.len());
    for (t, &parent) in parents.iter().enumerate() {
        let parent = usize::from(parent);
        paths.push(match paths.get(parent) {
            // Main; and a thread whose slot is used again, which nobody can tell apart.
            None => MAIN_PATH,
            Some(_) if t == 0 => MAIN_PATH,
            Some(&path) => {
                children[parent] += 1;
                path_of_child(path, children[parent] - 1)
            }
        });
    }
    paths
}

/// What is told, as it goes from process to process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    threads: Vec<(u64, u32, u32)>,
    counts: Vec<(u64, u32, u32)>,
    orders: Vec<(Seen, Seen)>,
    shares: Vec<u32>,
}

impl Told {
    /// Writes it to where the policy finds it.
    pub fn write(&self, to: &mut Lessons) {
        let thread = |&(path, parent, steps): &(u64, u32, u32)| ThreadLesson { path, parent, steps };
        to.set_threads(&self.threads.iter().map(thread).collect::<Vec<_>>());
        let count = |&(object, thread, events): &(u64, u32, u32)| Count { object, thread, events };
        to.set_counts(&self.counts.iter().map(count).collect::<Vec<_>>());
        let class = |(path, object, kind): Seen| Class { path, object, kind: kind.into() };
        let order = |&(first, second): &(Seen, Seen)| Order { first: class(first), second: class(second) };
        to.set_orders(&self.orders.iter().map(order).collect::<Vec<_>>());
        to.shares = [0; lessons::SHARES];
        to.shares.iter_mut().zip(&self.shares).for_each(|(share, &told)| *share = told);
    }
}

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
    pub fn told_at_first(&self) -> Told {
        let mut told = self.told();
        for (path, _, steps) in &mut told.threads {
            *steps = self.points.get(path).copied().unwrap_or(*steps);
        }
        told
    }

    /// What is to be told.
    pub fn told(&self) -> Told {
        let places: BTreeMap<u64, u32> = self.order.iter().copied().zip(0..).collect();
        let place = |path: &u64| places.get(path).copied().unwrap_or(0);
        let threads = self.order.iter().map(|path| {
            let (creator, steps) = self.threads[path];
            (*path, place(&creator), steps)
        });
        Told {
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
        assert_eq!(learner.told().threads, [(MAIN_PATH, 0, 1), (first, 0, 0), (child(first, 0), 1, 2), (second, 0, 5)]);
    }

    #[test]
    fn at_first_it_counts_that_a_thread_was_alone() {
        let mut learner = Learner::default();
        let first =
            Observed { alone: vec![1, 2], ..observe(&log(&[(0, EventKind::Lock)]), &[], &[0, 0], Learns::Lengths) };
        learner.add(&first);
        let child = path_of_child(MAIN_PATH, 0);
        assert_eq!(learner.told_at_first().threads, [(MAIN_PATH, 0, 2), (child, 0, 2)]);
        assert_eq!(learner.told().threads, [(MAIN_PATH, 0, 1), (child, 0, 0)]);
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
        assert_eq!(learner.told().counts, [(24, 0, 1), (24, 1, 2)]);
        // Whichever way round they stand in the map.
        assert!(learner.told().orders.is_empty());
    }

    #[test]
    fn an_order_is_untested_until_it_was_seen() {
        let one = log(&[(0, EventKind::Lock), (0, EventKind::Unlock), (1, EventKind::Lock)]);
        let other = log(&[(1, EventKind::Lock), (1, EventKind::Unlock), (0, EventKind::Lock)]);
        let mut learner = Learner::default();
        learner.add(&observe(&one, &[8, 8, 8], &[0, 0], Learns::Orders));
        let child = path_of_child(MAIN_PATH, 0);
        // Not that the second one has the lock before the first one gives it back, which cannot be.
        let lock = EventKind::Lock as u8;
        assert_eq!(learner.told().orders, [((child, 8, lock), (MAIN_PATH, 8, lock))]);
        learner.add(&observe(&other, &[8, 8, 8], &[0, 0], Learns::Orders));
        assert!(learner.told().orders.is_empty());
    }

    #[test]
    fn what_is_told_arrives() {
        let mut learner = Learner::default();
        learner.add(&observe(&log(&[(0, EventKind::Lock), (1, EventKind::Lock)]), &[8, 8], &[0, 0], Learns::Orders));
        learner.share(vec![3, 1]);
        let json = serde_json::to_string(&learner.told()).expect("is written");
        let told: Told = serde_json::from_str(&json).expect("is read");
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(std::mem::zeroed()) };
        told.write(&mut lessons);
        assert_eq!(lessons.threads().len(), 2);
        assert_eq!(lessons.counts().len(), 2);
        assert_eq!(lessons.orders().len(), 1);
        assert_eq!(lessons.shares[..3], [3, 1, 0]);
    }
}
