//! PPCT: parallel PCT (Nagarakatte, Burckhardt, Martin, Musuvathi, PLDI'12, figure 4).
//!
//! One thread, any with the same probability, starts in the low set with priority d; all others are high. High threads
//! run freely, in parallel. A low thread takes a step only while no high thread is enabled and no other low one of a
//! higher priority is; and not before the last step of another thread has come to its end, so that a thread which a
//! change point lowers is low when its step is over, not while it lasts. Steps are counted over all threads; the thread
//! that takes step k_i becomes low with priority d−i. A bug of depth d is found with probability at least 1/(n·k^(d−1))
//! in each run, whatever the kernel does with the high threads.
//!
//! Deviations:
//! - n is not known when a run starts. The low thread is drawn by reservoir sampling over the threads in the order
//!   of their creation: the first n are drawn from at once, n being what earlier runs showed, or the parameter `n`,
//!   or 1; a thread that comes as number m > n takes the place of the low one with probability 1/m, and that one
//!   becomes high again. So each of m threads is the one that stays low with probability 1/m.
//!
//! The paper's proof (section 6.5) still holds. Let T be the thread of b_1. What its Lemma 10 needs is that T is low
//! when b_1 comes, with probability 1/n: the draws are independent of everything before them, so that is the
//! probability that T wins and no thread after it does, and a thread that wins for good is low from its creation on.
//! What its Lemma 12 needs is that a thread about to take b_i is never preferred to an enabled thread t' that would not
//! violate the directive, unless t' stands before a later b_j itself. A thread X that is low for a while, before T is
//! created, has priority d, above all that change points give; a thread about to take b_i with i ≥ 2 has priority d−i+1
//! < d, so X is preferred to it; and b_1 itself cannot come before T exists. With n known beforehand, the order of
//! creation must not depend on which thread is low, as in the paper, where threads have fixed numbers (that of threads
//! which several threads create may); with n = 1 it may.
//! - Steps are counted as [`Point::step`] says, and k is learned or given, as in `pct`.
//! - Starvation (section 5.5): when a high thread spins, or at any point with a small probability, or when no thread
//!   has passed a point for `patience`, a low thread that could go on, drawn at random, takes one step. The starvation
//!   guard's settings say how often, and what it does is counted, since the guarantee is void in such a run.

use crate::policies::change_points::{self, MAX_DEPTH};
use crate::policy::{Descriptor, Kind, Learns, ParallelPoint, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::{ThreadId, MAX_THREADS};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Ppct,
    name: "ppct",
    summary: "as pct, but all threads run in parallel except the at most d of low priority; the same guarantee",
    source: "Nagarakatte et al., PLDI'12",
    kind: Kind::Parallel,
    learns: Learns::Steps,
    parameters: &[
        Parameter::whole("d", 3.0, 1.0, MAX_DEPTH as f64, "the depth of the bugs to look for"),
        Parameter::whole("k", 0.0, 0.0, 1e15, "the number of steps among which change points are drawn; 0: learned from earlier runs"),
        Parameter::whole("n", 0.0, 0.0, MAX_THREADS as f64, "the number of threads among which the first low one is drawn; 0: learned from earlier runs"),
        Parameter::whole("patience", 1000.0, 1.0, 1e6, "milliseconds without a schedule point after which a low thread takes a step anyway"),
    ]
);

/// The priority of threads that are not low; low ones have 1 to d.
const HIGH: u8 = 0;

/// The PPCT scheduler. Valid when zeroed.
#[repr(C)]
pub struct Ppct {
    rng: Rng,
    depth: usize,
    /// Threads among which the first low one was drawn.
    drawn_from: usize,
    /// The one that was drawn last, whether it exists yet or not.
    drawn: usize,
    /// The smallest k_i that is still to come.
    next_change: u64,
    patience: u64,
    /// Threads with higher ids are high.
    seen: usize,
    /// `change[i - 1]` is k_i.
    change: [u64; MAX_DEPTH],
    priority: [u8; MAX_THREADS],
}

impl Ppct {
    /// A policy on the heap, for tests that need no process.
    #[cfg(test)]
    pub(crate) fn boxed() -> Box<Ppct> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    fn set(&mut self, t: ThreadId, priority: u8) {
        self.seen = self.seen.max(t.index() + 1);
        self.priority[t.index()] = priority;
    }

