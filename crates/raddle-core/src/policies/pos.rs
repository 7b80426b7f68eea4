//! POS: partial order sampling (Yuan, Yang, Gu, CAV'18).
//!
//! Every pending event has a random priority, and the enabled one of the highest runs. After an event ran, its
//! thread's next event gets a fresh priority, and so does every pending event whose order with it matters: the same
//! object, and one of the two changes it. Locks and conditions count as well as memory; without them the algorithm
//! would come down to random priorities.
//!
//! A policy is not asked while one thread alone is enabled. That thread has a new event afterwards, and the others were
//! enabled by an event that conflicts with their own, or have just been created, or were woken by time: so all that are
//! enabled draw anew when such a stretch ends.

use super::priorities::{self, Priorities};
use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Pos,
    name: "pos",
    summary: "random priorities for events, drawn anew for those that conflict with the one that ran",
    source: "Yuan et al., CAV'18",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[]
);

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct Pos {
    rng: Rng,
    threads: Priorities,
}

impl Policy for Pos {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.threads.start();
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        self.threads.follow(point.enabled, &mut self.rng);
        if point.opened {
            point.enabled.iter().for_each(|t| self.threads.set(t, priorities::random(&mut self.rng)));
        }
        let chosen = self.threads.winner().unwrap_or(point.current);
        let event = point.pending[chosen.index()];
        self.threads.set(chosen, priorities::random(&mut self.rng));
        if event.object != 0 {
            for (i, pending) in point.pending.iter().enumerate() {
                let t = ThreadId(i as u16);
                if t != chosen && pending.conflicts(&event) {
                    self.threads.set(t, priorities::random(&mut self.rng));
                }
            }
        }
        chosen
    }

    fn lower(&mut self, t: ThreadId) {
        self.threads.lower(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{self, Op};

    fn pos() -> Box<Pos> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[test]
    fn the_orders_of_two_conflicting_events_are_equally_likely() {
        // However long the way to the only conflict is: each thread is first at the lock in half of the runs, where
        // a random walk would give the short one nearly all of them.
        let program = toy::Program {
            threads: vec![
                [vec![Op::Step; 20], vec![Op::Lock(0), Op::Unlock(0)]].concat(),
                vec![Op::Lock(0), Op::Unlock(0)],
            ],
        };
        let mut policy = pos();
        let mut walk = crate::policies::random::Random::default();
        let mut long_first = [0, 0];
        for seed in 0..4_000 {
            let first = |s: &[usize]| s.iter().position(|t| *t == 1).is_some_and(|at| at >= 21);
            long_first[0] += u32::from(first(&toy::run(&mut *policy, &program, seed, &[]).schedule));
            long_first[1] += u32::from(first(&toy::run(&mut walk, &program, seed, &[]).schedule));
        }
        assert!(long_first[0] > 4_000 / 25 && long_first[1] == 0, "{long_first:?}");
    }

    #[test]
    fn a_stretch_of_one_thread_alone_draws_anew() {
        // Thread 1 is ahead of thread 0 until it blocks. When thread 0 has given the lock back, both are equally
        // likely to be next.
        let holder = vec![Op::Lock(0), Op::Step, Op::Unlock(0), Op::Step, Op::Step];
        let waiter = vec![Op::Step, Op::Step, Op::Step, Op::Lock(0), Op::Unlock(0)];
        let program = toy::Program { threads: vec![holder, waiter] };
        let mut policy = pos();
        let next = (0..20_000).map(|seed| toy::run(&mut *policy, &program, seed, &[]).schedule);
        let next: Vec<usize> = next.filter(|s| s[..6] == [0, 1, 1, 1, 0, 0]).map(|s| s[6]).collect();
        let (holders, all) = (next.iter().filter(|t| **t == 0).count() as f64, next.len() as f64);
        // Five standard deviations.
        assert!(all > 500.0 && (holders - all / 2.0).abs() < 5.0 * (all / 4.0).sqrt(), "{holders} of {all}");
    }
}
