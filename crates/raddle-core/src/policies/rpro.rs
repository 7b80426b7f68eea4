//! RPro: PCT with a radius (Cai and Yang, ASE'16; a baseline of the stride paper).
//!
//! The radius r is the largest distance, in steps, between two events of a bug. The first change point is uniform
//! over all k steps, the others over the r steps that follow it, so that a bug of depth d within the radius is found
//! with probability of about 1/(n·k·r^(d−2)).
//!
//! Deviations: as for [`super::pct`]. Which of the d−1 change points comes first is drawn as well: a fixed one would
//! never find a bug whose constraints come in another order. So the bound that we can prove is
//! 1/((d−1)·n·k·r^(d−2)). `d=0`, the default, is the depth rule of the stride paper's section V.B.

use super::change_points::{self, ChangePoints, MAX_DEPTH};
use super::depth;
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
        Parameter::whole("d", 0.0, 0.0, MAX_DEPTH as f64, "the depth of the bugs to look for; 0: the largest whose guarantee is good enough"),
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
    changes: ChangePoints,
    threads: Priorities,
}

impl Rpro {
    /// Draws the change points: which of them comes first is drawn too, because the priority that a thread gets
    /// goes by the number of the change point.
    fn draw_changes(&mut self, k: u64, radius: u64) {
        let (rng, changes) = (&mut self.rng, self.changes.count());
        if changes == 0 {
            return self.changes.draw(0, |_| 0);
        }
        let first = 1 + rng.below(k);
        let earliest = 1 + rng.below(changes as u64) as usize;
        self.changes.draw(0, |i| if i == earliest { first } else { first + 1 + rng.below(radius) });
    }
}

impl Policy for Rpro {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        let radius = run.parameters[1] as u64;
        let k = change_points::steps(run.parameters[2], run.profile.steps);
        let depth = match run.parameters[0] as usize {
            0 => depth::largest(run.profile.threads.max(2), k, radius, run.parameters[RULE.tries]),
            depth => depth,
        };
        self.changes.start(depth);
        self.draw_changes(k, radius.max(1));
        self.threads.start();
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        self.threads.follow(point.enabled, &mut self.rng);
        if point.opened {
            self.changes.passed(point.step, point.current, &mut self.threads);
        }
        let chosen = self.threads.winner().unwrap_or(point.current);
        self.changes.passed(point.step + 1, chosen, &mut self.threads);
        chosen
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
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
