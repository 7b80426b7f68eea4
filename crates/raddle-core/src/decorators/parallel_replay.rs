//! The recording of a parallel run, replayed by a serial one: one decision for every point, including points at which
//! only one thread could go on.
//!
//! Threads that really ran at the same time may have done something between two points that one thread at a time
//! cannot do. So the recording is followed as far as possible, and from there on no thread is preempted. Whether that
//! was worth the run is known at its end: if the same failure has happened, the run's own decisions are a schedule
//! like any other.

use super::replay::Decision;
use crate::policy::Point;
use crate::thread::ThreadId;

/// Follows the recording of a parallel run.
#[derive(Debug)]
pub struct ParallelReplay<'a> {
    recording: &'a [Decision],
    at: usize,
}

impl<'a> ParallelReplay<'a> {
    /// Follows this recording.
    pub fn new(recording: &'a [Decision]) -> ParallelReplay<'a> {
        ParallelReplay { recording, at: 0 }
    }

    /// The thread that took the next step; `None` when the recording has ended or was left.
    pub fn next(&self) -> Option<ThreadId> {
        self.recording.get(self.at).map(|decision| decision.thread())
    }

    /// A step is taken by this decision. If the recording has another one, it is left for good.
    pub fn step_taken(&mut self, decision: Decision) {
        match self.recording.get(self.at) {
            Some(expected) if *expected == decision => self.at += 1,
            _ => self.at = self.recording.len(),
        }
    }

    /// Decides at a point, which may have only one enabled thread.
    pub fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let chosen = self.next().filter(|&t| point.enabled.contains(t));
        let chosen = chosen.unwrap_or_else(|| point.unpreempted());
        self.step_taken(Decision::new(chosen, point.pending[chosen.index()].kind));
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::EnabledSet;
    use crate::event::{Event, EventKind};

    /// The thread chosen at each of these points of three threads that all lock, by a recording of such steps.
    fn chosen(recording: &[u16], points: &[(u16, &[u16])]) -> Vec<u16> {
        let lock = |t: &u16| Decision::new(ThreadId(*t), EventKind::Lock);
        let recording: Vec<_> = recording.iter().map(lock).collect();
        let mut replay = ParallelReplay::new(&recording);
        let pending = [Event::new(EventKind::Lock, 8); 3];
        let choose = |(current, able): &(u16, &[u16])| {
            let mut enabled = EnabledSet::new();
            able.iter().for_each(|&t| _ = enabled.set(ThreadId(t), true));
            let current = ThreadId(*current);
            let point =
                Point { current, enabled: &enabled, pending: &pending, spins: 0, step: 0, opened: false, points: 0 };
            replay.choose(&point).0
        };
        points.iter().map(choose).collect()
    }

    #[test]
    fn follows_also_where_there_is_no_choice() {
        let points: [(u16, &[u16]); 4] = [(0, &[0]), (0, &[0, 1, 2]), (2, &[0, 1, 2]), (2, &[1])];
        assert_eq!(chosen(&[0, 2, 0, 1], &points), [0, 2, 0, 1]);
    }

    #[test]
    fn a_recording_that_cannot_be_followed_is_left_for_good() {
        // Thread 2 cannot go: from there on no thread is preempted, even where the recording could be followed again.
        let points: [(u16, &[u16]); 3] = [(0, &[0, 1]), (0, &[0, 1, 2]), (1, &[1, 2])];
        assert_eq!(chosen(&[2, 2, 2], &points), [0, 0, 1]);
    }

    #[test]
    fn goes_on_after_the_end() {
        assert_eq!(chosen(&[1], &[(0, &[0, 1]), (1, &[0, 2])]), [1, 2]);
    }
}
