//! Small programs with locks, semaphores, conditions and variables, to test searches without a process: all their
//! schedules can be found by other means.

use std::collections::{BTreeMap, BTreeSet};

use super::independence::dependent;
use super::THREADS;
use crate::enabled::EnabledSet;
use crate::event::{Event, EventKind};
use crate::lessons::Lessons;
use crate::policy::{Explored, Point, Policy, Profile, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// A zeroed state on the heap, too large for a stack.
pub fn zeroed<T>() -> Box<T> {
    // SAFETY: the callers' types are documented as valid when zeroed, and are not of size zero.
    unsafe { Box::from_raw(std::alloc::alloc_zeroed(std::alloc::Layout::new::<T>()).cast()) }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Nothing that others see.
    Local,
    /// Something of which nothing is known.
    Unknown,
    /// Acquires a lock.
    Lock(usize),
    /// Releases a lock.
    Unlock(usize),
    /// Acquires the lock or skips as many operations.
    Try(usize, usize),
    /// Waits on a semaphore.
    Wait(usize),
    /// Posts to a semaphore.
    Post(usize),
    /// Waits on a condition with a lock.
    Sleep(usize, usize),
    /// Wakes all that wait on a condition.
    Wake(usize),
    /// Wakes one that waits on a condition.
    Signal(usize),
    /// Reads a variable.
    Load(usize),
    /// Writes a variable.
    Store(usize, u32),
    /// Adds to a variable, in one step.
    Add(usize, u32),
    /// Starts a thread.
    Create(usize),
    /// Waits until a thread has ended.
    Join(usize),
    /// Gives way and goes back to the load before it, unless the variable has the value.
    SpinUntil(usize, u32),
    /// Ends the whole program.
    Quit,
}

/// Threads. Those that no other thread creates are there from the start.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The operations, by thread.
    pub threads: Vec<Vec<Op>>,
    /// What the semaphores start with.
    pub semaphores: [u32; 4],
}

impl Program {
    /// Threads with these numbers of steps, which depend on each other.
    pub fn straight(lengths: &[usize]) -> Program {
        Program { threads: lengths.iter().map(|&n| vec![Op::Unknown; n]).collect(), ..Program::default() }
    }
}

/// A program on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    at: Vec<usize>,
    alive: Vec<bool>,
    /// Waits on a condition with a lock, or is to get the lock back.
    waits: Vec<Option<(usize, usize, bool)>>,
    holders: [Option<usize>; 4],
    semaphores: [u32; 4],
    variables: [u32; 4],
    /// What each thread has seen.
    seen: Vec<Vec<u32>>,
    spins: Vec<u32>,
    quit: bool,
}

impl State {
    fn new(program: &Program) -> State {
        let n = program.threads.len();
        let created: Vec<_> = program
            .threads
            .iter()
            .flatten()
            .filter_map(|op| if let Op::Create(t) = op { Some(*t) } else { None })
            .collect();
        State {
            at: vec![0; n],
            alive: (0..n).map(|t| !created.contains(&t)).collect(),
            waits: vec![None; n],
            holders: [None; 4],
            semaphores: program.semaphores,
            variables: [0; 4],
            seen: vec![Vec::new(); n],
            spins: vec![0; n],
            quit: false,
        }
    }

    fn op(&self, program: &Program, t: usize) -> Option<Op> {
        program.threads[t].get(self.at[t]).copied()
    }

    fn ended(&self, program: &Program, t: usize) -> bool {
        self.alive[t] && self.op(program, t).is_none() && self.waits[t].is_none()
    }

