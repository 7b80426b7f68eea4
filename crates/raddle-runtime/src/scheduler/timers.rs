//! Deadlines of waiting threads: an indexed binary heap, so that a wait that ends early takes its
//! deadline out in logarithmic time.

use raddle_core::{ThreadId, MAX_THREADS};

/// Deadlines by thread. Valid when zeroed.
#[repr(C)]
pub struct Timers {
    pub(crate) len: usize,
    /// The heap: entries before `len`, smallest first.
    pub(crate) heap: [Entry; MAX_THREADS],
    /// Where a thread's entry stands, plus one; 0 when it has none.
    pub(crate) place: [u16; MAX_THREADS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) deadline: u64,
    pub(crate) thread: u16,
}

impl Timers {
    /// The earliest deadline and its thread; equal deadlines in the order of ids.
    #[inline]
    pub fn first(&self) -> Option<(u64, ThreadId)> {
        (self.len > 0).then(|| (self.heap[0].deadline, ThreadId(self.heap[0].thread)))
    }

    /// All deadlines with their threads, in no order that matters.
    #[inline]
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.heap[..self.len]
    }

    pub fn clear(&mut self) {
        while let Some((_, t)) = self.first() {
            self.remove(t);
        }
    }

    /// Sets a thread's deadline.
    pub fn insert(&mut self, t: ThreadId, deadline: u64) {
        self.remove(t);
        let at = self.len;
        self.len += 1;
        self.put(at, Entry { deadline, thread: t.0 });
        self.up(at);
    }

    /// Forgets a thread's deadline, if it has one.
    pub fn remove(&mut self, t: ThreadId) {
        let Some(at) = (self.place[t.index()] as usize).checked_sub(1) else { return };
        self.place[t.index()] = 0;
        self.len -= 1;
        if at < self.len {
            let last = self.heap[self.len];
            self.put(at, last);
            self.up(at);
            self.down(self.place[last.thread as usize] as usize - 1);
        }
    }

    fn put(&mut self, at: usize, entry: Entry) {
        self.heap[at] = entry;
        self.place[entry.thread as usize] = at as u16 + 1;
    }

    fn up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 && entry < self.heap[(at - 1) / 2] {
            self.put(at, self.heap[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        self.put(at, entry);
    }

    fn down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.len {
                break;
            }
            if child + 1 < self.len && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if entry <= self.heap[child] {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map() {
        let mut rng = Rng::new(2);
        // SAFETY: documented as valid when zeroed.
        let mut timers: Box<Timers> = unsafe { Box::new(core::mem::zeroed()) };
        let mut reference: BTreeMap<u16, u64> = BTreeMap::new();
        for _ in 0..50_000 {
            let t = rng.below(100) as u16;
            if rng.below(3) > 0 {
                let deadline = rng.below(50);
                timers.insert(ThreadId(t), deadline);
                reference.insert(t, deadline);
            } else {
                timers.remove(ThreadId(t));
                reference.remove(&t);
            }
            let expected = reference.iter().map(|(&t, &d)| (d, ThreadId(t))).min();
            assert_eq!(timers.first(), expected);
        }
    }
}
