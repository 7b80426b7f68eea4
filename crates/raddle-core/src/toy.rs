//! Toy programs in memory, to test policies without a process.

use crate::enabled::EnabledSet;
use crate::event::{Event, EventKind};
use crate::lessons::Lessons;
use crate::policy::{Descriptor, Point, Policy, Profile, Run};
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
    /// End the process.
    Exit,
}

/// Threads that are all there from the start, each a list of operations.
#[derive(Clone, Debug)]
pub struct Program {
    /// The operations, by thread.
    pub threads: Vec<Vec<Op>>,
}

impl Program {
    /// Threads with these numbers of plain steps.
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

/// A policy on the heap. It stays there: a test needs few.
pub fn built(descriptor: &Descriptor) -> Box<dyn Policy> {
    // SAFETY: zeroed memory of the policy's layout, which is given back by the box's drop with the same layout.
    unsafe { Box::from_raw((descriptor.build)(std::alloc::alloc_zeroed(descriptor.layout))) }
}

/// Nothing is known of earlier runs.
pub const UNKNOWN: Known<'static> =
    Known { profile: Profile { steps: 0, threads: 0, points: 0, phase: 0, first: 0, delay_points: 0 }, lessons: None };

/// What is known of earlier runs.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// See [`Run::profile`].
    pub profile: Profile,
    /// See [`Run::lessons`].
    pub lessons: Option<&'a Lessons>,
}

/// Runs a toy program under a policy.
pub fn run<P: Policy>(policy: &mut P, program: &Program, seed: u64, parameters: &[f64]) -> Outcome {
    run_with(policy, program, seed, parameters, UNKNOWN, |_, _| {})
}

/// Runs a toy program under a policy as long as its schedule so far is of interest.
pub fn run_while<P: Policy>(
    policy: &mut P,
    program: &Program,
    seed: u64,
    parameters: &[f64],
    known: Known<'_>,
    mut interesting: impl FnMut(&[usize]) -> bool,
) -> Outcome {
    run_fully(policy, program, seed, parameters, known, |_, _| {}, |s| interesting(s))
}

/// Runs a toy program under a policy; `before` is called before each decision.
pub fn run_with<P: Policy>(
    policy: &mut P,
    program: &Program,
    seed: u64,
    parameters: &[f64],
    known: Known<'_>,
    before: impl FnMut(&mut P, &Point<'_>),
) -> Outcome {
    run_fully(policy, program, seed, parameters, known, before, |_| true)
}

fn run_fully<P: Policy>(
    policy: &mut P,
    program: &Program,
    seed: u64,
    parameters: &[f64],
    known: Known<'_>,
    mut before: impl FnMut(&mut P, &Point<'_>),
    mut interesting: impl FnMut(&[usize]) -> bool,
) -> Outcome {
    let lessons = known.lessons.unwrap_or(Lessons::none());
    policy.start(&Run { number: seed + 1, seed, parameters, profile: known.profile, lessons });
    let n = program.threads.len();
    (1..n).for_each(|t| policy.created(ThreadId::MAIN, ThreadId(t as u16)));
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
                Some(Op::Step | Op::Unlock(_) | Op::Exit) => true,
                Some(Op::Lock(l)) => holder[*l].is_none(),
                Some(Op::Join(j)) => at[*j] == program.threads[*j].len(),
            };
            pending[t] = match op {
                Some(Op::Lock(l)) => Event::new(EventKind::Lock, l + 1),
                Some(Op::Unlock(l)) => Event::new(EventKind::Unlock, l + 1),
                Some(Op::Exit) => Event::new(EventKind::ProcessExit, 0),
                _ => Event::new(EventKind::Syscall, 0),
            };
            enabled.set(ThreadId(t as u16), ready);
        }
        if enabled.is_empty() || !interesting(&outcome.schedule) {
            outcome.deadlock = (0..n).any(|t| at[t] < program.threads[t].len());
            policy.end();
            return outcome;
        }
        let chosen = if enabled.len() == 1 {
            alone = true;
            if policy.sees_every_point() {
                let (step, points) = (outcome.steps, outcome.schedule.len() as u64 + 1);
                let opened = false;
                policy.no_choice(&Point {
                    current,
                    enabled: &enabled,
                    pending: &pending,
                    spins: 0,
                    step,
                    opened,
                    points,
                });
            }
            enabled.nth(0).expect("one thread is enabled")
        } else {
            let opened = core::mem::take(&mut alone);
            outcome.steps += u64::from(opened);
            let (step, points) = (outcome.steps, outcome.schedule.len() as u64 + 1);
            let point = Point { current, enabled: &enabled, pending: &pending, spins: 0, step, opened, points };
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
            Op::Step | Op::Join(_) | Op::Exit => {}
        }
        let exits = program.threads[t][at[t]] == Op::Exit;
        at[t] += 1;
        outcome.schedule.push(t);
        current = chosen;
        if exits {
            policy.end();
            return outcome;
        }
    }
}
