//! Delay bounding with random delays: a deterministic schedule, except for a few delays at random steps.
//!
//! The sampling sister of [`super::idb`] (Emmi, Qadeer, Rakamarić, POPL'11). The scheduler goes round-robin over the
//! ids and preempts no thread: the current thread goes on; when it cannot, or has just done something without progress,
//! the next one that can follows. A delay skips the thread whose turn it is. Their number and steps are drawn before
//! the run among the k steps. Many bugs need one: with n delays in k steps a bug of n delays has a probability of at
//! least 1/k^n in each run, whatever the number of threads is.
//!
//! Delays may be drawn close to the end, or to the beginning, of the run: then their distance from it is drawn so that
//! each doubling of it is equally likely.
//!
//! A depth-first search changes the last decision of its first run first, and finds some bugs there at once. With
//! `points=last` so does this policy: the first delay is at the last step with probability 1/2, at the one before with
//! 1/4, and so on; each further one follows the one before it within `SOON` steps. The last step is that of the
//! campaign's first run, which is made without delays for that; in a portfolio the first run is made without delays,
//! too.
//!
//! With `final-wait=on` the main thread does not end the process while another one can run, as for [`super::pct`]: that
//! is no delay.
//!
//! k is learned, as for [`super::pct`].

use super::change_points;
use crate::event::EventKind;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// The most delays.
const MOST: usize = 64;

/// With `points=last`: the next delay comes within this many steps.
const SOON: u64 = 16;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed DelayBound,
    name: "delay-bound",
    summary: "a deterministic schedule, except for a number of delays at random steps",
    source: "after Emmi et al., POPL'11",
    kind: Kind::Sampling,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("n", 1.0, 0.0, MOST as f64, "the number of delays"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which they are drawn; 0: learned from earlier runs"),
        Parameter::choice("points", 0, &["uniform", "early", "late", "last"], "where they are likely: anywhere, near the beginning, near the end, or at the last steps of the first run"),
        Parameter::switch("final-wait", false, "whether the main thread ends the process only when no other thread can run"),
    ]
);

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct DelayBound {
    delays: usize,
    at: [u64; MOST],
    final_wait: bool,
}

/// A number below k, each doubling of it equally likely.
fn small(rng: &mut Rng, k: u64) -> u64 {
    let doublings = 64 - k.leading_zeros();
    let from = (1 << rng.below(doublings.max(1).into())) - 1;
    let below = (2 * from + 1).min(k);
    from + rng.below((below - from).max(1))
}

/// The value of `points=last`.
const LAST: u32 = 3;

impl DelayBound {
    fn draw_last(&mut self, run: &Run<'_>, rng: &mut Rng) {
        let k = match run.parameters[1] as u64 {
            0 => run.profile.first,
            k => k,
        };
        if k == 0 {
            self.delays = 0;
        }
        let mut at = k.saturating_sub(1 + u64::from(rng.next_u64().trailing_ones()));
        for delay in &mut self.at[..self.delays] {
            *delay = at;
            at += 1 + rng.below(SOON);
        }
    }
}

impl Policy for DelayBound {
    fn start(&mut self, run: &Run<'_>) {
        let mut rng = Rng::new(run.seed);
        self.delays = (run.parameters[0] as usize).min(MOST);
        self.final_wait = run.parameters[3] != 0.0;
        if run.parameters[2] as u32 == LAST {
            return self.draw_last(run, &mut rng);
        }
        let k = change_points::steps(run.parameters[1], run.profile.steps);
        self.at[..self.delays].fill_with(|| match run.parameters[2] as u32 {
            0 => rng.below(k),
            1 => small(&mut rng, k),
            _ => k - 1 - small(&mut rng, k),
        });
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let delays = self.at[..self.delays].iter().filter(|at| **at == point.step).count();
        let chosen = (0..delays).fold(point.unpreempted(), |turn, _| point.next_turn(turn));
        let ends = self.final_wait && chosen == ThreadId::MAIN && point.pending[0].kind == EventKind::ProcessExit;
        if ends {
            point.next_turn(chosen)
        } else {
            chosen
        }
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
        (0..2_000).map(|seed| toy::run(&mut policy, &program, seed, &[delays, k, 0.0, 0.0]).schedule).collect()
    }

    #[test]
    fn without_delays_there_is_one_schedule() {
        assert_eq!(schedules(&[2, 3, 1], 0.0, 6.0), HashSet::from([vec![0, 0, 1, 1, 1, 2]]));
    }

    #[test]
    fn a_delay_skips_one_thread() {
        let expected = [
            // Before each step except for the last three, where no other thread is left, or is skipped to.
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
    fn near_the_beginning_and_the_end() {
        let mut rng = Rng::new(1);
        for k in [1, 2, 3, 7, 8, 100] {
            let mut seen = vec![0u32; k as usize];
            (0..20_000).for_each(|_| seen[small(&mut rng, k) as usize] += 1);
            assert!(seen.iter().all(|&n| n > 0), "{k}: {seen:?}");
            // 0, 1–2, 3–6, …, and what is left of the last doubling.
            let doublings = f64::from(64 - k.leading_zeros());
            let expected = 20_000.0 / doublings;
            assert!((f64::from(seen[0]) - expected).abs() < 6.0 * expected.sqrt(), "{k}: {seen:?}");
        }
    }

    #[test]
    fn at_the_last_steps_of_the_first_run() {
        let program = toy::Program::straight(&[6, 1]);
        let mut policy = toy::built(&DESCRIPTOR);
        let mut run = |seed, first| {
            let profile = crate::policy::Profile { steps: 7, first, ..Default::default() };
            let known = toy::Known { profile, lessons: None };
            toy::run_with(&mut policy, &program, seed, &[1.0, 0.0, 3.0, 0.0], known, |_, _| {}).schedule
        };
        assert_eq!(run(1, 0), [0, 0, 0, 0, 0, 0, 1], "nothing is known: the first run");
        // The last of six counted steps is the sixth of thread 0: it is delayed in half of the runs.
        let seen: Vec<usize> = (0..2_000).map(|seed| run(seed, 6).iter().position(|&t| t == 1).unwrap()).collect();
        for (at, expected) in [(5, 1_000), (4, 500), (3, 250), (0, 63)] {
            let times = seen.iter().filter(|&&it| it == at).count();
            // Five standard deviations.
            assert!(times.abs_diff(expected) as f64 <= 5.0 * (expected as f64).sqrt(), "{at}: {times}");
        }
    }

    #[test]
    fn main_ends_the_process_last() {
        use toy::Op::{Exit, Step};
        let program = toy::Program { threads: vec![vec![Step, Exit], vec![Step; 3], vec![Step]] };
        let mut policy = toy::built(&DESCRIPTOR);
        let mut run = |seed, wait| toy::run(&mut policy, &program, seed, &[1.0, 4.0, 0.0, wait]).schedule;
        for seed in 0..200 {
            let (soon, late) = (run(seed, 0.0), run(seed, 1.0));
            assert!(soon.last() == Some(&0) && late.last() == Some(&0));
            // What comes before is the same until main would end it.
            assert!(late.len() == 6 && late[..soon.len() - 1] == soon[..soon.len() - 1], "{soon:?} {late:?}");
        }
        let short = (0..200).filter(|&seed| run(seed, 0.0).len() < 6).count();
        assert!(short > 100, "{short}");
    }

    #[test]
    fn two_delays_at_one_step_skip_two_threads() {
        let two = schedules(&[1, 1, 1], 2.0, 3.0);
        assert!(two.contains(&vec![2, 0, 1]), "{two:?}");
    }
}
