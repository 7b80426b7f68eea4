//! Replay: follows a recorded schedule instead of asking a policy, and notices where the program
//! does something other than it did when the schedule was recorded.

use crate::event::EventKind;
use crate::policy::{Point, Policy, Run};
use crate::thread::ThreadId;

/// One recorded decision: which thread took the step, and what it was about to do.
///
/// Packed into 32 bits: the thread in the low half, the event kind in the third byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(transparent)]
pub struct Decision(pub u32);

impl Decision {
    /// Packs a decision.
    #[inline]
    pub fn new(thread: ThreadId, kind: EventKind) -> Decision {
        Decision(u32::from(thread.0) | (kind as u32) << 16)
    }

    /// The thread that took the step.
    pub fn thread(self) -> ThreadId {
        ThreadId(self.0 as u16)
    }

    /// What the thread was about to do; `None` for a number that this version does not know.
    pub fn kind(self) -> Option<EventKind> {
        EventKind::from_u8((self.0 >> 16) as u8)
    }
}

/// Where and how a replay left its recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The step, counted from 1.
    pub step: u64,
    /// What the recording has there; `None` when the recording ends earlier.
    pub expected: Option<Decision>,
    /// What the program offers: the expected thread's event, or that of the thread that arrived.
    pub found: Decision,
    /// Whether the expected thread could go on at all.
    pub enabled: bool,
}

/// A policy that follows a recording.
#[derive(Debug)]
pub struct Replay<'a> {
    recording: &'a [Decision],
    at: usize,
    /// Set as soon as the program leaves the recording.
    pub diverged: Option<Divergence>,
}

impl<'a> Replay<'a> {
    /// Follows this recording.
    pub fn new(recording: &'a [Decision]) -> Replay<'a> {
        Replay { recording, at: 0, diverged: None }
    }
}

impl Policy for Replay<'_> {
    fn start(&mut self, _run: &Run<'_>) {
        self.at = 0;
        self.diverged = None;
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let step = point.step + 1;
        let of = |t: ThreadId| Decision::new(t, point.pending[t.index()].kind);
        let expected = self.recording.get(self.at).copied();
        self.at += 1;
        let Some(decision) = expected else {
            // Past the end: the recording stopped at the failure, which has not happened.
            self.diverged.get_or_insert(Divergence { step, expected: None, found: of(point.current), enabled: true });
            return first(point);
        };
        let t = decision.thread();
        let known = t.index() < point.pending.len();
        let enabled = known && point.enabled.contains(t);
        if enabled && of(t) == decision {
            return t;
        }
        let found = of(if known { t } else { point.current });
        self.diverged.get_or_insert(Divergence { step, expected, found, enabled });
        if enabled {
            t
        } else {
            first(point)
        }
    }
}

impl Replay<'_> {
    /// Which of these threads, one bit each, is woken, if the recording says so.
    pub fn choose_waiter(&mut self, waiters: u64) -> Option<ThreadId> {
        let expected = self.recording.get(self.at).copied().filter(|next| next.kind() == Some(EventKind::Woken))?;
        self.at += 1;
        let t = expected.thread();
        if t.index() < 64 && waiters >> t.index() & 1 != 0 {
            return Some(t);
        }
        let found = Decision::new(ThreadId(waiters.trailing_zeros() as u16), EventKind::Woken);
        let step = self.at as u64;
        self.diverged.get_or_insert(Divergence { step, expected: Some(expected), found, enabled: false });
        None
    }
}

fn first(point: &Point<'_>) -> ThreadId {
    point.enabled.nth(0).unwrap_or(point.current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::random::Random;
    use crate::toy::{self, Op};

    fn record(program: &toy::Program, seed: u64) -> (toy::Outcome, Vec<Decision>) {
        let mut log = Vec::new();
        struct Recorder<'a>(Random, &'a mut Vec<Decision>);
        impl Policy for Recorder<'_> {
            fn start(&mut self, run: &Run<'_>) {
                self.0.start(run);
            }
            fn choose(&mut self, point: &Point<'_>) -> ThreadId {
                let t = self.0.choose(point);
                self.1.push(Decision::new(t, point.pending[t.index()].kind));
                t
            }
        }
        let outcome = toy::run(&mut Recorder(Random::default(), &mut log), program, seed, &[]);
        (outcome, log)
    }

    fn locks() -> toy::Program {
        let thread = |a, b| vec![Op::Lock(a), Op::Lock(b), Op::Unlock(b), Op::Unlock(a)];
        toy::Program { threads: vec![thread(0, 1), thread(1, 0), vec![Op::Step; 3]] }
    }

    #[test]
    fn follows_every_recording() {
        for seed in 0..200 {
            let (outcome, log) = record(&locks(), seed);
            let mut replay = Replay::new(&log);
            assert_eq!(toy::run(&mut replay, &locks(), 999, &[]), outcome);
            assert_eq!(replay.diverged, None);
        }
    }

    #[test]
    fn notices_the_step_of_divergence() {
        let (_, mut log) = record(&locks(), 1);
        log[2] = Decision::new(ThreadId(2), EventKind::Sleep);
        let mut replay = Replay::new(&log);
        toy::run(&mut replay, &locks(), 0, &[]);
        let divergence = replay.diverged.expect("diverges");
        assert_eq!(divergence.step, 3);
        assert_eq!(divergence.expected, Some(log[2]));
    }

    #[test]
    fn notices_an_unknown_thread_and_a_short_recording() {
        let bad = [Decision::new(ThreadId(77), EventKind::Lock)];
        let mut replay = Replay::new(&bad);
        toy::run(&mut replay, &locks(), 0, &[]);
        assert_eq!(replay.diverged.map(|d| d.step), Some(1));
        let mut replay = Replay::new(&[]);
        toy::run(&mut replay, &locks(), 0, &[]);
        assert_eq!(replay.diverged.map(|d| d.expected), Some(None));
    }
}
