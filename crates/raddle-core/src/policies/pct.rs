//! PCT: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS'10).
//!
//! Figure 7 of the paper: every thread gets a random priority above d−1; the enabled thread of the
//! highest priority runs; after the k_i-th step its thread's priority becomes d−i. A bug of depth d
//! is found with probability at least 1/(n·k^(d−1)) in each run.
//!
//! The optimisations of section 4.2, each with a switch:
//! - Only synchronization operations are places for change points: that is the level of `--points`, which is
//!   `memory` without it. Level `race` counts racing accesses, flags and volatile variables too.
//! - `sequential=off`: stretches in which one thread alone can run have no change points, but the step that
//!   makes a second thread enabled may be one.
//! - `phases=on`: when such a stretch ends, a phase begins, for which change points are drawn anew among as many steps
//!   as the longest phase of earlier runs had. A thread that fell has its first priority again, which the paper does
//!   not say: else it would be low in all later phases, too. So each phase has an order of the threads that is as
//!   random as that of a run, and the guarantee is for bugs within one phase that do not depend on what came before it,
//!   with the k of a phase; an order of two threads (depth 1) is kept through all phases as without this. With
//!   `sequential=on` as well, k is that of a whole run.
//! - `final-wait=on`: the main thread is lowered before it ends the process, so that bugs that show late are
//!   seen. Those that need an early end are then missed, which is why it is off by default.
//!
//! Deviations:
//! - Threads get their priority when they are first seen, so n need not be known.
//! - k is the parameter `k`; or the last round's maximum, and in runs 2 to 10 that of the runs before the last look
//!   (see `docs/src/determinism.md`); in the first run, when nothing is known, it is `FIRST_K`.
//! - The depth may be drawn for each run, as footnote 1 has it: `draw=uniform` takes each depth up to d with the
//!   same probability, `draw=geometric` each with half the probability of the one before. `d=0` takes the
//!   largest depth whose guarantee is good enough (see [`super::depth`]).
//! - `order=newest` draws no priorities: threads that are created later come first. With d=1 that is one schedule, the
//!   one that differs most from what is usual, where the main thread comes first; it has no guarantee.
//! - [`Policy::lower`] (section 4.1) puts a spinning thread below all others; each such change makes
//!   the run's guarantee void, which the starvation guard counts.

use super::change_points::{self, ChangePoints};
use super::depth;
use super::priorities::Priorities;
use crate::event::EventKind;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

pub use super::change_points::{FIRST_K, MAX_DEPTH};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Pct,
    name: "pct",
    summary: "random priorities with d−1 random change points; finds a bug of depth d with probability ≥ 1/(n·k^(d−1))",
    source: "Burckhardt et al., ASPLOS'10",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("d", 3.0, 0.0, MAX_DEPTH as f64, "the depth of the bugs to look for; 0: the largest whose guarantee is good enough"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which change points are drawn; 0: learned from earlier runs"),
        Parameter::choice("draw", 0, &["fixed", "uniform", "geometric"], "how the depth of a run is drawn, up to d"),
        Parameter::switch("sequential", false, "whether stretches of one thread alone have change points"),
        Parameter::switch("phases", false, "whether change points are drawn anew after each stretch of one thread alone"),
        Parameter::switch("final-wait", false, "whether the main thread is lowered before it ends the process"),
        depth::CONFIDENCE,
        depth::RUNS,
        depth::TRIES,
        Parameter::choice("order", 0, &["random", "newest"], "the priorities of threads: drawn, or the higher the later a thread is created"),
    ]
);

/// Where the parameters of the depth rule stand.
pub const RULE: depth::Rule = depth::Rule { depth: 0, confidence: 6, runs: 7, tries: 8 };

/// The PCT scheduler. Valid when zeroed: a run touches only what its threads need.
#[repr(C)]
pub struct Pct {
    rng: Rng,
    changes: ChangePoints,
    /// Steps among which the change points are drawn.
    k: u64,
    /// Whether points of sequential stretches count.
    sequential: bool,
    phases: bool,
    final_wait: bool,
    /// Whether the algorithm is the bare one, without any of these.
    bare: bool,
    threads: Priorities,
}

impl Pct {
    /// A policy on the heap, for tests that need no process.
    #[cfg(test)]
    pub(crate) fn boxed() -> Box<Pct> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    /// Draws the change points among the k steps after this one.
    fn start_phase(&mut self, after: u64) {
        let (rng, k) = (&mut self.rng, self.k);
        self.changes.draw(after, |_| after + 1 + rng.below(k));
    }

    /// What was passed since the last time was passed by the thread that was alone.
    #[cold]
    fn was_alone(&mut self, point: &Point<'_>) {
        if self.sequential {
            self.changes.passed(point.points - 2, point.current, &mut self.threads);
        }
        let step = if self.sequential { point.points - 1 } else { point.step };
        if self.phases {
            self.start_phase(step - 1);
            self.threads.restore();
        }
        self.changes.passed(step, point.current, &mut self.threads);
    }
}

