//! PCT: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS'10).
//!
//! Figure 7 of the paper: every thread gets a random priority above d−1; the enabled thread of the
//! highest priority runs; after the k_i-th step its thread's priority becomes d−i. A bug of depth d
//! is found with probability at least 1/(n·k^(d−1)) in each run.
//!
//! Deviations:
//! - Threads get their priority when they are first seen, as a random 62-bit number, so n need not
//!   be known. The order is uniform over permutations (equal numbers are broken by id and have
//!   probability below 2^-40 for 1,000 threads).
//! - Steps are counted as [`Point::step`] says: sequential stretches do not count (section 4.2,
//!   second optimisation), and the step that makes a second thread enabled does.
//! - k is the last block's maximum, or the parameter `k`; in the first block, when nothing is known,
//!   it is `FIRST_K`.
//! - [`Policy::lower`] (section 4.1) puts a spinning thread below all others; each such change makes
//!   the run's guarantee void, which the starvation guard counts.

use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::{ThreadId, MAX_THREADS};

/// The largest depth: the change points are kept in an array.
pub const MAX_DEPTH: usize = 64;

/// k while no run has been seen.
pub const FIRST_K: u64 = 100;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Pct,
    name: "pct",
    summary: "random priorities with d−1 random change points; finds a bug of depth d with probability ≥ 1/(n·k^(d−1))",
    source: "Burckhardt et al., ASPLOS'10",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("d", 3.0, 1.0, MAX_DEPTH as f64, "the depth of the bugs that are looked for"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which change points are drawn; 0: learned from earlier runs"),
    ]
);

/// Initial priorities start here; change points lie below, lowered threads below zero.
const INITIAL: i64 = 1 << 62;

/// The PCT scheduler. Valid when zeroed: a run touches only what its threads need.
#[repr(C)]
pub struct Pct {
    rng: Rng,
    depth: usize,
    /// The smallest k_i that is still to come, so that most steps compare one number.
    next_change: u64,
    /// Threads with higher ids have not been seen.
    seen: usize,
    lowest: i64,
    /// `change[i - 1]` is k_i.
    change: [u64; MAX_DEPTH],
    best: Tournament,
    /// 0 means that the thread has not been seen.
    priority: [i64; MAX_THREADS],
}

impl Pct {
    /// A policy on the heap, for tests that need no process.
    #[cfg(test)]
    pub(crate) fn boxed() -> Box<Pct> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[link_section = "raddle_run"]
    fn set_priority(&mut self, t: ThreadId, priority: i64) {
        self.priority[t.index()] = priority;
        self.best.update(t.index(), &self.priority);
    }

    /// Step number `step` (counted from 1) has been given to `t`: is it a change point?
    #[inline(always)]
    fn passed(&mut self, step: u64, t: ThreadId) {
        if step == self.next_change {
            self.change_at(step, t);
        }
    }

    #[cold]
    #[link_section = "raddle_run"]
    fn change_at(&mut self, step: u64, t: ThreadId) {
        for i in 1..self.depth {
            if self.change[i - 1] == step {
                // Several change points on one step: the last one counts, as in the paper's loop.
                self.set_priority(t, (self.depth - i) as i64);
            }
        }
        self.find_next_change(step);
    }

    fn find_next_change(&mut self, after: u64) {
        let points = &self.change[..self.depth - 1];
        self.next_change = points.iter().copied().filter(|&k| k > after).min().unwrap_or(u64::MAX);
    }
}

