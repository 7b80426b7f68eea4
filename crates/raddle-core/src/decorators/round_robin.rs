//! Fair turns: the schedule that takes over from a policy when a run seems to make no progress.
//!
//! The threads take turns in the order of their ids, so that every thread that can go on does. One length of turns is
//! not enough to tell a livelock from an accident: two threads that try, fail and step back together do so for ever if
//! each takes one step at a time, and any other length ends that. So there are three.

use crate::enabled::EnabledSet;
use crate::thread::ThreadId;

/// How many points a thread passes before the next one's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Turns {
    /// One.
    #[default]
    Single = 0,
    /// A number that is drawn for each turn, always in the same sequence, also for a thread that gives way: otherwise
    /// threads that all give way soon would go in step.
    Drawn,
    /// As many as it likes until it waits or gives way, but not for ever.
    Long,
}

/// The longest of drawn turns.
const LONGEST_DRAWN: u64 = 16;
/// The longest of long turns.
const LONGEST: u64 = 1_024;

/// Whose turn it is. Valid when zeroed.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    turns: Turns,
    /// Points that the thread may still pass in its turn.
    left: u64,
    drawn: u64,
}

impl RoundRobin {
    /// Turns of this kind, from the next decision on.
    pub fn new(turns: Turns) -> RoundRobin {
        RoundRobin { turns, left: 0, drawn: 0 }
    }

    /// The thread that passes the next point, after `current`, which may just have given way to others.
    pub fn choose(&mut self, current: ThreadId, enabled: &EnabledSet, gives_way: bool) -> ThreadId {
        let stays = !gives_way || self.turns == Turns::Drawn;
        if self.left > 0 && stays && enabled.contains(current) {
            self.left -= 1;
            return current;
        }
        self.left = self.length() - 1;
        enabled.after(current).or(enabled.first()).unwrap_or(current)
    }

    /// The turn is over.
    pub fn end_turn(&mut self) {
        self.left = 0;
    }

    fn length(&mut self) -> u64 {
        match self.turns {
            Turns::Single => 1,
            Turns::Drawn => {
                self.drawn = self.drawn.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                1 + (self.drawn >> 40) % LONGEST_DRAWN
            }
            Turns::Long => LONGEST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enabled(threads: &[u16]) -> EnabledSet {
        let mut set = EnabledSet::new();
        threads.iter().for_each(|&t| _ = set.set(ThreadId(t), true));
        set
    }

    /// The threads of the next decisions, each after the one before.
    fn turns(mut robin: RoundRobin, set: &EnabledSet, decisions: usize) -> Vec<u16> {
        let mut current = ThreadId(0);
        let next = |_| {
            current = robin.choose(current, set, false);
            current.0
        };
        (0..decisions).map(next).collect()
    }

    #[test]
    fn single_turns_go_round() {
        assert_eq!(turns(RoundRobin::new(Turns::Single), &enabled(&[1, 3, 200]), 7), [1, 3, 200, 1, 3, 200, 1]);
    }

    #[test]
    fn a_long_turn_ends_when_the_thread_gives_way_or_waits() {
        let (mut robin, both) = (RoundRobin::new(Turns::Long), enabled(&[1, 2]));
        assert_eq!(robin.choose(ThreadId(2), &both, false), ThreadId(1));
        assert!((0..10).all(|_| robin.choose(ThreadId(1), &both, false) == ThreadId(1)));
        assert_eq!(robin.choose(ThreadId(1), &both, true), ThreadId(2));
        assert_eq!(robin.choose(ThreadId(2), &enabled(&[1]), false), ThreadId(1));
    }

    #[test]
    fn no_turn_lasts_for_ever() {
        for kind in [Turns::Single, Turns::Drawn, Turns::Long] {
            let chosen = turns(RoundRobin::new(kind), &enabled(&[0, 1, 2]), 9 * LONGEST as usize);
            for thread in 0..3 {
                let longest = chosen.chunk_by(|a, b| a == b).filter(|turn| turn[0] == thread).map(<[u16]>::len).max();
                assert!(longest.is_some_and(|longest| longest <= LONGEST as usize), "{kind:?}");
            }
        }
    }

    #[test]
    fn drawn_turns_have_many_lengths() {
        let chosen = turns(RoundRobin::new(Turns::Drawn), &enabled(&[0, 1]), 10_000);
        let lengths: std::collections::BTreeSet<_> = chosen.chunk_by(|a, b| a == b).map(<[u16]>::len).collect();
        assert_eq!(lengths.len(), LONGEST_DRAWN as usize, "{lengths:?}");
    }
}