    fn event(&self, program: &Program, t: usize) -> Event {
        let new = Event::new;
        let (lock, semaphore, condition, variable) = (100, 200, 300, 400);
        if let Some((c, l, woken)) = self.waits[t] {
            return if woken {
                new(EventKind::Relock, lock + l)
            } else {
                Event::with(EventKind::CondWait, condition + c, (lock + l) as u32)
            };
        }
        match self.op(program, t) {
            None | Some(Op::Quit) => new(EventKind::ProcessExit, 0),
            Some(Op::Local) => new(EventKind::Fence, 0),
            Some(Op::Unknown) => new(EventKind::Syscall, 0),
            Some(Op::Lock(l)) => new(EventKind::Lock, lock + l),
            Some(Op::Try(l, _)) => new(EventKind::TryLock, lock + l),
            Some(Op::Unlock(l)) => new(EventKind::Unlock, lock + l),
            Some(Op::Wait(s)) => new(EventKind::SemWait, semaphore + s),
            Some(Op::Post(s)) => new(EventKind::SemPost, semaphore + s),
            Some(Op::Sleep(c, l)) => Event::with(EventKind::CondWait, condition + c, (lock + l) as u32),
            Some(Op::Wake(c)) => new(EventKind::CondBroadcast, condition + c),
            Some(Op::Signal(c)) => new(EventKind::CondSignal, condition + c),
            Some(Op::Load(v) | Op::SpinUntil(v, _)) => Event::with(EventKind::AtomicLoad, variable + 8 * v, 8),
            Some(Op::Store(v, _)) => Event::with(EventKind::AtomicStore, variable + 8 * v, 8),
            Some(Op::Add(v, _)) => Event::with(EventKind::AtomicModify, variable + 8 * v, 8),
            Some(Op::Create(_)) => new(EventKind::Create, 0),
            // A thread's end is part of its last operation, which nothing is known of.
            Some(Op::Join(_)) => new(EventKind::Syscall, 0),
        }
    }

    fn enabled(&self, program: &Program, t: usize) -> bool {
        if self.quit || !self.alive[t] {
            return false;
        }
        if let Some((_, l, woken)) = self.waits[t] {
            return woken && self.holders[l].is_none();
        }
        match self.op(program, t) {
            None => false,
            Some(Op::Lock(l)) => self.holders[l].is_none(),
            Some(Op::Wait(s)) => self.semaphores[s] > 0,
            Some(Op::Join(other)) => self.ended(program, other),
            Some(_) => true,
        }
    }

