//! Depth-first search: every schedule, one after the other.
//!
//! The baseline of Thomson, Donaldson and Betts (PPoPP'14). The stack holds the choices of the last run. The next
//! run repeats them up to the last choice that has an alternative, takes that, and then preempts no thread until it
//! ends; each choice on its way is a new entry of the stack.
//!
//! Two reductions leave out schedules that differ from others by the order of independent operations only (see
//! [`super::search::independence`]):
//! - `sleep`: sleep sets (Godefroid, 1996). Once a thread was tried at a choice, it sleeps while the alternatives are
//!   explored, until another thread does something that depends on its next operation. Of all schedules that are equal
//!   up to independent operations exactly one is explored to its end. Runs that come to a point where all enabled
//!   threads sleep are redundant: nothing can follow that was not explored; they go on to their end without a choice.
//! - `dpor`: source sets with sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL'14). Alternatives are tried only
//!   where a race asks for them: see [`super::search::trace`].
//!
//! Which of several waiters a signal on a condition wakes is a choice as well, and so is whether a deadline comes
//! although threads can run ([`super::search::lateness`]). Of these every alternative is tried.
//!
//! Without reduction a decision takes constant time.

use super::search::fair::Fair;
use super::search::independence::dependent;
use super::search::lateness::{self, Lateness};
use super::search::trace::{Trace, NO_NODE};
use super::search::{each, first, only, Choice, Threads, THREADS};
use crate::policy::{Descriptor, Explored, Gap, Kind, Learns, Parameter, Point, Policy, Run};
use crate::thread::ThreadId;

/// Choices of a run that are kept; at later ones no thread is preempted.
pub const DEPTH: usize = 1 << 16;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Dfs,
    name: "dfs",
    summary: "depth-first search: every schedule once, until none is left",
    source: "Thomson et al., PPoPP'14; sleep sets: Godefroid '96; source sets: Abdulla et al., POPL'14",
    kind: Kind::Systematic,
    learns: Learns::Nothing,
    parameters: &[
        Parameter::choice(
            "reduction",
            0,
            &["none", "sleep", "dpor"],
            "which schedules are left out that differ by the order of independent operations only",
        ),
        lateness::PARAMETER,
    ]
);

const SLEEP: u8 = 1;
const DPOR: u8 = 2;

/// A choice. Valid when zeroed.
#[repr(C)]
struct Node {
    /// The threads that could go on, to notice a program that does not do the same again.
    enabled: Threads,
    /// Those of them that may be tried.
    allowed: Threads,
    /// The threads still to be tried.
    todo: Threads,
    /// The threads that were tried, the one on the way included.
    done: Threads,
    /// The threads that slept when the choice was met.
    sleep: Threads,
    /// The thread on the way.
    chosen: u8,
}

/// What the search does in the run that is on.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
enum Course {
    /// It chooses.
    #[default]
    Explores = 0,
    /// What follows was explored before.
    Redundant,
    /// It has lost sight, and chooses no more.
    Blind,
}

/// The search. Valid when zeroed.
#[repr(C)]
pub struct Dfs {
    /// Runs were started.
    started: bool,
    /// The last run does not count.
    undone: bool,
    /// The last run came to its end.
    ended: bool,
    /// No schedule is left.
    finished: bool,
    reduction: u8,
    course: Course,
    /// What is explored, except for the last run.
    explored: Explored,
    /// Choices on the stack.
    len: usize,
    /// Choices of this run so far.
    at: usize,
    /// Choices that this run was to repeat.
    prefix: usize,
    /// The threads that sleep at the next point.
    sleep: Threads,
    fair: Fair,
    late: Lateness,
    nodes: [Node; DEPTH],
    trace: Trace,
}

impl Dfs {
    /// A policy on the heap, for tests that need no process.
    #[cfg(test)]
    pub(crate) fn boxed() -> Box<Dfs> {
        crate::policies::search::model::zeroed()
    }

