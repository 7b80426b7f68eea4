//! Maple-like idioms: forces an order of two operations that no run has shown.
//!
//! After the public description of Maple (Yu, Narayanasamy, Pereira, Pokam, OOPSLA'12), a baseline of the stride paper.
//! A profiling phase notes which operation of one thread was followed by which of another on the same object (write and
//! read, write and write, lock and lock); the orders that were seen one way round only predict the other way round.
//! Giving a lock back is not part of a pair: it is where it is because of what acquired the lock. An active phase
//! forces one of them per run: the operation that is to be second waits until the first one has happened; then it goes
//! on as soon as it can, before any other thread touches the object except to give it back. Everything else is a random
//! walk.
//!
//! Deviations: operations are told apart by thread, kind and object, not by the place in the code; objects by the
//! names that the runtime gives them (see [`crate::lessons`]), which for some are the same only while the same thread
//! is the first to touch them. All runs are profiled up to the thousandth, so that what was forced is no longer
//! untested. When no other thread can run, the waiting thread is let go: then the order is impossible, or needs luck
//! elsewhere.

use super::random::any;
use crate::lessons::{OperationClass, OperationPair, ThreadPaths};
use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Maple,
    name: "maple",
    summary: "forces one order of two operations per run that no earlier run has shown",
    source: "after Yu et al., OOPSLA'12",
    kind: Kind::Sampling,
    learns: Learns::Pairs,
    parameters: &[]
);

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct Maple {
    rng: Rng,
    /// What is forced; nothing when the object of its first operation is 0.
    pair: OperationPair,
    /// The first operation has happened.
    happened: bool,
    /// The order has been forced, or could not be.
    done: bool,
    paths: ThreadPaths,
}

impl Maple {
    fn is(&self, class: &OperationClass, t: ThreadId, point: &Point<'_>) -> bool {
        let event = &point.pending[t.index()];
        event.object as u64 == class.object && event.kind as u64 == class.kind && self.paths.of(t) == class.path
    }

    /// Whether a thread is to wait.
    fn waits(&self, t: ThreadId, point: &Point<'_>) -> bool {
        if self.happened {
            // No other thread comes in between.
            let event = &point.pending[t.index()];
            return event.object as u64 == self.pair.first.object
                && !event.kind.releases()
                && !self.is(&self.pair.second, t, point);
        }
        self.is(&self.pair.second, t, point)
    }
}

impl Policy for Maple {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.paths.start();
        (self.happened, self.done) = (false, true);
        self.pair = OperationPair::default();
        let pairs = run.lessons.untested_pairs();
        if !pairs.is_empty() {
            self.pair = pairs[self.rng.below(pairs.len() as u64) as usize];
            self.done = false;
        }
    }

    fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.paths.created(parent, child);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let enabled = (0..point.pending.len() as u16).map(ThreadId).filter(|t| point.enabled.contains(*t));
        if self.done {
            return any(point, &mut self.rng);
        }
        if self.happened {
            if let Some(second) = enabled.clone().find(|t| self.is(&self.pair.second, *t, point)) {
                self.done = true;
                return second;
            }
        }
        let free = enabled.clone().filter(|t| !self.waits(*t, point)).count();
        if free == 0 {
            self.done = true;
            return any(point, &mut self.rng);
        }
        let k = self.rng.below(free as u64) as usize;
        let chosen = enabled.filter(|t| !self.waits(*t, point)).nth(k).unwrap_or(point.current);
        if !self.happened && self.is(&self.pair.first, chosen, point) {
            self.happened = true;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;
    use crate::lessons::{path_of_child, Lessons, MAIN_PATH};
    use crate::toy::{self, Op};

    #[test]
    fn an_unlikely_order_is_forced() {
        // Thread 0 comes to the lock after 30 steps; that it is first there never happens in a random walk. It keeps it
        // for two more steps.
        let section = [Op::Lock(2), Op::Step, Op::Unlock(2)];
        let again = [Op::Lock(2), Op::Unlock(2)];
        let long = [vec![Op::Step; 30], section.to_vec(), again.to_vec()].concat();
        let program = toy::Program { threads: vec![long, section.to_vec()] };
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        let child = path_of_child(MAIN_PATH, 0);
        let first = OperationClass::new(MAIN_PATH, EventKind::Lock, 3);
        lessons.set_untested_pairs(&[OperationPair { first, second: OperationClass::new(child, EventKind::Lock, 3) }]);
        let known = toy::Known { profile: Default::default(), lessons: Some(&lessons) };
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<Maple> = unsafe { Box::new(core::mem::zeroed()) };
        for seed in 0..200 {
            let s = toy::run_with(&mut *policy, &program, seed, &[], known, |_, _| {}).schedule;
            assert_eq!(s[..34], [[0; 33].as_slice(), &[1]].concat()[..], "{s:?}");
        }
        // An order that cannot be: the thread is let go.
        let impossible = OperationClass::new(MAIN_PATH, EventKind::Lock, 9);
        lessons.set_untested_pairs(&[OperationPair {
            first: impossible,
            second: OperationClass::new(child, EventKind::Lock, 3),
        }]);
        let known = toy::Known { profile: Default::default(), lessons: Some(&lessons) };
        let run = toy::run_with(&mut *policy, &program, 1, &[], known, |_, _| {});
        assert_eq!((run.schedule.len(), run.deadlock), (38, false));
    }
}
