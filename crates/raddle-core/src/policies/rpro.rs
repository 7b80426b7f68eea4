//! RPro: PCT with a radius (Cai and Yang, ASE'16; a baseline of the stride paper).
//!
//! The radius r is the largest distance, in steps, between two events of a bug. The first change point is uniform
//! over all k steps, the others over the r steps that follow it, so that a bug of depth d within the radius is found
//! with probability of about 1/(n·k·r^(d−2)).
//!
//! Deviations: as for [`super::pct`]. Which of the d−1 change points comes first is drawn as well: a fixed one would
//! never find a bug whose constraints come in another order. So the bound that we can prove is
//! 1/((d−1)·n·k·r^(d−2)). `d=0`, the default, is the depth rule of the stride paper's section V.B.

use super::depth;
use super::pct::{FIRST_K, MAX_DEPTH};
use super::priorities::Priorities;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Rpro,
    name: "rpro",
    summary: "PCT whose change points lie within a radius; finds a bug of depth d within it with probability ≥ 1/((d−1)·n·k·r^(d−2))",
    source: "Cai, Yang, ASE'16",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("d", 0.0, 0.0, MAX_DEPTH as f64, "the depth of the bugs that are looked for; 0: the largest whose guarantee is good enough"),
        Parameter::whole("r", 10.0, 1.0, 1e9, "the radius: the most steps between two events of a bug; the paper has 10 and 50"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which the first change point is drawn; 0: learned from earlier runs"),
        depth::CONFIDENCE,
        depth::RUNS,
        depth::TRIES,
    ]
);

/// Where the parameters of the depth rule stand.
pub const RULE: depth::Rule = depth::Rule { depth: 0, confidence: 3, runs: 4, tries: 5 };

/// The RPro scheduler. Valid when zeroed.
#[repr(C)]
pub struct Rpro {
    rng: Rng,
    depth: usize,
    next_change: u64,
    change: [u64; MAX_DEPTH],
    threads: Priorities,
}

impl Rpro {
    #[inline(always)]
    fn passed(&mut self, step: u64, t: ThreadId) {
        if step == self.next_change {
            self.change_at(step, t);
        }
    }

    #[cold]
    fn change_at(&mut self, step: u64, t: ThreadId) {
        for i in 1..self.depth {
            if self.change[i - 1] == step {
                self.threads.set(t, (self.depth - i) as i64);
            }
        }
        self.find_next_change(step);
    }

    fn find_next_change(&mut self, after: u64) {
        let points = &self.change[..self.depth - 1];
        self.next_change = points.iter().copied().filter(|&k| k > after).min().unwrap_or(u64::MAX);
    }

    /// Draws the change points: which of them comes first is drawn too, because the priority that a thread gets
    /// goes by the number of the change point.
    fn draw_changes(&mut self, k: u64, radius: u64) {
        let changes = self.depth - 1;
        if changes == 0 {
            return self.find_next_change(0);
        }
        let first = 1 + self.rng.below(k);
        let earliest = self.rng.below(changes as u64) as usize;
        for i in 0..changes {
            self.change[i] = if i == earliest { first } else { first + 1 + self.rng.below(radius) };
        }
        self.find_next_change(0);
    }
}

impl Policy for Rpro {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        let radius = run.parameters[1] as u64;
        let k = match run.parameters[2] as u64 {
            0 if run.profile.steps == 0 => FIRST_K,
            0 => run.profile.steps,
            k => k,
        };
        let depth = match run.parameters[0] as usize {
            0 => depth::largest(run.profile.threads.max(2), k, radius, run.parameters[RULE.tries]),
            depth => depth,
        };
        self.depth = depth.clamp(1, MAX_DEPTH);
        self.draw_changes(k, radius.max(1));
        self.threads.start();
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        self.threads.follow(point.enabled, &mut self.rng);
        if point.opened {
            self.passed(point.step, point.current);
        }
        let chosen = self.threads.winner().unwrap_or(point.current);
        self.passed(point.step + 1, chosen);
        chosen
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        if self.threads.winner() != Some(current) {
            return 0;
        }
        self.next_change.saturating_sub(steps + 1).min(most)
    }

    fn lower(&mut self, t: ThreadId) {
        self.threads.lower(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn two_changes_within_the_radius_are_likelier_than_under_pct() {
        // Thread 0 is to stop after its 20th step for one step of thread 1, which is to end after thread 0: depth 3,
        // n = 2, k = 100. PCT's bound is 1/(2·100²), that of radius 4 is 1/(2·2·100·4).
        let program = toy::Program::straight(&[98, 2]);
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<Rpro> = unsafe { Box::new(core::mem::zeroed()) };
        let runs = 60_000;
        let found = (0..runs)
            .filter(|&seed| {
                let s = toy::run(&mut *policy, &program, seed, &[3.0, 4.0, 100.0, 0.95, 0.0, 0.0]).schedule;
                s[..20] == [0; 20] && s[20] == 1 && s[99] == 1
            })
            .count() as f64;
        let bound = runs as f64 / 1600.0;
        // 99.9%, one-sided.
        assert!(found > bound - 3.1 * bound.sqrt(), "{found} of {bound}");
        assert!(found > 8.0 * runs as f64 / 20_000.0, "{found}");
    }
}
