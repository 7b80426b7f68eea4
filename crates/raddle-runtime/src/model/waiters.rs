//! Who waits for what: threads by the address of the object they wait for.
//!
//! A hash table of chains that run through the threads themselves, so nothing is allocated and an
//! object without waiters costs one load.

use raddle_core::{ThreadId, MAX_THREADS};

const BUCKETS: usize = 4096;
/// The end of a chain. Stored numbers are thread ids plus one so that zeroed memory is a valid,
/// empty table.
const END: u16 = 0;

/// Threads by what they wait for. Valid when zeroed.
pub struct Waiters {
    head: [u16; BUCKETS],
    next: [u16; MAX_THREADS],
    previous: [u16; MAX_THREADS],
    key: [usize; MAX_THREADS],
    /// Arrival numbers, for queues that must be first in, first out.
    arrival: [u64; MAX_THREADS],
    arrivals: u64,
}

fn bucket(key: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) & (BUCKETS - 1)
}

impl Waiters {
    /// Notes that `t` waits for `key`, which is not 0.
    pub fn insert(&mut self, t: ThreadId, key: usize) {
        self.remove(t);
        let (i, b) = (t.index(), bucket(key));
        self.key[i] = key;
        self.arrivals += 1;
        self.arrival[i] = self.arrivals;
        self.next[i] = self.head[b];
        self.previous[i] = END;
        if self.head[b] != END {
            self.previous[self.head[b] as usize - 1] = t.0 + 1;
        }
        self.head[b] = t.0 + 1;
    }

    /// Notes that `t` waits for nothing.
    pub fn remove(&mut self, t: ThreadId) {
        let i = t.index();
        if self.key[i] == 0 {
            return;
        }
        let (next, previous) = (self.next[i], self.previous[i]);
        if previous == END {
            self.head[bucket(self.key[i])] = next;
        } else {
            self.next[previous as usize - 1] = next;
        }
        if next != END {
            self.previous[next as usize - 1] = previous;
        }
        self.key[i] = 0;
    }

    /// Makes `t` wait for another key, at the end of its queue.
    pub fn requeue(&mut self, t: ThreadId, key: usize) {
        self.insert(t, key);
    }

    /// The threads that wait for `key`, in no particular order.
    pub fn of(&self, key: usize) -> Chain<'_> {
        Chain { waiters: self, key, at: self.head[bucket(key)] }
    }

    /// Whether nobody waits for `key`: one load in most cases.
    #[inline]
    pub fn none(&self, key: usize) -> bool {
        self.head[bucket(key)] == END || self.of(key).next().is_none()
    }

    /// The thread that has waited longest for `key` among those that `wanted` accepts.
    pub fn first(&self, key: usize, wanted: impl Fn(ThreadId) -> bool) -> Option<ThreadId> {
        self.of(key).filter(|&t| wanted(t)).min_by_key(|t| self.arrival[t.index()])
    }

    /// A copy-free way to walk over a chain while its members may be removed.
    pub fn after(&self, key: usize, at: Option<ThreadId>) -> Option<ThreadId> {
        let at = at.map_or(self.head[bucket(key)], |t| self.next[t.index()]);
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
            self.at = self.waiters.next[t.index()];
            if self.waiters.key[t.index()] == self.key {
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