/// Draws the depth of a run.
fn drawn(rng: &mut Rng, depth: usize, how: f64) -> usize {
    match how as u32 {
        0 => depth,
        1 => 1 + rng.below(depth as u64) as usize,
        _ => (1 + rng.next_u64().trailing_ones() as usize).min(depth),
    }
}

impl Policy for Pct {
    #[link_section = "raddle_run"]
    fn start(&mut self, run: &Run<'_>) {
        let parameters = run.parameters;
        self.rng = Rng::new(run.seed);
        self.sequential = parameters[3] != 0.0;
        self.phases = parameters[4] != 0.0;
        self.final_wait = parameters[5] != 0.0;
        self.bare = !self.sequential && !self.phases && !self.final_wait;
        let seen = match (self.phases, self.sequential) {
            (_, true) => run.profile.points,
            (true, false) => run.profile.phase,
            (false, false) => run.profile.steps,
        };
        self.k = change_points::steps(parameters[1], seen);
        let depth = match parameters[0] as usize {
            0 => depth::largest(run.profile.threads.max(2), self.k, self.k, parameters[RULE.tries]),
            depth => depth,
        };
        self.changes.start(drawn(&mut self.rng, depth.clamp(1, MAX_DEPTH), parameters[2]));
        self.threads.start();
        if parameters[9] != 0.0 {
            self.threads.newest_first();
        }
        if self.phases {
            self.threads.keep_first();
        }
        self.start_phase(0);
    }

