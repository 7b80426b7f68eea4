//! Delay bounding with random delays: a deterministic schedule, but for a few delays at random steps.
//!
//! The sampling sister of [`super::idb`] (Emmi, Qadeer, Rakamarić, POPL'11). The scheduler goes round-robin over the ids
//! and preempts nobody: the current thread goes on; when it cannot, or has just done something without progress, the
//! next one that can follows. A delay skips the thread whose turn it is. There are so many of them, drawn before the
//! run among the k steps. Many bugs need one: with n delays in k steps a bug of n delays has a probability of at least
//! 1/k^n in each run, whatever the number of threads is.
//!
//! k is learned, as for [`super::pct`].

use super::changes;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// The most delays.
const MOST: usize = 64;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed DelayBound,
    name: "delay-bound",
    summary: "a deterministic schedule, but for a number of delays at random steps",
    source: "after Emmi et al., POPL'11",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("n", 1.0, 0.0, MOST as f64, "the number of delays"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which they are drawn; 0: learned from earlier runs"),
    ]
);

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct DelayBound {
    delays: usize,
    at: [u64; MOST],
}

/// The enabled thread whose turn comes after this one's.
fn next(point: &Point<'_>, t: ThreadId) -> ThreadId {
    point.enabled.after(t).or(point.enabled.nth(0)).unwrap_or(t)
}

impl Policy for DelayBound {
    fn start(&mut self, run: &Run<'_>) {
        let mut rng = Rng::new(run.seed);
        self.delays = (run.parameters[0] as usize).min(MOST);
        let k = changes::steps(run.parameters[1], run.profile.steps);
        self.at[..self.delays].fill_with(|| rng.below(k));
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let stays = point.enabled.contains(point.current) && point.spins == 0;
        let turn = if stays { point.current } else { next(point, point.current) };
        let delays = self.at[..self.delays].iter().filter(|at| **at == point.step).count();
        (0..delays).fold(turn, |turn, _| next(point, turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;
    use std::collections::HashSet;

    fn schedules(threads: &[usize], delays: f64, k: f64) -> HashSet<Vec<usize>> {
        let program = toy::Program::straight(threads);
        let mut policy = toy::built(&DESCRIPTOR);
        (0..2_000).map(|seed| toy::run(&mut policy, &program, seed, &[delays, k]).schedule).collect()
    }

    #[test]
    fn without_delays_there_is_one_schedule() {
        assert_eq!(schedules(&[2, 3, 1], 0.0, 6.0), HashSet::from([vec![0, 0, 1, 1, 1, 2]]));
    }

    #[test]
    fn a_delay_skips_one_thread() {
        let expected = [
            // Before each step but the last three, where nobody else is left, or is skipped to.
            vec![1, 1, 1, 2, 0, 0],
            vec![0, 1, 1, 1, 2, 0],
            vec![0, 0, 2, 1, 1, 1],
            vec![0, 0, 1, 2, 1, 1],
            vec![0, 0, 1, 1, 2, 1],
            vec![0, 0, 1, 1, 1, 2],
        ];
        assert_eq!(schedules(&[2, 3, 1], 1.0, 6.0), HashSet::from(expected));
    }

    #[test]
    fn two_delays_at_one_step_skip_two_threads() {
        let two = schedules(&[1, 1, 1], 2.0, 3.0);
        assert!(two.contains(&vec![2, 0, 1]), "{two:?}");
    }
}