    /// Closes the last run and takes the next alternative.
    fn backtrack(&mut self) {
        if self.reduction == DPOR && self.course == Course::Explores {
            self.close_trace();
        }
        match self.course {
            Course::Redundant => self.explored.redundant += 1,
            _ => self.explored.schedules += 1,
        }
        while self.len > 0 && self.nodes[self.len - 1].todo == 0 {
            self.len -= 1;
        }
        let Some(last) = self.len.checked_sub(1) else {
            self.finished = true;
            return;
        };
        let node = &mut self.nodes[last];
        let next = first(node.todo);
        node.todo &= !only(next);
        node.done |= only(next);
        node.chosen = next as u8;
    }

    /// All that can go on sleep. What cannot is not known to have been explored.
    #[cold]
    fn turn_redundant(&mut self) {
        self.finish_trace();
        self.course = Course::Redundant;
    }

    fn finish_trace(&mut self) {
        if self.reduction == DPOR {
            let nodes = &mut self.nodes;
            self.trace.finish(&mut |wanted| nodes[wanted.node as usize].want(&wanted));
        }
    }

    fn close_trace(&mut self) {
        self.finish_trace();
        let nodes = &mut self.nodes;
        if let Some(last) = self.trace.last_node().filter(|_| !self.ended) {
            // It crashed: what the others would have done, and what that depends on, was not seen. So they go first.
            let node = &mut nodes[last];
            node.todo |= node.allowed & !node.done & !node.sleep;
        }
    }

    /// A new choice, and the thread that goes first.
    #[inline]
    fn branch(&mut self, choice: &Choice) -> usize {
        let awake = choice.allowed & !self.sleep;
        if awake == 0 {
            self.turn_redundant();
            return choice.usual();
        }
        let usual = choice.usual();
        let chosen = if awake & only(usual) != 0 { usual } else { first(awake) };
        let todo = if self.reduction == DPOR { 0 } else { awake & !only(chosen) };
        let (enabled, allowed, done, sleep) = (choice.enabled, choice.allowed, only(chosen), self.sleep);
        // The length last: a run may be killed at any time.
        self.nodes[self.at] = Node { enabled, allowed, todo, done, sleep, chosen: chosen as u8 };
        self.len = self.at + 1;
        chosen
    }

    /// Chooses, and says at which node.
    #[inline]
    fn next(&mut self, choice: &Choice) -> (usize, u32) {
        if self.at < self.len {
            let node = &self.nodes[self.at];
            let chosen = usize::from(node.chosen);
            if node.enabled == choice.enabled && node.allowed == choice.allowed {
                self.sleep = node.sleep;
                return (chosen, self.at as u32);
            }
            // Another program, so to speak: what was known of it from here on is worth nothing.
            self.explored.lacks(Gap::Unstable);
            self.len = self.at;
        }
        if self.at == DEPTH {
            self.explored.lacks(Gap::Depth);
            self.course = Course::Blind;
            return (choice.usual(), NO_NODE);
        }
        let chosen = self.branch(choice);
        (chosen, if self.course == Course::Explores { self.at as u32 } else { NO_NODE })
    }

    /// Which waiter is woken, or which deadline comes: a choice like the others, but all its alternatives are tried under
    /// every reduction.
    #[cold]
    fn pick(&mut self, among: Threads) -> Option<usize> {
        if self.at < self.len {
            let node = &self.nodes[self.at];
            if node.enabled == among {
                self.at += 1;
                return Some(usize::from(node.chosen));
            }
            self.explored.lacks(Gap::Unstable);
            self.len = self.at;
        }
        if self.at == DEPTH {
            self.explored.lacks(Gap::Depth);
            self.course = Course::Blind;
            return None;
        }
        let chosen = first(among);
        let (enabled, allowed, done) = (among, among, only(chosen));
        self.nodes[self.at] = Node { enabled, allowed, todo: among & !done, done, sleep: 0, chosen: chosen as u8 };
        self.at += 1;
        self.len = self.at;
        Some(chosen)
    }

    /// The last step is over: sees what comes next.
    fn look(&mut self, point: &Point<'_>) {
        if self.reduction != DPOR || self.course != Course::Explores {
            return;
        }
        if self.trace.is_full() {
            self.explored.lacks(Gap::Depth);
            self.course = Course::Blind;
            return;
        }
        self.trace.look(point);
    }