impl Policy for Pct {
    #[link_section = "raddle_run"]
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.depth = (run.parameters[0] as usize).clamp(1, MAX_DEPTH);
        let k = match run.parameters[1] as u64 {
            0 if run.profile.steps == 0 => FIRST_K,
            0 => run.profile.steps,
            k => k,
        };
        for i in 0..self.depth - 1 {
            self.change[i] = 1 + self.rng.below(k);
        }
        self.find_next_change(0);
        if self.seen != 0 {
            self.priority[..self.seen].fill(0);
            self.seen = 0;
        }
        self.lowest = 0;
        self.best.clear();
    }

    #[link_section = "raddle_run"]
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        point.enabled.for_each_changed(|t, enabled| {
            if enabled {
                // A fresh page that is read first costs a fault more than one that is written to.
                if t.index() >= self.seen || self.priority[t.index()] == 0 {
                    self.seen = self.seen.max(t.index() + 1);
                    self.priority[t.index()] = INITIAL | (self.rng.next_u64() >> 2) as i64;
                }
                self.best.insert(t.index(), &self.priority);
            } else {
                self.best.remove(t.index(), &self.priority);
            }
        });
        if point.opened {
            self.passed(point.step, point.current);
        }
        let chosen = self.best.winner().unwrap_or(point.current);
        self.passed(point.step + 1, chosen);
        chosen
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        // Its own step may have been a change point.
        if self.best.winner() != Some(current) {
            return 0;
        }
        // The next step that is asked for is the one after those; the change point must be among the asked.
        self.next_change.saturating_sub(steps + 1).min(most)
    }

    fn lower(&mut self, t: ThreadId) {
        self.lowest -= 1;
        self.seen = self.seen.max(t.index() + 1);
        self.set_priority(t, self.lowest);
    }
}

/// The enabled thread of the highest priority: a tournament tree with a leaf per thread. Changing
/// one thread costs the logarithm of the number of threads, finding the best one nothing. Valid when
/// zeroed.
#[repr(C)]
struct Tournament {
    /// Number of leaves, a power of two that grows with the threads; 0 before the first.
    leaves: usize,
    /// `node[1]` is the winner, `node[leaves + t]` the leaf of thread t; ids plus one, NONE when disabled. From
    /// `node[2 * leaves]` on all are NONE.
    node: [u16; 2 * MAX_THREADS],
}

const NONE: u16 = 0;
/// The first tree has so many leaves: a run with few threads need not move them.
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

    fn insert(&mut self, t: usize, priority: &[i64; MAX_THREADS]) {
        if t >= self.leaves {
            self.grow(t, priority);
        }
        self.node[self.leaves + t] = t as u16 + 1;
        self.update(t, priority);
    }

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
    use crate::toy;

    const RUNS: u64 = 20_000;

    fn pct() -> Box<Pct> {
        Pct::boxed()
    }

    /// The smallest count that a binomial of this rate falls below with probability 0.1% or less.
    fn floor(rate: f64) -> f64 {
        let mean = rate * RUNS as f64;
        mean - 3.1 * (mean * (1.0 - rate)).sqrt()
    }

    fn ceiling(rate: f64) -> f64 {
        2.0 * rate * RUNS as f64 - floor(rate)
    }

    #[test]
    fn depth_one_finds_both_orders_with_probability_half() {
        // PCT figure 5: each of the two bugs of depth 1 with probability 1/2, however long the
        // threads are.
        let program = toy::Program::straight(&[40, 40]);
        let mut policy = pct();
        let first_all = (0..RUNS)
            .filter(|&seed| {
                let run = toy::run(&mut *policy, &program, seed, &[1.0, 80.0]);
                run.schedule[..40].iter().all(|&t| t == 0)
            })
            .count() as f64;
        assert!(first_all > floor(0.5) && first_all < ceiling(0.5), "{first_all}");
    }

    #[test]
    fn the_bound_holds_and_is_nearly_tight_for_one_exact_step() {
        // The bug: thread 1 runs wholly between step 3 and step 4 of thread 0, which has 10 steps.
        // Depth 2, n = 2, k = 12: the guarantee is 1/24. Exactly: thread 0 has the higher priority
        // (1/2) and the change point is step 3 (1/12).
        let program = toy::Program::straight(&[10, 2]);
        let mut policy = pct();
        let found = (0..RUNS)
            .filter(|&seed| {
                let s = toy::run(&mut *policy, &program, seed, &[2.0, 12.0]).schedule;
                s[..3] == [0, 0, 0] && s[3..5] == [1, 1]
            })
            .count() as f64;
        assert!(found > floor(1.0 / 24.0), "{found}");
        assert!(found < ceiling(1.0 / 24.0), "{found}");
    }

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

    #[test]
    fn a_lowered_thread_runs_last() {
        let program = toy::Program::straight(&[1, 1, 1]);
        let mut policy = pct();
        for seed in 0..50 {
            let run = toy::run_with(&mut *policy, &program, seed, &[1.0, 3.0], toy::UNKNOWN, |policy, point| {
                if point.step == 0 {
                    policy.lower(ThreadId(1));
                }
            });
            assert_eq!(run.schedule[2], 1);
        }
    }
}