    /// A thread comes into being: is it the low one?
    fn arrives(&mut self, t: ThreadId) {
        let number = t.index() + 1;
        if number > self.drawn_from && self.rng.below(number as u64) == 0 {
            // A change point may have made the former one low for another reason.
            let former = self.drawn;
            if self.priority[former] == self.depth as u8 {
                self.priority[former] = HIGH;
            }
            self.drawn = t.index();
        }
        // Ids are used again when a run makes very many threads.
        self.set(t, if t.index() == self.drawn { self.depth as u8 } else { HIGH });
    }

    fn find_next_change(&mut self, after: u64) {
        let points = &self.change[..self.depth - 1];
        self.next_change = points.iter().copied().filter(|&k| k > after).min().unwrap_or(u64::MAX);
    }
}

impl Policy for Ppct {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.depth = (run.parameters[0] as usize).clamp(1, MAX_DEPTH);
        let k = change_points::steps(run.parameters[1], run.profile.steps);
        self.drawn_from = match run.parameters[2] as usize {
            0 => (run.profile.threads as usize).clamp(1, MAX_THREADS),
            n => n,
        };
        self.patience = run.parameters[3] as u64 * 1_000_000;
        for i in 0..self.depth - 1 {
            self.change[i] = 1 + self.rng.below(k);
        }
        self.find_next_change(0);
        self.priority[..self.seen].fill(HIGH);
        self.seen = 0;
        self.drawn = self.rng.below(self.drawn_from as u64) as usize;
        self.arrives(ThreadId::MAIN);
    }

    fn created(&mut self, _parent: ThreadId, child: ThreadId) {
        self.arrives(child);
    }

    /// Where threads take turns, chance stands for the kernel, which may run any high thread.
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        if point.opened {
            self.step_taken(point.current, point.step);
        }
        let parallel = ParallelPoint { enabled: point.enabled, others_run: false };
        let admitted = point.enabled.iter().filter(|t| self.may_run(*t, &parallel)).count() as u64;
        let k = self.rng.below(admitted.max(1)) as usize;
        let may_run = |t: &ThreadId| self.may_run(*t, &parallel);
        let chosen = point.enabled.iter().filter(may_run).nth(k).unwrap_or(point.current);
        self.step_taken(chosen, point.step + 1);
        chosen
    }

    fn may_run(&self, thread: ThreadId, point: &ParallelPoint<'_>) -> bool {
        let mine = self.priority[thread.index()];
        let below = |t: ThreadId| (HIGH + 1..=mine).contains(&self.priority[t.index()]);
        mine == HIGH || !point.others_run && point.enabled.iter().all(below)
    }

    fn step_taken(&mut self, thread: ThreadId, step: u64) {
        if step != self.next_change {
            return;
        }
        for i in 1..self.depth {
            if self.change[i - 1] == step {
                // Several change points on one step: the last one counts, as in the paper's loop.
                self.set(thread, (self.depth - i) as u8);
            }
        }
        self.find_next_change(step);
    }

    fn spreads_over_cores(&self) -> bool {
        true
    }

    fn patience(&self) -> u64 {
        self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::EnabledSet;
    use crate::lessons::Lessons;
    use crate::policy::Profile;
    use crate::toy;

    const RUNS: u64 = 20_000;

    /// Parameters: depth and k, n as given, the rest as by default.
    fn parameters(depth: usize, k: u64, n: u64) -> [f64; 4] {
        [depth as f64, k as f64, n as f64, 1000.0]
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
    fn every_thread_is_the_low_one_equally_often() {
        // Six threads; n is unknown, too small, right, or too large: then those that never come are drawn as well.
        for (n, drawn_from) in [(0, 6), (1, 6), (4, 6), (6, 6), (9, 9)] {
            let mut low = [0u32; 6];
            let mut policy = Ppct::boxed();
            for seed in 0..RUNS {
                let (profile, lessons) = (Profile::default(), Lessons::none());
                policy.start(&Run { number: 1, seed, parameters: &parameters(2, 10, n), profile, lessons });
                (1..6).for_each(|t| policy.created(ThreadId::MAIN, ThreadId(t)));
                let lows: Vec<_> = (0..6).filter(|&t| policy.priority[t] != HIGH).collect();
                assert!(lows.len() <= 1, "{lows:?}");
                lows.into_iter().for_each(|t| low[t] += 1);
            }
            let rate = 1.0 / f64::from(drawn_from);
            for count in low.map(f64::from) {
                assert!(count > floor(rate) && count < ceiling(rate), "n = {n}: {low:?}");
            }
        }
    }

    #[test]
    fn the_low_thread_runs_last() {
        // Depth 1: the drawn thread takes its first step when all others are done, whatever these do.
        let program = toy::Program::straight(&[5, 5, 5]);
        let mut policy = Ppct::boxed();
        let mut last = [0u32; 3];
        for seed in 0..RUNS {
            let run = toy::run(&mut *policy, &program, seed, &parameters(1, 15, 0));
            let low = policy.drawn;
            assert!(run.schedule[10..].iter().all(|&t| t == low), "{run:?}");
            last[low] += 1;
        }
        let in_bounds = |count: &u32| f64::from(*count) > floor(1.0 / 3.0) && f64::from(*count) < ceiling(1.0 / 3.0);
        assert!(last.iter().all(in_bounds), "{last:?}");
    }

    /// How often thread 1 runs wholly between steps 3 and 4 of thread 0: depth 2.
    fn caught(adversary: fn(&mut Rng, &[ThreadId]) -> ThreadId) -> f64 {
        /// PPCT in the hands of another kernel.
        struct Kernel(Box<Ppct>, Rng, fn(&mut Rng, &[ThreadId]) -> ThreadId);
        impl Policy for Kernel {
            fn start(&mut self, run: &Run<'_>) {
                self.0.start(run);
                self.1 = Rng::new(run.seed + 1);
            }
            fn created(&mut self, parent: ThreadId, child: ThreadId) {
                self.0.created(parent, child);
            }
            fn choose(&mut self, point: &Point<'_>) -> ThreadId {
                let parallel = ParallelPoint { enabled: point.enabled, others_run: false };
                let admitted: Vec<_> = point.enabled.iter().filter(|t| self.0.may_run(*t, &parallel)).collect();
                let chosen = (self.2)(&mut self.1, &admitted);
                self.0.step_taken(chosen, point.step + 1);
                chosen
            }
        }
        let program = toy::Program::straight(&[10, 2]);
        let mut policy = Kernel(Ppct::boxed(), Rng::new(0), adversary);
        let found = |seed: &u64| {
            let s = toy::run(&mut policy, &program, *seed, &parameters(2, 12, 0)).schedule;
            s[..3] == [0, 0, 0] && s[3..5] == [1, 1]
        };
        (0..RUNS).filter(found).count() as f64
    }

    #[test]
    fn the_bound_holds_whatever_the_kernel_does() {
        // n = 2, k = 12: the guarantee is 1/24. Thread 1 is low and thread 0 becomes so at its third step.
        let guaranteed = floor(1.0 / 24.0);
        let any = caught(|rng, admitted| admitted[rng.below(admitted.len() as u64) as usize]);
        let (first, last) = (caught(|_, admitted| admitted[0]), caught(|_, admitted| admitted[admitted.len() - 1]));
        assert!(any > guaranteed && first > guaranteed && last > guaranteed, "{any} {first} {last}");
    }

    #[test]
    fn lower_ones_wait_for_higher_ones() {
        let mut policy = Ppct::boxed();
        let (profile, lessons) = (Profile::default(), Lessons::none());
        policy.start(&Run { number: 1, seed: 1, parameters: &parameters(3, 100, 9), profile, lessons });
        policy.priority = [HIGH; MAX_THREADS];
        (policy.priority[1], policy.priority[2]) = (3, 1);
        let set = |threads: &[u16]| {
            let mut enabled = EnabledSet::new();
            threads.iter().for_each(|&t| _ = enabled.set(ThreadId(t), true));
            enabled
        };
        let may = |t, threads: &[u16], others_run| {
            policy.may_run(ThreadId(t), &ParallelPoint { enabled: &set(threads), others_run })
        };
        assert!(may(0, &[0, 1, 2], true) && !may(1, &[0, 1, 2], false) && !may(2, &[0, 1, 2], false));
        assert!(may(1, &[1, 2], false) && !may(2, &[1, 2], false) && may(2, &[2], false));
        // The other one has not come to the end of its step.
        assert!(!may(1, &[1, 2], true));
    }
}