    /// A thread takes a step.
    fn step(&mut self, t: usize, node: u32, point: &Point<'_>) {
        let tried = if node == NO_NODE { 0 } else { self.nodes[node as usize].done & !only(t) };
        let event = &point.pending[t];
        let sleepers = each((self.sleep | tried) & !only(t));
        self.sleep = sleepers.filter(|&u| !dependent(event, &point.pending[u])).fold(0, |set, u| set | only(u));
        if self.reduction == DPOR {
            let nodes = &mut self.nodes;
            self.trace.step(t, node, &mut |wanted| nodes[wanted.node as usize].want(&wanted));
        }
    }
}

impl Node {
    fn want(&mut self, wanted: &super::search::trace::Wanted) {
        self.todo |= wanted.missing(self.todo | self.done | self.sleep) & self.allowed;
    }
}

impl Policy for Dfs {
    fn start(&mut self, run: &Run<'_>) {
        self.reduction = run.parameters[0] as u8;
        self.late.start(run.parameters[1]);
        self.explored.reduced = self.reduction != 0;
        if core::mem::take(&mut self.undone) {
            self.len = self.prefix;
        } else if self.started && !self.finished {
            self.backtrack();
        }
        (self.started, self.ended) = (true, false);
        self.course = Course::Explores;
        (self.at, self.prefix, self.sleep) = (0, self.len, 0);
        self.fair.start();
        if self.reduction == DPOR {
            self.trace.start();
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        if self.course != Course::Explores {
            return point.unpreempted();
        }
        let Some(choice) = Choice::at(point, &mut self.fair, &mut self.explored) else {
            self.course = Course::Blind;
            return point.unpreempted();
        };
        self.look(point);
        let (chosen, node) = self.next(&choice);
        self.at += 1;
        self.fair.chosen(chosen);
        if self.reduction != 0 && self.course == Course::Explores {
            if self.fair.held_any {
                self.explored.lacks(Gap::Spins);
            }
            self.step(chosen, node, point);
        }
        ThreadId(chosen as u16)
    }

    fn no_choice(&mut self, point: &Point<'_>) {
        if self.course != Course::Explores {
            return;
        }
        if point.pending.len() > THREADS {
            self.explored.lacks(Gap::Threads);
            self.course = Course::Blind;
            return;
        }
        self.look(point);
        if self.course != Course::Explores {
            return;
        }
        match point.enabled.nth(0).map(ThreadId::index) {
            Some(t) if self.sleep & only(t) != 0 => self.turn_redundant(),
            Some(t) => self.step(t, NO_NODE, point),
            None => {}
        }
    }

    fn sees_every_point(&self) -> bool {
        self.reduction >= SLEEP
    }

    fn choose_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        match self.course {
            Course::Explores => self.pick(waiters).map(|t| ThreadId(t as u16)),
            // Any will do.
            Course::Redundant => Some(ThreadId(first(waiters) as u16)),
            Course::Blind => None,
        }
    }

    fn pass_time(&mut self, deadlines: u32) -> u32 {
        if self.course != Course::Explores || !self.late.allows() {
            return 0;
        }
        let none_or_one = only(deadlines.min(63) as usize + 1).wrapping_sub(1);
        let chosen = self.pick(none_or_one).unwrap_or(0) as u32;
        self.late.chosen(chosen);
        if chosen > 0 {
            // What sleeps was explored without the delay.
            self.sleep = 0;
        }
        chosen
    }

