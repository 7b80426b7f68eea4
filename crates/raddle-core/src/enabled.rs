//! The set of enabled threads: those whose next event can happen now.
//!
//! A bit per thread, so that a lock with many waiters changes many threads cheaply and the k-th
//! enabled thread is the same whatever the history. The set also remembers which threads changed
//! since the last schedule point, so that a policy can keep a search structure without looking at
//! all threads.

use crate::thread::{ThreadId, MAX_THREADS};

const WORDS: usize = MAX_THREADS / 64;

/// The threads whose next event can happen now, in the order of their ids.
#[derive(Clone, Debug)]
pub struct EnabledSet {
    bits: [u64; WORDS],
    changed: [u64; WORDS],
    len: u32,
    /// Words that may be non-zero.
    used: u16,
}

impl Default for EnabledSet {
    fn default() -> Self {
        Self::new()
    }
}

impl EnabledSet {
    /// The empty set.
    pub const fn new() -> EnabledSet {
        EnabledSet { bits: [0; WORDS], changed: [0; WORDS], len: 0, used: 0 }
    }

    /// Makes the set empty, as if new.
    pub fn clear(&mut self) {
        self.bits[..self.used as usize].fill(0);
        self.changed[..self.used as usize].fill(0);
        self.len = 0;
        self.used = 0;
    }

    /// Adds or removes a thread. Returns whether that changed anything.
    #[inline]
    pub fn set(&mut self, t: ThreadId, on: bool) -> bool {
        let (word, bit) = (t.index() / 64, 1u64 << (t.index() % 64));
        if (self.bits[word] & bit != 0) == on {
            return false;
        }
        self.bits[word] ^= bit;
        self.changed[word] |= bit;
        self.used = self.used.max(word as u16 + 1);
        if on {
            self.len += 1;
        } else {
            self.len -= 1;
        }
        true
    }

    /// Whether the thread is enabled.
    #[inline]
    pub fn contains(&self, t: ThreadId) -> bool {
        self.bits[t.index() / 64] >> (t.index() % 64) & 1 != 0
    }

    /// How many threads are enabled.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no thread is enabled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The k-th enabled thread in the order of ids, counted from 0.
    #[inline]
    pub fn nth(&self, mut k: usize) -> Option<ThreadId> {
        if self.used == 1 && k < 4 {
            // Few threads, as nearly always. Picked from a small table, because a loop that ends at
            // random is predicted wrongly.
            let mut left = [self.bits[0]; 4];
            for i in 1..4 {
                left[i] = left[i - 1] & left[i - 1].wrapping_sub(1);
            }
            let word = left[k];
            return (word != 0).then(|| ThreadId(word.trailing_zeros() as u16));
        }
        for (i, &word) in self.bits[..self.used as usize].iter().enumerate() {
            let here = word.count_ones() as usize;
            if k < here {
                return Some(ThreadId((i * 64) as u16 + nth_one(word, k)));
            }
            k -= here;
        }
        None
    }

    /// The enabled thread with the smallest id.
    #[inline(always)]
    pub fn first(&self) -> Option<ThreadId> {
        let (i, word) = self.bits[..self.used as usize].iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(ThreadId((i * 64) as u16 + word.trailing_zeros() as u16))
    }

    /// The first enabled thread with a larger id than this one.
    pub fn after(&self, t: ThreadId) -> Option<ThreadId> {
        let next = t.index() + 1;
        let (first, bit) = (next / 64, next % 64);
        let words = self.bits[..self.used as usize].iter().enumerate().skip(first);
        let seen = |(i, word): (usize, &u64)| (i, if i == first { word >> bit << bit } else { *word });
        let (i, word) = words.map(seen).find(|(_, word)| *word != 0)?;
        Some(ThreadId((i * 64) as u16 + word.trailing_zeros() as u16))
    }

    /// The first 64 threads, a bit each.
    #[inline]
    pub fn first_64(&self) -> u64 {
        self.bits[0]
    }

