//! What later runs can learn from a run, beyond how long it was, and what they are told.
//!
//! A job looks at the decisions of a run that is traced ([`observe`]); the campaign puts together what the runs of
//! complete rounds have shown; jobs write that [`Knowledge`] into their block, where the policy finds it.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::lessons::{
    self, path_of_child, Lessons, ObjectUse, OperationClass, OperationPair, ThreadLesson, MAIN_PATH,
};
use raddle_core::policy::Learns;
use raddle_core::{Decision, Event, EventKind, ThreadId};

/// Pairs of operations that one run may report.
const MOST_PAIRS: usize = 4096;

/// Operations of one kind that a thread, known by its path, performs on an object.
pub type Seen = (u64, u64, u8);

/// What one run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        if learns >= Learns::Pairs && !kind.releases() {
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

/// What is known from earlier runs, for the policies of later ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    pub(crate) threads: Vec<(u64, u32, u32)>,
    pub(crate) counts: Vec<(u64, u32, u32)>,
    pub(crate) orders: Vec<(Seen, Seen)>,
    pub(crate) shares: Vec<u32>,
}

impl Knowledge {
    /// Writes it to where the policy finds it.
    pub fn write(&self, to: &mut Lessons) {
        let thread = |&(path, parent, steps): &(u64, u32, u32)| ThreadLesson { path, parent, steps };
        to.set_threads(&self.threads.iter().map(thread).collect::<Vec<_>>());
        let count = |&(object, thread, events): &(u64, u32, u32)| ObjectUse { object, thread, events };
        to.set_object_uses(&self.counts.iter().map(count).collect::<Vec<_>>());
        let class = |(path, object, kind): Seen| OperationClass { path, object, kind: kind.into() };
        let order = |&(first, second): &(Seen, Seen)| OperationPair { first: class(first), second: class(second) };
        to.set_untested_pairs(&self.orders.iter().map(order).collect::<Vec<_>>());
        to.shares = [0; lessons::SHARES];
        to.shares.iter_mut().zip(&self.shares).for_each(|(share, &told)| *share = told);
    }
}
