//! Threads with priorities, for the policies that run the enabled thread of the highest one.
//!
//! A tournament tree with a leaf per thread: changing one thread costs the logarithm of the number of threads,
//! finding the best one nothing.

use crate::enabled::EnabledSet;
use crate::rng::Rng;
use crate::thread::{ThreadId, MAX_THREADS};

/// Random priorities start here; what a policy gives lies below, lowered threads below zero.
pub const INITIAL: i64 = 1 << 62;

/// The priorities of a run's threads. Valid when zeroed: a run touches only what its threads need.
#[repr(C)]
pub struct Priorities {
    /// Threads with higher ids have not been seen.
    seen: usize,
    /// Nothing is drawn: the later a thread is created, the higher is its priority.
    newest_first: bool,
    /// First priorities are kept.
    keeps: bool,
    lowest: i64,
    best: Tournament,
    /// 0 means that the thread has not been seen.
    priority: [i64; MAX_THREADS],
    /// What each thread had at first, if that is kept.
    first: [i64; MAX_THREADS],
}

impl Priorities {
    /// A run starts: no thread has been seen.
    pub fn start(&mut self) {
        (self.newest_first, self.keeps) = (false, false);
        if self.seen != 0 {
            self.priority[..self.seen].fill(0);
            self.seen = 0;
        }
        self.lowest = 0;
        self.best.clear();
    }

    /// After [`Priorities::start`]: the order of threads is not drawn, but the reverse of that of their creation.
    pub fn newest_first(&mut self) {
        self.newest_first = true;
    }

    /// Follows the enabled set. A thread that is new gets a random priority above [`INITIAL`]: the order is
    /// uniform over permutations (equal numbers are broken by id and have probability below 2^-40 for 1,000
    /// threads), and the number of threads need not be known.
    #[inline(always)]
    pub fn follow(&mut self, enabled: &EnabledSet, rng: &mut Rng) {
        for (t, enabled) in enabled.changes() {
            if enabled {
                self.enter(t, rng);
            } else {
                self.best.remove(t.index(), &self.priority);
            }
        }
    }

    /// After [`Priorities::start`]: first priorities are kept, so that they can be [given back](Priorities::restore).
    pub fn keep_first(&mut self) {
        self.keeps = true;
    }

    /// Every thread has its first priority again, if that was kept.
    pub fn restore(&mut self) {
        for t in 0..if self.keeps { self.seen } else { 0 } {
            if self.priority[t] != 0 && self.priority[t] != self.first[t] {
                self.set(ThreadId(t as u16), self.first[t]);
            }
        }
        self.lowest = 0;
    }

    #[inline(always)]
    fn enter(&mut self, t: ThreadId, rng: &mut Rng) {
        // A fresh page that is read first costs a fault more than one that is written to.
        if t.index() >= self.seen || self.priority[t.index()] == 0 {
            self.seen = self.seen.max(t.index() + 1);
            self.priority[t.index()] = if self.newest_first { INITIAL + t.0 as i64 } else { random(rng) };
            if self.keeps {
                self.first[t.index()] = self.priority[t.index()];
            }
        }
        self.best.insert(t.index(), &self.priority);
    }

    /// The enabled thread of the highest priority.
    #[inline(always)]
    pub fn winner(&self) -> Option<ThreadId> {
        self.best.winner()
    }

    /// Gives a thread a priority, which is not 0.
    #[link_section = "raddle_run"]
    pub fn set(&mut self, t: ThreadId, priority: i64) {
        self.seen = self.seen.max(t.index() + 1);
        self.priority[t.index()] = priority;
        self.best.update(t.index(), &self.priority);
    }

    /// Puts a thread below all others.
    pub fn lower(&mut self, t: ThreadId) {
        self.lowest -= 1;
        self.set(t, self.lowest);
    }
}

/// A random priority.
#[inline(always)]
pub fn random(rng: &mut Rng) -> i64 {
    INITIAL | (rng.next_u64() >> 2) as i64
}

/// The enabled thread of the highest priority. Valid when zeroed.
#[repr(C)]
struct Tournament {
    /// Number of leaves, a power of two that grows with the threads; 0 before the first.
    leaves: usize,
    /// `node[1]` is the winner, `node[leaves + t]` the leaf of thread t; ids plus one, NONE when disabled. From
    /// `node[2 * leaves]` on all are NONE.
    node: [u16; 2 * MAX_THREADS],
}

const NONE: u16 = 0;
/// Leaves of the first tree: a run with few threads need not move them.
const FEWEST: usize = 4;

impl Tournament {
    fn clear(&mut self) {
        if self.leaves != 0 {
            self.node[..2 * self.leaves].fill(NONE);
            self.leaves = 0;
        }
    }

    fn winner(&self) -> Option<ThreadId> {
        self.node[1].checked_sub(1).map(ThreadId)
    }

    #[inline(always)]
    fn insert(&mut self, t: usize, priority: &[i64; MAX_THREADS]) {
        if t >= self.leaves {
            self.grow(t, priority);
        }
        self.node[self.leaves + t] = t as u16 + 1;
        self.update(t, priority);
    }

    #[inline(always)]
    fn remove(&mut self, t: usize, priority: &[i64; MAX_THREADS]) {
        if t < self.leaves {
            self.node[self.leaves + t] = NONE;
            self.update(t, priority);
        }
    }

    /// Plays the matches above the leaf of `t` again.
    fn update(&mut self, t: usize, priority: &[i64; MAX_THREADS]) {
        if t >= self.leaves {
            return;
        }
        let mut i = (self.leaves + t) / 2;
        while i > 0 {
            self.play(i, priority);
            i /= 2;
        }
    }

    fn play(&mut self, i: usize, priority: &[i64; MAX_THREADS]) {
        let (a, b) = (self.node[2 * i], self.node[2 * i + 1]);
        self.node[i] = match (a, b) {
            (NONE, x) | (x, NONE) => x,
            _ if priority[b as usize - 1] > priority[a as usize - 1] => b,
            _ => a,
        };
    }

    fn grow(&mut self, t: usize, priority: &[i64; MAX_THREADS]) {
        let old = self.leaves;
        self.leaves = (t + 1).next_power_of_two().max(FEWEST);
        if old != 0 {
            self.node.copy_within(old..2 * old, self.leaves);
        }
        for i in (1..self.leaves).rev() {
            self.play(i, priority);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tournament_agrees_with_a_search() {
        let mut rng = Rng::new(5);
        // SAFETY: documented as valid when zeroed.
        let mut tournament: Tournament = unsafe { core::mem::zeroed() };
        let mut priority = [0i64; MAX_THREADS];
        let mut on = [false; 300];
        for _ in 0..30_000 {
            let t = rng.below(300) as usize;
            match rng.below(3) {
                0 => {
                    if priority[t] == 0 {
                        priority[t] = rng.next_u64() as i64 | 1;
                    }
                    on[t] = true;
                    tournament.insert(t, &priority);
                }
                1 => {
                    on[t] = false;
                    tournament.remove(t, &priority);
                }
                _ if on[t] => {
                    priority[t] = rng.next_u64() as i64;
                    tournament.update(t, &priority);
                }
                _ => {}
            }
            let best = (0..300).filter(|&t| on[t]).max_by_key(|&t| priority[t]);
            assert_eq!(tournament.winner(), best.map(|t| ThreadId(t as u16)));
        }
    }
}