    /// The enabled threads in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        ones(&self.bits[..self.used as usize])
    }

    /// The threads that became enabled or disabled since the last call of [`EnabledSet::settle`].
    pub fn changed(&self) -> impl Iterator<Item = ThreadId> + '_ {
        ones(&self.changed[..self.used as usize])
    }

    /// The threads that [`EnabledSet::changed`] gives, each with whether it is enabled now; faster, for policies that
    /// look at every point.
    #[inline(always)]
    pub fn changes(&self) -> Changes<'_> {
        Changes { set: self, word: 0, left: self.changed[0] }
    }

    /// Forgets which threads changed; the scheduler calls it after each decision.
    #[inline]
    pub fn settle(&mut self) {
        match self.used {
            // Few threads, as nearly always: no call of memset.
            0 | 1 => self.changed[0] = 0,
            used => self.changed[..used as usize].fill(0),
        }
    }
}

/// See [`EnabledSet::changes`]. No closure: one that several policies share would not be part of any of them.
pub struct Changes<'a> {
    set: &'a EnabledSet,
    word: usize,
    left: u64,
}

impl Iterator for Changes<'_> {
    type Item = (ThreadId, bool);

    #[inline(always)]
    fn next(&mut self) -> Option<(ThreadId, bool)> {
        while self.left == 0 {
            self.word += 1;
            if self.word >= self.set.used as usize {
                return None;
            }
            self.left = self.set.changed[self.word];
        }
        let bit = self.left & self.left.wrapping_neg();
        let t = ThreadId((self.word * 64) as u16 + self.left.trailing_zeros() as u16);
        self.left ^= bit;
        Some((t, self.set.bits[self.word] & bit != 0))
    }
}

/// Where the k-th one of a word is, counted from 0: there are more than k. The half that it is in, then the quarter,
/// and so on.
fn nth_one(mut word: u64, mut k: usize) -> u16 {
    let mut at = 0;
    let mut width = 32;
    while width > 0 {
        let low = (word & ((1 << width) - 1)).count_ones() as usize;
        if k >= low {
            k -= low;
            word >>= width;
            at += width;
        }
        width /= 2;
    }
    at as u16
}

fn ones(words: &[u64]) -> impl Iterator<Item = ThreadId> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut word = word;
        core::iter::from_fn(move || {
            if word == 0 {
                return None;
            }
            let bit = word.trailing_zeros() as u16;
            word &= word - 1;
            Some(ThreadId((i * 64) as u16 + bit))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn who_comes_after() {
        let mut set = EnabledSet::new();
        for t in [3, 63, 64, 200] {
            set.set(ThreadId(t), true);
        }
        let after = |t: u16| set.after(ThreadId(t)).map(|t| t.0);
        assert_eq!([0, 3, 62, 63, 64, 199, 200].map(after), [3, 63, 63, 64, 200, 200, 0].map(|t| (t > 0).then_some(t)));
        assert_eq!(EnabledSet::new().after(ThreadId(0)), None);
    }

    #[test]
    fn behaves_like_an_ordered_set() {
        let mut rng = Rng::new(3);
        let mut set = EnabledSet::new();
        let mut reference = BTreeSet::new();
        for _ in 0..20_000 {
            let t = ThreadId(rng.below(200) as u16);
            let on = rng.below(2) == 0;
            let expected = if on { reference.insert(t) } else { reference.remove(&t) };
            assert_eq!(set.set(t, on), expected);
            assert_eq!(set.len(), reference.len());
            assert_eq!(set.contains(t), on);
            let k = rng.below(200) as usize;
            assert_eq!(set.nth(k), reference.iter().nth(k).copied());
        }
        assert!(set.iter().eq(reference.iter().copied()));
    }

    #[test]
    fn remembers_changes_until_settled() {
        let mut set = EnabledSet::new();
        set.set(ThreadId(3), true);
        set.set(ThreadId(70), true);
        set.set(ThreadId(3), false);
        assert!(set.changed().eq([ThreadId(3), ThreadId(70)]));
        set.settle();
        assert_eq!(set.changed().count(), 0);
    }
}
