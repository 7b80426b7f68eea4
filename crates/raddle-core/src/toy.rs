//! Toy programs in memory, to test policies without a process.

use crate::enabled::EnabledSet;
use crate::event::{Event, EventKind};
use crate::policy::{Point, Policy, Profile, Run};
use crate::thread::ThreadId;

/// One operation of a toy thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// An operation that is always possible.
    Step,
    /// Acquire lock number n.
    Lock(usize),
    /// Release lock number n.
    Unlock(usize),
    /// Wait until thread n has ended.
    Join(usize),
}

/// Threads that are all there from the start, each a list of operations.
#[derive(Clone, Debug)]
pub struct Program {
    /// The operations, by thread.
    pub threads: Vec<Vec<Op>>,
}

impl Program {
    /// Threads of so many plain steps.
    pub fn straight(lengths: &[usize]) -> Program {
        Program { threads: lengths.iter().map(|&n| vec![Op::Step; n]).collect() }
    }
}

/// What a toy run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The thread of every step, sequential stretches included.
    pub schedule: Vec<usize>,
    /// Counted steps.
    pub steps: u64,
    /// Whether threads were left that could not go on.
    pub deadlock: bool,
}

/// Runs a toy program under a policy.
pub fn run<P: Policy>(policy: &mut P, program: &Program, seed: u64, parameters: &[f64]) -> Outcome {
    run_with(policy, program, seed, parameters, |_, _| {})
}

/// Runs a toy program under a policy; `before` is called before each decision.
pub fn run_with<P: Policy>(
    policy: &mut P,
    program: &Program,
    seed: u64,
    parameters: &[f64],
    mut before: impl FnMut(&mut P, &Point<'_>),
) -> Outcome {
    policy.start(&Run { seed, parameters, profile: Profile::default() });
    let n = program.threads.len();
    let mut at = vec![0; n];
    let mut holder = [None; 16];
    let mut enabled = EnabledSet::new();
    let mut current = ThreadId::MAIN;
    let mut outcome = Outcome { schedule: Vec::new(), steps: 0, deadlock: false };
    let mut alone = false;
    loop {
        let mut pending = vec![Event::default(); n];
        for t in 0..n {
            let op = program.threads[t].get(at[t]);
            let ready = match op {
                None => false,
                Some(Op::Step | Op::Unlock(_)) => true,
                Some(Op::Lock(l)) => holder[*l].is_none(),
                Some(Op::Join(j)) => at[*j] == program.threads[*j].len(),
            };
            pending[t] = match op {
                Some(Op::Lock(l)) => Event::new(EventKind::Lock, l + 1),
                Some(Op::Unlock(l)) => Event::new(EventKind::Unlock, l + 1),
                _ => Event::new(EventKind::Syscall, 0),
            };
            enabled.set(ThreadId(t as u16), ready);
        }
        if enabled.is_empty() {
            outcome.deadlock = (0..n).any(|t| at[t] < program.threads[t].len());
            policy.end();
            return outcome;
        }
        let chosen = if enabled.len() == 1 {
            alone = true;
            enabled.nth(0).expect("one thread is enabled")
        } else {
            let opened = core::mem::take(&mut alone);
            outcome.steps += u64::from(opened);
            let point = Point { current, enabled: &enabled, pending: &pending, spins: 0, step: outcome.steps, opened };
            before(policy, &point);
            let chosen = policy.choose(&point);
            assert!(enabled.contains(chosen), "{chosen} is not enabled");
            enabled.settle();
            outcome.steps += 1;
            chosen
        };
        let t = chosen.index();
        match program.threads[t][at[t]] {
            Op::Lock(l) => holder[l] = Some(t),
            Op::Unlock(l) => holder[l] = None,
            Op::Step | Op::Join(_) => {}
        }
        at[t] += 1;
        outcome.schedule.push(t);
        current = chosen;
    }
}
