//! AtomFuzzer, as NeedlePoint (section 3.2) has it: looks for atomicity violations.
//!
//! One thread runs at a time. A thread that is about to acquire a lock that it has held before is paused, and
//! another one runs, in the hope that what the thread learned under the lock the first time is no longer true.
//!
//! Deviations: when all enabled threads are paused, one of them is drawn and goes on; a thread is paused with the
//! probability `pause` only, by default one half, so that not every run of a short program is the same (the paper's is
//! `pause=1`); what the main thread acquires before there is a second one does not count.

use super::preempt_always::another;
use crate::event::{Event, EventKind};
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::{splitmix64, Rng};
use crate::thread::{ThreadId, MAX_THREADS};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed AtomFuzzer,
    name: "atomfuzzer",
    summary: "pauses a thread before it acquires a lock that it has held before",
    source: "Nagarakatte et al., PLDI'12, as AF, after Park, Sen, FSE'08",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[Parameter::number("pause", 0.5, 0.0, 1.0, "the probability that such a thread is paused")]
);

/// Pairs of a thread and a lock that are remembered; the table is never quite full.
const HELD: usize = 8192;

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct AtomFuzzer {
    rng: Rng,
    pause: f64,
    paused: [bool; MAX_THREADS],
    /// Locks that threads have held, as hashes of both; 0 for a free place.
    held: [u64; HELD],
    used: usize,
}

fn acquires(event: &Event) -> bool {
    use EventKind::{Lock, ReadLock, Relock, SemWait, SpinLock, WriteLock};
    matches!(event.kind, Lock | Relock | ReadLock | WriteLock | SpinLock | SemWait)
}

impl AtomFuzzer {
    /// Where it stands that the thread has held the lock, or would, and what.
    fn place(&self, t: ThreadId, lock: usize) -> (usize, u64) {
        let key = splitmix64(&mut (lock as u64 ^ (t.index() as u64) << 48)) | 1;
        let mut at = key as usize % HELD;
        while self.held[at] != 0 && self.held[at] != key {
            at = (at + 1) % HELD;
        }
        (at, key)
    }

    /// Whether the thread is about to acquire a lock that it has held before.
    fn again(&self, t: ThreadId, event: &Event) -> bool {
        acquires(event) && self.held[self.place(t, event.object).0] != 0
    }

    /// The thread does this: if it acquires a lock, it has held that from now on.
    fn note(&mut self, t: ThreadId, event: &Event) {
        if !acquires(event) {
            return;
        }
        let (at, key) = self.place(t, event.object);
        if self.held[at] == 0 && self.used < HELD / 2 {
            self.held[at] = key;
            self.used += 1;
        }
    }

    /// The k-th enabled thread that is not paused.
    fn free(&mut self, point: &Point<'_>, but: ThreadId) -> Option<ThreadId> {
        let free = |t: &ThreadId| *t != but && !self.paused[t.index()];
        let count = point.enabled.iter().filter(free).count();
        if count == 0 {
            return None;
        }
        let k = self.rng.below(count as u64) as usize;
        point.enabled.iter().filter(|t| *t != but && !self.paused[t.index()]).nth(k)
    }
}

impl Policy for AtomFuzzer {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.pause = run.parameters[0];
        self.paused.fill(false);
        if self.used > 0 {
            self.held.fill(0);
            self.used = 0;
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let chosen = self.next(point);
        self.note(chosen, &point.pending[chosen.index()]);
        chosen
    }

    fn sees_every_point(&self) -> bool {
        true
    }

    fn no_choice(&mut self, point: &Point<'_>) {
        if let Some(t) = point.enabled.first() {
            self.note(t, &point.pending[t.index()]);
        }
    }
}

impl AtomFuzzer {
    fn next(&mut self, point: &Point<'_>) -> ThreadId {
        let me = point.current;
        if !point.enabled.contains(me) || self.paused[me.index()] || point.spins > 0 {
            return self.go_on(point);
        }
        if self.again(me, &point.pending[me.index()]) && self.rng.chance(self.pause) {
            if let Some(other) = self.free(point, me) {
                self.paused[me.index()] = true;
                return other;
            }
        }
        me
    }

    /// The current thread cannot go on: a thread that is not paused, or, if all are, one that is.
    fn go_on(&mut self, point: &Point<'_>) -> ThreadId {
        let chosen = match self.free(point, point.current) {
            Some(t) => t,
            None => another(point, &mut self.rng),
        };
        self.paused[chosen.index()] = false;
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::{self, Op};

    #[test]
    fn somebody_else_comes_between_two_critical_sections() {
        // The bug: thread 1 runs between the two critical sections of thread 0, which a thread that runs until it
        // blocks never allows.
        let twice = vec![Op::Lock(0), Op::Step, Op::Unlock(0), Op::Lock(0), Op::Unlock(0)];
        let program = toy::Program { threads: vec![twice, vec![Op::Lock(0), Op::Step, Op::Unlock(0)]] };
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<AtomFuzzer> = unsafe { Box::new(core::mem::zeroed()) };
        let mut found = |pause: f64| {
            let violated = |seed: &u64| {
                let s = toy::run(&mut *policy, &program, *seed, &[pause]).schedule;
                s[..3] == [0, 0, 0] && s[3..6] == [1, 1, 1]
            };
            (0..1_000u64).filter(violated).count()
        };
        assert_eq!(found(0.0), 0);
        assert_eq!(found(1.0), 1_000);
        assert!((430..570).contains(&found(0.5)));
    }

    #[test]
    fn all_acquisitions_count() {
        // Thread 0 has the lock while thread 1 waits for it, or ends: what it acquires then is acquired alone. Still it
        // is paused before the next time.
        let section = [Op::Lock(0), Op::Unlock(0)];
        let program = toy::Program {
            threads: vec![[section, section].concat(), vec![Op::Join(2), Op::Step], vec![Op::Lock(0), Op::Unlock(0)]],
        };
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<AtomFuzzer> = unsafe { Box::new(core::mem::zeroed()) };
        let (t, event) = (ThreadId(0), Event::new(EventKind::Lock, 1));
        toy::run(&mut *policy, &program, 0, &[0.0]);
        assert!(policy.again(t, &event) && policy.again(ThreadId(2), &event) && !policy.again(ThreadId(1), &event));
        let alone = toy::Program { threads: vec![section.to_vec(), vec![Op::Join(0), Op::Lock(0), Op::Unlock(0)]] };
        toy::run(&mut *policy, &alone, 0, &[0.0]);
        assert!(policy.again(t, &event) && policy.again(ThreadId(1), &event));
    }
}
