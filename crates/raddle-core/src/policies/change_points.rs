//! Change points of the priorities, for PCT and its relatives.

use super::priorities::Priorities;
use crate::thread::ThreadId;

/// The largest depth: the change points are kept in an array.
pub const MAX_DEPTH: usize = 64;

/// k while no run has been seen.
pub const FIRST_K: u64 = 100;

/// The number of steps among which points are drawn: as given, or as earlier runs showed, or a guess.
pub fn steps(given: f64, seen: u64) -> u64 {
    match given as u64 {
        0 if seen == 0 => FIRST_K,
        0 => seen,
        k => k,
    }
}

/// The steps after which a thread's priority falls: after the k_i-th one to d−i. Valid when zeroed, for depth 0.
#[repr(C)]
pub struct ChangePoints {
    depth: usize,
    /// The smallest k_i that is still to come, so that most steps compare one number.
    next: u64,
    /// `at[i - 1]` is k_i.
    at: [u64; MAX_DEPTH],
}

impl ChangePoints {
    /// Has change points for this depth from now on, which are to be drawn; at most [`MAX_DEPTH`].
    pub fn start(&mut self, depth: usize) {
        self.depth = depth.clamp(1, MAX_DEPTH);
    }

    /// Takes each k_i, i from 1, from `draw`; those up to step `after` have passed.
    pub fn draw(&mut self, after: u64, mut draw: impl FnMut(usize) -> u64) {
        for i in 1..self.depth {
            self.at[i - 1] = draw(i);
        }
        self.find_next(after);
    }

    /// How many change points there are.
    pub fn count(&self) -> usize {
        self.depth - 1
    }

    /// Step number `step` (counted from 1) has been given to `t`: is it a change point? So are the ones before it
    /// at which no choice was asked for.
    #[inline(always)]
    pub fn passed(&mut self, step: u64, t: ThreadId, threads: &mut Priorities) {
        if step >= self.next {
            self.change(step, t, threads);
        }
    }

    #[cold]
    #[link_section = "raddle_run"]
    fn change(&mut self, step: u64, t: ThreadId, threads: &mut Priorities) {
        for i in 1..self.depth {
            if (self.next..=step).contains(&self.at[i - 1]) {
                // Several change points on one step: the last one counts, as in the paper's loop.
                threads.set(t, (self.depth - i) as i64);
            }
        }
        self.find_next(step);
    }

    fn find_next(&mut self, after: u64) {
        let points = &self.at[..self.depth - 1];
        self.next = points.iter().copied().filter(|&k| k > after).min().unwrap_or(u64::MAX);
    }

    /// For how many steps after these `current` keeps its lead: see [`crate::Policy::lease`].
    pub fn lease(&self, current: ThreadId, steps: u64, most: u64, threads: &Priorities) -> u64 {
        // Its own step may have been a change point.
        if threads.winner() != Some(current) {
            return 0;
        }
        // The next step that is asked for is the one after those; the change point must be among the asked.
        self.next.saturating_sub(steps + 1).min(most)
    }
}
