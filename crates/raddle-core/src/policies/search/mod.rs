//! What the systematic searches share: `dfs`, `ipb` and `idb`.
//!
//! A search makes one run after another, each with a new schedule, until none is left. Its state
//! outlives the runs, in memory that is valid when zeroed and that no process owns: a run that crashes leaves the
//! search where it was. So nothing in it is a pointer, and a run is closed by the start of the next one.
//!
//! [`Choice`] is what can be chosen at a point; [`fair`] keeps threads that wait busily from running for ever.

pub mod bounded;
pub mod fair;
pub mod frontier;
pub mod independence;
pub mod lateness;
#[cfg(test)]
pub mod model;
pub mod trace;

use crate::policy::{Explored, Gap, Point};
use fair::Fair;

/// Threads that a search tells apart, by their ids: a set of them is a word.
pub const THREADS: usize = 64;

/// A set of threads.
pub type Threads = u64;

/// The set of one thread.
#[inline]
pub fn only(t: usize) -> Threads {
    1 << t
}

/// The thread of the lowest id, of at least one.
#[inline]
pub fn first(threads: Threads) -> usize {
    threads.trailing_zeros() as usize
}

/// The threads of a set, in the order of their ids.
pub fn each(mut threads: Threads) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let next = (threads != 0).then(|| first(threads))?;
        threads &= threads - 1;
        Some(next)
    })
}

/// What can be chosen at a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The threads that are enabled.
    pub enabled: Threads,
    /// Those among them that may be chosen: the others wait busily and have to let others run first.
    pub allowed: Threads,
    /// The thread that arrived here, if it may be chosen.
    pub current: Option<usize>,
    /// The thread that arrived here, whether it may be chosen or not.
    pub arrived: usize,
    /// Whether it has just done something without progress: to switch away from it is what it asks for.
    pub gives_way: bool,
}

impl Choice {
    /// What can be chosen at this point; `None` when there are threads that cannot be told apart.
    #[inline]
    pub fn at(point: &Point<'_>, fair: &mut Fair, explored: &mut Explored) -> Option<Choice> {
        if point.pending.len() > THREADS {
            explored.lacks(Gap::Threads);
            return None;
        }
        let enabled = point.enabled.first_64();
        let (allowed, gives_way) = fair.look(point, enabled);
        explored.fair |= allowed != enabled;
        let arrived = point.current.index();
        let current = (allowed & only(arrived) != 0).then_some(arrived);
        Some(Choice { enabled, allowed, current, arrived, gives_way })
    }

    /// The thread that goes on without a preemption: the current thread; if it cannot, the one with the lowest id.
    #[inline]
    pub fn usual(&self) -> usize {
        match self.current {
            Some(current) if !self.gives_way || self.allowed == only(current) => current,
            Some(current) => first(self.allowed & !only(current)),
            None => first(self.allowed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_threads() {
        assert_eq!(each(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(each(0).count(), 0);
        assert_eq!(each(only(63)).collect::<Vec<_>>(), [63]);
    }

    #[test]
    fn nobody_is_preempted_unless_it_asks_for_it() {
        let choice = Choice { enabled: 0b110, allowed: 0b110, current: Some(2), arrived: 2, gives_way: false };
        assert_eq!(choice.usual(), 2);
        assert_eq!(Choice { gives_way: true, ..choice }.usual(), 1);
        assert_eq!(Choice { current: None, arrived: 0, ..choice }.usual(), 1);
        let alone = Choice { enabled: 0b100, allowed: 0b100, gives_way: true, ..choice };
        assert_eq!(alone.usual(), 2);
    }
}
