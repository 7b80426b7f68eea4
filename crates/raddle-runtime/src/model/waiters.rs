//! Waiting threads, by the address of the object they wait for.
//!
//! A hash table of chains that run through the threads themselves, so nothing is allocated and an
//! object without waiters costs one load.

use raddle_core::{ThreadId, MAX_THREADS};

const BUCKETS: usize = 1024;
/// The end of a chain. Stored numbers are thread ids plus one so that zeroed memory is a valid,
/// empty table.
const END: u16 = 0;

/// Threads by what they wait for. Valid when zeroed.
// In this order, so that a run with few threads touches few pages.
#[repr(C)]
pub struct Waiters {
    arrivals: u64,
    pub(crate) head: [u16; BUCKETS],
    pub(crate) links: [Link; MAX_THREADS],
}

/// Bytes at the start that a run with `threads` threads touches.
pub const fn small(threads: usize) -> usize {
    core::mem::offset_of!(Waiters, links) + threads * size_of::<Link>()
}

/// A thread's place in the chain of what it waits for.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Link {
    /// What it waits for; 0 when it waits for nothing.
    pub(crate) key: usize,
    /// The number of its arrival, for queues that must be first in, first out.
    arrival: u64,
    pub(crate) next: u16,
    pub(crate) previous: u16,
}

pub(crate) fn bucket(key: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) & (BUCKETS - 1)
}

impl Waiters {
    /// Notes that `t` waits for `key`, which is not 0.
    #[inline(always)]
    pub fn insert(&mut self, t: ThreadId, key: usize) {
        self.remove(t);
        let (i, b) = (t.index(), bucket(key));
        self.links[i].key = key;
        self.arrivals += 1;
        self.links[i].arrival = self.arrivals;
        self.links[i].next = self.head[b];
        self.links[i].previous = END;
        if self.head[b] != END {
            self.links[self.head[b] as usize - 1].previous = t.0 + 1;
        }
        self.head[b] = t.0 + 1;
    }

    /// Notes that `t` waits for nothing.
    #[inline(always)]
    pub fn remove(&mut self, t: ThreadId) {
        let i = t.index();
        if self.links[i].key == 0 {
            return;
        }
        let (next, previous) = (self.links[i].next, self.links[i].previous);
        if previous == END {
            self.head[bucket(self.links[i].key)] = next;
        } else {
            self.links[previous as usize - 1].next = next;
        }
        if next != END {
            self.links[next as usize - 1].previous = previous;
        }
        self.links[i].key = 0;
    }

    /// Makes `t` wait for another key, at the end of its queue.
    pub fn requeue(&mut self, t: ThreadId, key: usize) {
        self.insert(t, key);
    }

    /// The threads that wait for `key`, in no particular order.
    pub fn of(&self, key: usize) -> Chain<'_> {
        Chain { waiters: self, key, at: self.head[bucket(key)] }
    }

    /// Whether no thread waits for `key`: one load in most cases.
    #[inline]
    pub fn none(&self, key: usize) -> bool {
        self.head[bucket(key)] == END || self.of(key).next().is_none()
    }

    /// The thread that has waited longest for `key` among those that `wanted` accepts.
    pub fn first(&self, key: usize, wanted: impl Fn(ThreadId) -> bool) -> Option<ThreadId> {
        self.of(key).filter(|&t| wanted(t)).min_by_key(|t| self.links[t.index()].arrival)
    }

    /// How many threads have waited longer than `t` for the same.
    pub fn rank(&self, t: ThreadId) -> u64 {
        let Link { key, arrival, .. } = self.links[t.index()];
        if key == 0 {
            return 0;
        }
        self.of(key).filter(|other| self.links[other.index()].arrival < arrival).count() as u64
    }

    /// A copy-free way to walk over a chain while its members may be removed.
    pub fn after(&self, key: usize, at: Option<ThreadId>) -> Option<ThreadId> {
        let at = at.map_or(self.head[bucket(key)], |t| self.links[t.index()].next);
        Chain { waiters: self, key, at }.next()
    }
}

/// See [`Waiters::of`].
pub struct Chain<'a> {
    waiters: &'a Waiters,
    key: usize,
    at: u16,
}

impl Iterator for Chain<'_> {
    type Item = ThreadId;

    fn next(&mut self) -> Option<ThreadId> {
        while self.at != END {
            let t = ThreadId(self.at - 1);
            self.at = self.waiters.links[t.index()].next;
            if self.waiters.links[t.index()].key == self.key {
                return Some(t);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;
    use std::collections::BTreeMap;

    pub(crate) fn empty() -> Box<Waiters> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[test]
    fn agrees_with_a_map() {
        let mut rng = Rng::new(11);
        let mut waiters = empty();
        let mut reference = BTreeMap::new();
        for _ in 0..50_000 {
            let t = ThreadId(rng.below(300) as u16);
            let key = 1 + rng.below(40) as usize * 8;
            if rng.below(2) == 0 {
                waiters.insert(t, key);
                reference.insert(t, key);
            } else {
                waiters.remove(t);
                reference.remove(&t);
            }
            let mut found: Vec<_> = waiters.of(key).collect();
            found.sort();
            let expected: Vec<_> = reference.iter().filter(|(_, &k)| k == key).map(|(&t, _)| t).collect();
            assert_eq!(found, expected);
            assert_eq!(waiters.none(key), expected.is_empty());
        }
    }

    #[test]
    fn the_first_is_the_one_that_came_first() {
        let mut waiters = empty();
        for t in [5, 2, 9] {
            waiters.insert(ThreadId(t), 64);
        }
        assert_eq!(waiters.first(64, |_| true), Some(ThreadId(5)));
        assert_eq!(waiters.first(64, |t| t.0 != 5), Some(ThreadId(2)));
        waiters.requeue(ThreadId(5), 64);
        assert_eq!(waiters.first(64, |_| true), Some(ThreadId(2)));
    }
}