    fn run_discarded(&mut self) {
        self.undone = true;
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn gaps(&self) -> u32 {
        self.explored.gaps
    }

    fn exhausted(&self) -> Option<Explored> {
        self.finished.then_some(self.explored)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::model::{all_schedules, class, ends, explore, random_program, run, Op, Program, Ran};
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    const NONE: f64 = 0.0;
    const SLEEP_SETS: f64 = 1.0;
    const SOURCE_SETS: f64 = 2.0;

    /// The runs that are not redundant, and what the search says.
    fn complete(program: &Program, reduction: f64) -> (Vec<Ran>, Explored) {
        let mut policy = Dfs::boxed();
        let mut runs = Vec::new();
        while let Some(ran) = run(&mut policy, program, &[reduction], usize::MAX) {
            assert!(runs.len() < 100_000, "it does not end: {program:?}");
            if policy.course != Course::Redundant {
                runs.push(ran);
            }
        }
        let explored = policy.exhausted().expect("it is over");
        assert_eq!(explored.schedules, runs.len() as u64);
        (runs, explored)
    }

    fn classes(program: &Program, runs: &[Ran]) -> BTreeSet<Vec<Vec<usize>>> {
        runs.iter().map(|ran| class(program, &ran.schedule)).collect()
    }

    fn schedules(runs: &[Ran]) -> BTreeSet<Vec<usize>> {
        runs.iter().map(|ran| ran.schedule.clone()).collect()
    }

    #[test]
    fn straight_threads_have_as_many_schedules_as_a_multinomial() {
        for (lengths, count) in [(&[3, 3][..], 20), (&[2, 2, 2], 90), (&[1, 1, 1, 1], 24), (&[5, 1], 6), (&[4], 1)] {
            let program = Program::straight(lengths);
            let (runs, explored) = explore(&mut Dfs::boxed(), &program, &[NONE]);
            assert_eq!((runs.len() as u64, explored.schedules, explored.redundant), (count, count, 0));
            assert_eq!(schedules(&runs).len(), runs.len(), "each once");
            assert_eq!((explored.bound, explored.gaps, explored.fair), (0, 0, false));
            // Where everything depends on everything there is nothing to reduce.
            for reduction in [SLEEP_SETS, SOURCE_SETS] {
                assert_eq!(complete(&program, reduction).0.len() as u64, count);
            }
        }
    }

    #[test]
    fn independent_threads_have_one_schedule_up_to_order() {
        let thread = |v| vec![Op::Store(v, 1), Op::Load(v), Op::Lock(v), Op::Unlock(v)];
        let program = Program { threads: (0..4).map(thread).collect(), ..Program::default() };
        for reduction in [SLEEP_SETS, SOURCE_SETS] {
            let (_, explored) = complete(&program, reduction);
            assert_eq!(explored.schedules, 1);
            assert!(reduction == SLEEP_SETS || explored.redundant == 0, "{explored:?}");
        }
    }

    #[test]
    fn every_schedule_is_found_once() {
        let mut rng = Rng::new(1);
        let mut tried = 0;
        while tried < 400 {
            let program = random_program(&mut rng, 4);
            let Some(all) = all_schedules(&program, 3_000) else { continue };
            tried += 1;
            let (runs, _) = explore(&mut Dfs::boxed(), &program, &[NONE]);
            assert_eq!(runs.len(), all.len(), "{program:?}");
            assert_eq!(schedules(&runs), schedules(&all), "{program:?}");
        }
    }

    /// The runs of a reduction are one of each class of equal schedules, on many random programs.
    fn one_of_each_class(reduction: f64, seed: u64, programs: usize) {
        let mut rng = Rng::new(seed);
        let (mut tried, mut picked) = (0, 0);
        while tried < programs {
            let program = random_program(&mut rng, 5);
            let Some(all) = all_schedules(&program, 2_000) else { continue };
            tried += 1;
            let (runs, explored) = complete(&program, reduction);
            let (found, wanted) = (classes(&program, &runs), classes(&program, &all));
            assert_eq!(ends(&runs), ends(&all), "{program:?}");
            assert_eq!(found, wanted, "{program:?}");
            assert_eq!(runs.len(), found.len(), "one of each: {program:?}");
            assert_eq!(explored.gaps, 0);
            picked += usize::from(runs.iter().any(|ran| ran.picks()));
        }
        assert!(picked > 20, "signals had to choose among waiters in {picked} programs only");
    }

    #[test]
    fn sleep_sets_explore_one_of_each_class() {
        one_of_each_class(SLEEP_SETS, 2, 1_000);
    }

    #[test]
    fn source_sets_explore_one_of_each_class() {
        one_of_each_class(SOURCE_SETS, 3, 3_000);
    }

    #[test]
    fn a_deadlock_is_found_under_every_reduction() {
        let thread = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
        let program = Program { threads: vec![thread(0, 1), thread(1, 0)], ..Program::default() };
        for reduction in [NONE, SLEEP_SETS, SOURCE_SETS] {
            let (runs, _) = complete(&program, reduction);
            assert!(runs.iter().any(|ran| ran.schedule.len() == 2), "{reduction}");
        }
    }

    #[test]
    fn a_crash_loses_nothing() {
        // Every third run ends in the middle: what lies behind is lost with it, and nothing else.
        let program = Program::straight(&[3, 3]);
        let mut policy = Dfs::boxed();
        let mut found = BTreeSet::new();
        let mut runs = 0;
        while let Some(ran) = run(&mut policy, &program, &[NONE], if runs % 3 == 2 { 3 } else { usize::MAX }) {
            runs += 1;
            assert!(found.insert(ran.schedule.clone()), "{:?} again", ran.schedule);
        }
        let whole = schedules(&all_schedules(&program, 100).expect("twenty"));
        assert!(whole.iter().all(|one| found.contains(one) || found.contains(&one[..3])));
    }

    #[test]
    fn a_run_that_does_not_count_is_made_again() {
        for reduction in [NONE, SOURCE_SETS] {
            let program = Program::straight(&[2, 3]);
            let mut policy = Dfs::boxed();
            let mut found = BTreeSet::new();
            while let Some(again) = run(&mut policy, &program, &[reduction], 3) {
                policy.run_discarded();
                let ran = run(&mut policy, &program, &[reduction], usize::MAX).expect("it is made again");
                assert_eq!(ran.schedule[..3], again.schedule);
                assert!(found.insert(ran.schedule));
            }
            assert_eq!(found.len(), 10);
        }
    }

    #[test]
    fn a_program_that_spins_has_an_end() {
        // Both spinners must let the third thread run.
        let program = Program {
            threads: vec![vec![Op::SpinUntil(0, 1)], vec![Op::SpinUntil(0, 1)], vec![Op::Local, Op::Store(0, 1)]],
            ..Program::default()
        };
        let (runs, explored) = explore(&mut Dfs::boxed(), &program, &[NONE]);
        assert!(runs.iter().all(|ran| !ran.cut && ran.schedule.len() < 30), "{runs:?}");
        assert_eq!((explored.gaps, explored.fair), (0, true));
        assert_eq!(schedules(&runs).len(), runs.len());
        // In some runs no thread spins, and in some one does.
        assert!(runs.iter().any(|ran| ran.schedule.len() == 4) && runs.iter().any(|ran| ran.schedule.len() > 5));
        let (_, explored) = complete(&program, SOURCE_SETS);
        assert_eq!(explored.gaps, 1 << Gap::Spins as u32);
    }

    #[test]
    fn a_program_that_changes_is_noticed() {
        let mut policy = Dfs::boxed();
        run(&mut policy, &Program::straight(&[2, 2]), &[NONE], usize::MAX);
        run(&mut policy, &Program::straight(&[2, 1, 1]), &[NONE], usize::MAX);
        while run(&mut policy, &Program::straight(&[2, 1, 1]), &[NONE], usize::MAX).is_some() {}
        let explored = policy.exhausted().expect("it is over");
        assert_eq!(explored.gaps, 1 << Gap::Unstable as u32);
    }

    #[test]
    fn too_long_and_too_wide_programs_are_noticed() {
        let mut policy = Dfs::boxed();
        run(&mut policy, &Program::straight(&[DEPTH + 1, 2]), &[NONE], usize::MAX);
        assert_eq!(policy.explored.gaps, 1 << Gap::Depth as u32);
        let mut policy = Dfs::boxed();
        run(&mut policy, &Program::straight(&[9_000, 9_000]), &[SOURCE_SETS], usize::MAX);
        assert_eq!(policy.explored.gaps, 1 << Gap::Depth as u32);
    }
}