    #[link_section = "raddle_run"]
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        self.threads.follow(point.enabled, &mut self.rng);
        let mut step = point.step;
        if self.bare {
            if point.opened {
                self.changes.passed(step, point.current, &mut self.threads);
            }
        } else {
            if point.opened {
                self.was_alone(point);
            }
            if self.sequential {
                step = point.points - 1;
            }
        }
        let mut chosen = self.threads.winner().unwrap_or(point.current);
        if !self.bare && self.final_wait && chosen == ThreadId::MAIN && point.pending[0].kind == EventKind::ProcessExit
        {
            self.threads.lower(chosen);
            chosen = self.threads.winner().unwrap_or(point.current);
        }
        self.changes.passed(step + 1, chosen, &mut self.threads);
        chosen
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        if self.sequential {
            return 0;
        }
        self.changes.lease(current, steps, most, &self.threads)
    }

    fn lower(&mut self, t: ThreadId) {
        self.threads.lower(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    const RUNS: u64 = 20_000;

    fn parameters(d: f64, k: f64) -> [f64; 10] {
        [d, k, 0.0, 0.0, 0.0, 0.0, 0.95, 1000.0, 0.0, 0.0]
    }

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
                let run = toy::run(&mut *policy, &program, seed, &parameters(1.0, 80.0));
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
                let s = toy::run(&mut *policy, &program, seed, &parameters(2.0, 12.0)).schedule;
                s[..3] == [0, 0, 0] && s[3..5] == [1, 1]
            })
            .count() as f64;
        assert!(found > floor(1.0 / 24.0), "{found}");
        assert!(found < ceiling(1.0 / 24.0), "{found}");
    }

    #[test]
    fn a_lowered_thread_runs_last() {
        let program = toy::Program::straight(&[1, 1, 1]);
        let mut policy = pct();
        for seed in 0..50 {
            let run =
                toy::run_with(&mut *policy, &program, seed, &parameters(1.0, 3.0), toy::UNKNOWN, |policy, point| {
                    if point.step == 0 {
                        policy.lower(ThreadId(1));
                    }
                });
            assert_eq!(run.schedule[2], 1);
        }
    }

    #[test]
    fn the_newest_thread_may_come_first() {
        let program = toy::Program::straight(&[1, 2, 1]);
        let mut with = parameters(1.0, 4.0);
        with[9] = 1.0;
        let mut policy = pct();
        assert!((0..50).all(|seed| toy::run(&mut *policy, &program, seed, &with).schedule == [2, 1, 1, 0]));
        // A run that draws again is not told.
        let first = |seed| toy::run(&mut *policy, &program, seed, &parameters(1.0, 4.0)).schedule[0];
        assert!((0..50).map(first).any(|t| t != 2));
    }

    #[test]
    fn each_phase_has_change_points_of_its_own() {
        // Main waits for thread 1, goes on alone, and waits for threads 2 and 3, which wait for its steps: two
        // phases, with two threads each.
        use toy::Op::{Join, Step};
        let program = toy::Program {
            threads: vec![
                vec![Step; 6],
                vec![Step; 6],
                [vec![Join(0), Join(1)], vec![Step; 6]].concat(),
                [vec![Join(0), Join(1)], vec![Step; 6]].concat(),
            ],
        };
        let known = toy::Known { profile: crate::policy::Profile { phase: 12, ..Default::default() }, lessons: None };
        // The bug: in each phase one thread is interrupted in the middle by the whole of the other. With one change
        // point for all of the run that is impossible.
        let interrupted = |s: &[usize]| s[0] == s[11] && s[1..11].iter().any(|t| *t != s[0]);
        let mut policy = pct();
        let mut found = |phases: f64| {
            let mut with = parameters(2.0, 0.0);
            with[4] = phases;
            let both = |seed: &u64| {
                let s = toy::run_with(&mut *policy, &program, *seed, &with, known, |_, _| {}).schedule;
                interrupted(&s[..12]) && interrupted(&s[12..])
            };
            (0..2_000).filter(both).count()
        };
        assert_eq!(found(0.0), 0);
        assert!(found(1.0) > 100);
    }

    #[test]
    fn who_fell_rises_again_with_the_next_phase() {
        // Thread 1 comes first, and waits for the lock; when thread 0, alone, has given it back, both can go on.
        use toy::Op::{Lock, Step, Unlock};
        let holder = [vec![Lock(0)], vec![Step; 3], vec![Unlock(0)], vec![Step; 4]].concat();
        let waiter = [vec![Step; 3], vec![Lock(0), Unlock(0)], vec![Step; 4]].concat();
        let program = toy::Program { threads: vec![holder, waiter] };
        let mut policy = pct();
        // One change point is needed to get there: thread 0 falls right after it has the lock.
        let start = [0, 1, 1, 1, 0, 0, 0, 0];
        for sequential in [0.0, 1.0] {
            let mut next = |phases: f64| {
                let mut with = parameters(2.0, 4.0);
                (with[3], with[4]) = (sequential, phases);
                let runs = (0..8_000).map(|seed| toy::run(&mut *policy, &program, seed, &with).schedule);
                let next: Vec<usize> = runs.filter(|s| s[..8] == start).map(|s| s[8]).collect();
                (next.iter().filter(|t| **t == 0).count() as f64, next.len() as f64)
            };
            let (holders, all) = next(0.0);
            assert!(holders == 0.0 && all > 500.0, "who fell stays low: {holders} of {all}");
            let (holders, all) = next(1.0);
            // Three quarters of them: the step that gives the lock back is the first of the phase, and may be the
            // change point, one of four.
            assert!((all * 0.65..all * 0.85).contains(&holders), "{holders} of {all}");
        }
    }

    #[test]
    fn phases_change_nothing_at_depth_1() {
        use toy::Op::{Join, Step};
        // Threads 0 and 1 wait for thread 2; their order is the same before and after it was alone.
        let program = toy::Program {
            threads: vec![
                vec![Step, Step, Join(2), Step, Step],
                vec![Step, Step, Join(2), Step, Step],
                vec![Step, Step, Step],
            ],
        };
        let mut policy = pct();
        for seed in 0..500 {
            let mut with = parameters(1.0, 5.0);
            let without = toy::run(&mut *policy, &program, seed, &with);
            with[4] = 1.0;
            assert_eq!(toy::run(&mut *policy, &program, seed, &with), without);
        }
    }

    #[test]
    fn the_depth_is_drawn_as_asked() {
        let mut rng = Rng::new(9);
        let mut count = |how| {
            let mut seen = [0; 4];
            (0..RUNS).for_each(|_| seen[drawn(&mut rng, 4, how) - 1] += 1);
            seen.map(f64::from)
        };
        assert_eq!(count(0.0), [0.0, 0.0, 0.0, RUNS as f64]);
        let near = |count: f64, rate| (floor(rate)..ceiling(rate)).contains(&count);
        assert!(count(1.0).into_iter().all(|seen| near(seen, 0.25)));
        assert!(count(2.0).into_iter().zip([0.5, 0.25, 0.125, 0.125]).all(|(seen, rate)| near(seen, rate)));
    }

    #[test]
    fn smaller_depths_are_covered_at_the_bound_of_the_larger_one_and_not_better() {
        // The example of the proof: thread 0 takes all of its 8 steps before the only step of thread 1, which is
        // depth 1. Runs with d = 2 and k = 9: the last counted step is the eighth.
        const RUNS: u64 = 40_000;
        let program = toy::Program::straight(&[8, 1]);
        let mut policy = pct();
        let found = (0..RUNS)
            .filter(|&seed| toy::run(&mut *policy, &program, seed, &parameters(2.0, 9.0)).schedule[..8] == [0; 8])
            .count() as f64;
        let spread = |p: f64| 3.1 * (RUNS as f64 * p * (1.0 - p)).sqrt();
        // 1/(n·k).
        let bound = 1.0 / 18.0;
        assert!(found > RUNS as f64 * bound - spread(bound), "{found}");
        // Far from the 1/2 of a run with d = 1: two of the nine places do no harm, with the right order of the
        // two threads.
        let exact = 0.5 * 2.0 / 9.0;
        assert!((found - RUNS as f64 * exact).abs() < spread(exact), "{found}");
    }
}