    /// The threads that a signal may wake, if the thread is about to give one.
    fn waiters(&self, program: &Program, t: usize) -> Vec<usize> {
        match self.op(program, t) {
            Some(Op::Signal(c)) if self.waits[t].is_none() => {
                let waits = |t: usize| matches!(self.waits[t], Some((condition, _, false)) if condition == c);
                (0..self.waits.len()).filter(|&t| waits(t)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn step(&mut self, program: &Program, t: usize, woken: Option<usize>) {
        if let Some((_, l, _)) = self.waits[t].take() {
            self.holders[l] = Some(t);
            self.at[t] += 1;
            return;
        }
        let op = self.op(program, t).expect("it is enabled");
        self.at[t] += 1;
        match op {
            Op::Local | Op::Unknown | Op::Join(_) => {}
            Op::Lock(l) => self.holders[l] = Some(t),
            Op::Unlock(l) => self.holders[l] = None,
            Op::Try(l, skip) => {
                let got = self.holders[l].is_none();
                self.seen[t].push(got.into());
                match got {
                    true => self.holders[l] = Some(t),
                    false => self.at[t] += skip,
                }
            }
            Op::Wait(s) => self.semaphores[s] -= 1,
            Op::Post(s) => self.semaphores[s] += 1,
            Op::Sleep(c, l) => {
                self.at[t] -= 1;
                self.holders[l] = None;
                self.waits[t] = Some((c, l, false));
            }
            Op::Wake(c) => {
                let waiting = self.waits.iter_mut().flatten().filter(|(condition, _, _)| *condition == c);
                waiting.for_each(|(_, _, woken)| *woken = true);
            }
            Op::Signal(_) => {
                if let Some((_, _, woken)) = woken.and_then(|t| self.waits[t].as_mut()) {
                    *woken = true;
                }
            }
            Op::Load(v) => self.seen[t].push(self.variables[v]),
            Op::Store(v, value) => self.variables[v] = value,
            Op::Add(v, n) => {
                self.seen[t].push(self.variables[v]);
                self.variables[v] = self.variables[v] * 10 + n;
            }
            Op::Create(other) => self.alive[other] = true,
            Op::SpinUntil(v, value) => {
                if self.variables[v] == value {
                    self.spins[t] = 0;
                } else {
                    self.at[t] -= 1;
                    self.spins[t] += 1;
                }
            }
            Op::Quit => self.quit = true,
        }
    }

    /// Without what only the run can tell.
    fn result(mut self) -> State {
        self.spins.fill(0);
        self
    }
}

/// In a schedule, the thread that the step before it wakes comes with this added.
const PICKED: usize = 100;

/// The steps of a schedule: the thread, and whom it wakes.
fn steps(schedule: &[usize]) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
    let woken = |i: usize| schedule.get(i + 1).and_then(|next| next.checked_sub(PICKED));
    schedule.iter().enumerate().filter(|(_, &t)| t < PICKED).map(move |(i, &t)| (t, woken(i)))
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ran {
    /// The thread of every step.
    pub schedule: Vec<usize>,
    /// How it ended.
    pub state: State,
    /// Whether it was cut.
    pub cut: bool,
}

impl Ran {
    /// Whether a signal had to choose among several waiters.
    pub fn picks(&self) -> bool {
        self.schedule.iter().any(|&t| t >= PICKED)
    }
}

/// Makes one run under a policy, unless its search is over; `crash` ends it after that many steps.
pub fn run(policy: &mut impl Policy, program: &Program, parameters: &[f64], crash: usize) -> Option<Ran> {
    // The parameter behind a search's own one bounds delays, and these programs have no deadlines.
    let parameters = &[parameters, &[0.0]].concat();
    let run = Run { number: 1, seed: 0, parameters, profile: Profile::default(), lessons: Lessons::none() };
    policy.start(&run);
    if policy.exhausted().is_some() {
        return None;
    }
    let n = program.threads.len();
    assert!(n <= THREADS);
    let mut state = State::new(program);
    let mut schedule = Vec::new();
    let mut current = ThreadId::MAIN;
    let mut enabled = EnabledSet::new();
    let (mut alone, mut steps) = (true, 0);
    loop {
        // Ids are given in the order of creation, so threads that are not there yet are the last.
        let there = (0..n).rev().find(|&t| state.alive[t]).map_or(0, |t| t + 1);
        let pending: Vec<_> = (0..there).map(|t| state.event(program, t)).collect();
        (0..n).for_each(|t| {
            enabled.set(ThreadId(t as u16), state.enabled(program, t));
        });
        let cut = schedule.len() >= crash;
        if state.quit {
            policy.end();
            return Some(Ran { schedule, state: state.result(), cut });
        }
        let (opened, points) = (core::mem::replace(&mut alone, enabled.len() < 2), schedule.len() as u64 + 1);
        let spins = state.spins[current.index()];
        let point = Point { current, enabled: &enabled, pending: &pending, spins, step: steps, opened, points };
        let chosen = match enabled.len() {
            _ if cut => return Some(Ran { schedule, state: state.result(), cut }),
            0 | 1 => {
                if policy.sees_every_point() {
                    policy.no_choice(&point);
                }
                match enabled.nth(0) {
                    Some(t) => t,
                    None => {
                        policy.end();
                        return Some(Ran { schedule, state: state.result(), cut });
                    }
                }
            }
            _ => {
                let chosen = policy.choose(&point);
                assert!(enabled.contains(chosen), "{chosen} is not enabled");
                steps += 1;
                chosen
            }
        };
        enabled.settle();
        schedule.push(chosen.index());
        let waiters = state.waiters(program, chosen.index());
        let mut woken = waiters.first().copied();
        if waiters.len() > 1 {
            let set = waiters.iter().fold(0, |set, t| set | 1 << t);
            woken = policy.choose_waiter(set).map(ThreadId::index);
            let picked = woken.filter(|t| waiters.contains(t)).expect("it says who is woken");
            schedule.push(PICKED + picked);
        }
        state.step(program, chosen.index(), woken);
        current = chosen;
    }
}

/// Makes runs until none is left.
pub fn explore(policy: &mut impl Policy, program: &Program, parameters: &[f64]) -> (Vec<Ran>, Explored) {
    let mut runs = Vec::new();
    while let Some(ran) = run(policy, program, parameters, usize::MAX) {
        runs.push(ran);
        assert!(runs.len() < 100_000, "it does not end: {program:?}");
    }
    (runs, policy.exhausted().expect("it is over"))
}

/// All schedules of a program, by brute force; at most `most`.
pub fn all_schedules(program: &Program, most: usize) -> Option<Vec<Ran>> {
    fn visit(program: &Program, state: &State, schedule: &mut Vec<usize>, most: usize, found: &mut Vec<Ran>) {
        let enabled: Vec<_> = (0..program.threads.len()).filter(|&t| state.enabled(program, t)).collect();
        if found.len() > most {
            return;
        }
        if enabled.is_empty() {
            found.push(Ran { schedule: schedule.clone(), state: state.clone().result(), cut: false });
        }
        for t in enabled {
            schedule.push(t);
            let waiters = state.waiters(program, t);
            let length = schedule.len();
            for woken in waiters.iter().copied().map(Some).chain(waiters.is_empty().then_some(None)) {
                let mut next = state.clone();
                next.step(program, t, woken);
                schedule.extend(woken.filter(|_| waiters.len() > 1).map(|woken| PICKED + woken));
                visit(program, &next, schedule, most, found);
                schedule.truncate(length);
            }
            schedule.pop();
        }
    }
    let mut found = Vec::new();
    visit(program, &State::new(program), &mut Vec::new(), most, &mut found);
    (found.len() <= most).then_some(found)
}

/// Walks along a schedule: shows which threads could go on, which went on last and which does now.
pub fn walk(program: &Program, schedule: &[usize], mut show: impl FnMut(&[usize], usize, usize)) {
    let mut state = State::new(program);
    let mut current = 0;
    for (t, woken) in steps(schedule) {
        let enabled: Vec<_> = (0..program.threads.len()).filter(|&t| state.enabled(program, t)).collect();
        show(&enabled, current, t);
        let woken = woken.or(state.waiters(program, t).first().copied());
        state.step(program, t, woken);
        current = t;
    }
}

/// A search by bounds explores every schedule of random programs once, those of smaller costs first and each under
/// the bound that it costs.
pub fn explores_by_cost<P: Policy>(boxed: impl Fn() -> Box<P>, cost: impl Fn(&Program, &[usize]) -> u32) {
    let mut rng = Rng::new(5);
    let mut tried = 0;
    while tried < 300 {
        let program = random_program(&mut rng, 4);
        let Some(all) = all_schedules(&program, 2_000) else { continue };
        tried += 1;
        let mut policy = boxed();
        let mut found = BTreeSet::new();
        let mut bounds = Vec::new();
        while let Some(ran) = run(&mut policy, &program, &[1000.0], usize::MAX) {
            let bound = policy.bound().expect("it has bounds");
            assert_eq!(cost(&program, &ran.schedule), bound, "{program:?} {:?}", ran.schedule);
            bounds.push(bound);
            assert!(found.insert(ran.schedule), "each once");
        }
        assert!(bounds.is_sorted(), "{bounds:?}");
        assert_eq!(found, all.iter().map(|ran| ran.schedule.clone()).collect(), "{program:?}");
        let explored = policy.exhausted().expect("it is over");
        assert_eq!(explored, Explored { schedules: all.len() as u64, ..Explored::default() });
        // With a smaller bound: those that cost no more.
        let costs: Vec<_> = all.iter().map(|ran| cost(&program, &ran.schedule)).collect();
        let within = costs.iter().filter(|&&cost| cost <= 1).count();
        let (runs, explored) = explore(&mut boxed(), &program, &[1.0]);
        assert_eq!((runs.len(), explored.schedules), (within, within as u64), "{program:?}");
        assert_eq!(explored.bound, if within < all.len() { 2 } else { 0 });
    }
}

/// A search by bounds goes on after runs that crash, and makes those again that do not count.
pub fn survives_crashes<P: Policy>(boxed: impl Fn() -> Box<P>) {
    let program = Program::straight(&[3, 3]);
    let mut policy = boxed();
    let mut found = BTreeSet::new();
    let mut runs = 0;
    while let Some(first) = run(&mut policy, &program, &[1000.0], if runs % 2 == 0 { 4 } else { usize::MAX }) {
        runs += 1;
        if runs % 2 == 1 {
            policy.run_discarded();
            let again = run(&mut policy, &program, &[1000.0], usize::MAX).expect("it is made again");
            assert_eq!(again.schedule[..4], first.schedule);
            assert!(found.insert(again.schedule));
        } else {
            assert!(found.insert(first.schedule));
        }
    }
    assert_eq!(found.len(), 20);
    // The alternatives of a run that crashes are tried as far as it came.
    let mut policy = boxed();
    run(&mut policy, &program, &[1000.0], 2);
    let mut runs = 0;
    while run(&mut policy, &program, &[1000.0], usize::MAX).is_some() {
        runs += 1;
    }
    assert_eq!(runs, 16, "of 20 schedules, four start with what crashed");
}

/// The schedule's class: all schedules that differ by the order of independent operations only have the same. Each
/// step is put as far to the front as it goes, and steps of one level are sorted (Foata's normal form).
pub fn class(program: &Program, schedule: &[usize]) -> Vec<Vec<usize>> {
    let mut state = State::new(program);
    let mut levels: Vec<Vec<(usize, Event)>> = Vec::new();
    // The level of what has made the thread, or woken it.
    let mut made_by: BTreeMap<usize, usize> = BTreeMap::new();
    let mut picks: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (t, picked) in steps(schedule) {
        let event = state.event(program, t);
        let woken = picked.or(state.waiters(program, t).first().copied());
        let depends = |level: &Vec<(usize, Event)>| level.iter().any(|(u, other)| *u == t || dependent(other, &event));
        let before = levels.iter().rposition(depends);
        let level = before.into_iter().chain(made_by.remove(&t)).max().map_or(0, |level| level + 1);
        if levels.len() <= level {
            levels.push(Vec::new());
        }
        levels[level].push((t, event));
        picks.extend(picked.map(|picked| ((level, t), picked)));
        let asleep = |state: &State, t: usize| !state.alive[t] || matches!(state.waits[t], Some((_, _, false)));
        let sleepers: Vec<_> = (0..program.threads.len()).filter(|&t| asleep(&state, t)).collect();
        state.step(program, t, woken);
        made_by.extend(sleepers.into_iter().filter(|&t| !asleep(&state, t)).map(|t| (t, level)));
    }
    let sorted = levels.into_iter().enumerate().map(|(i, level)| {
        let label = |t: usize| picks.get(&(i, t)).map_or(t, |picked| t + PICKED * (picked + 1));
        let mut threads: Vec<_> = level.into_iter().map(|(t, _)| label(t)).collect();
        threads.sort();
        threads
    });
    sorted.collect()
}

/// How programs can end.
pub fn ends(runs: &[Ran]) -> BTreeSet<State> {
    runs.iter().map(|run| run.state.clone()).collect()
}

/// A random program of two to four threads, with up to `most` operations each.
pub fn random_program(rng: &mut Rng, longest: u64) -> Program {
    let n = 2 + rng.below(3) as usize;
    let mut program = Program { threads: Vec::new(), semaphores: [0, 1, 2, 0] };
    for _ in 0..n {
        let mut ops = Vec::new();
        while (ops.len() as u64) < longest && rng.below(5) != 0 {
            let pick = |rng: &mut Rng, n: u64| rng.below(n) as usize;
            let (a, b) = (pick(rng, 2), pick(rng, 2));
            match rng.below(15) {
                0 => ops.push(Op::Local),
                1..=3 => ops.push(Op::Load(a)),
                4..=5 => ops.push(Op::Store(a, 1 + rng.below(2) as u32)),
                6 => ops.push(Op::Add(a, 1 + b as u32)),
                // Nested locks in any order, so that there are deadlocks.
                7 => ops.extend([Op::Lock(a), Op::Load(b), Op::Unlock(a)]),
                8 => ops.extend([Op::Lock(a), Op::Lock(1 - a), Op::Unlock(1 - a), Op::Unlock(a)]),
                9 => ops.extend([Op::Try(a, 2), Op::Store(b, 3), Op::Unlock(a)]),
                10 => ops.push(Op::Post(pick(rng, 3))),
                11 => ops.push(Op::Wait(pick(rng, 3))),
                12 => ops.extend([Op::Lock(a), Op::Sleep(b, a), Op::Unlock(a)]),
                13 => ops.push(Op::Signal(b)),
                _ => ops.push(Op::Wake(b)),
            }
        }
        program.threads.push(ops);
    }
    if n > 2 && rng.below(4) == 0 {
        // Two that wait on one condition, and one that signals it.
        for t in 0..2 {
            program.threads[t] = vec![Op::Lock(0), Op::Sleep(0, 0), Op::Add(0, 1 + t as u32), Op::Unlock(0)];
        }
        program.threads[2].truncate(2);
        program.threads[2].extend(vec![Op::Signal(0); 1 + rng.below(2) as usize]);
    }
    if rng.below(8) == 0 {
        program.threads[0].push(Op::Quit);
    }
    if rng.below(8) == 0 {
        program.threads[0].insert(0, Op::Unknown);
    }
    if n > 2 && rng.below(3) == 0 {
        // The last thread is made by the first one, at its start, so that it is made while others go on.
        program.threads[0].insert(0, Op::Create(n - 1));
    }
    program
}
