//! Fair schedules only: a thread that waits busily cannot keep out those that it waits for.
//!
//! A program that spins has endless schedules, in which no other thread ever runs. They cannot be explored, and they
//! say nothing: a real scheduler is fair. As in CHESS (Musuvathi and Qadeer, PLDI'08), a thread that has done
//! nothing useful must let the others go first: after its second operation without progress it may not run before
//! every thread has run that was enabled then and has not run since its last such operation, or until that thread
//! is no longer enabled. Schedules in which a thread spins more often than that are not explored.
//!
//! Deviation: CHESS asks whether a thread was enabled all the time since the last yield; here it is enough that it
//! is enabled now.

use super::{each, only, Threads, THREADS};
use crate::policy::Point;

/// Operations without progress from which on a thread is held back. One may happen to any thread.
const SPINNING: u32 = 2;

/// Which threads have to wait for which. Valid when zeroed: none.
#[repr(C)]
pub struct Fair {
    /// Threads that wait for others.
    held: Threads,
    /// Whether any thread was held in this run.
    pub held_any: bool,
    /// Points that were looked at.
    now: u32,
    /// Threads that this run has seen.
    seen: usize,
    /// Whom each thread has to let run first.
    first: [Threads; THREADS],
    /// When the thread was chosen last.
    ran: [u32; THREADS],
    /// When the thread's last operation without progress was.
    futile: [u32; THREADS],
    /// What [`Point::spins`] was for the thread.
    spins: [u32; THREADS],
}

impl Fair {
    /// A run starts.
    pub fn start(&mut self) {
        for t in 0..self.seen {
            (self.first[t], self.ran[t], self.futile[t], self.spins[t]) = (0, 0, 0, 0);
        }
        (self.held, self.held_any, self.now, self.seen) = (0, false, 0, 0);
    }

    /// Which of the enabled threads may be chosen, and whether the current one has just done something without
    /// progress.
    #[inline]
    pub fn look(&mut self, point: &Point<'_>, enabled: Threads) -> (Threads, bool) {
        self.now += 1;
        self.seen = self.seen.max(point.pending.len());
        let t = point.current.index();
        let before = core::mem::replace(&mut self.spins[t], point.spins);
        let gives_way = point.spins > before;
        if !gives_way && self.held == 0 {
            return (enabled, false);
        }
        (self.hold(t, gives_way, point.spins, enabled), gives_way)
    }

    #[cold]
    fn hold(&mut self, t: usize, futile: bool, spins: u32, enabled: Threads) -> Threads {
        // It has run, so no thread waits for it now, and no two threads wait for each other.
        self.ran(t);
        if futile {
            let last = core::mem::replace(&mut self.futile[t], self.now);
            if spins >= SPINNING {
                let others = enabled & !only(t);
                let waits = each(others).filter(|&u| self.ran[u] < last.max(1)).fold(0, |set, u| set | only(u));
                self.first[t] |= waits;
                if self.first[t] != 0 {
                    self.held |= only(t);
                    self.held_any = true;
                }
            }
        }
        let held = each(self.held & enabled).filter(|&u| self.first[u] & enabled != 0).fold(0, |set, u| set | only(u));
        match enabled & !held {
            0 => enabled,
            allowed => allowed,
        }
    }

    /// The thread takes a step.
    #[inline]
    pub fn chosen(&mut self, t: usize) {
        self.ran[t] = self.now;
        if self.held != 0 {
            self.ran(t);
        }
    }

    fn ran(&mut self, t: usize) {
        for u in each(self.held) {
            self.first[u] &= !only(t);
            if self.first[u] == 0 {
                self.held &= !only(u);
            }
        }
        // What it waited for itself is over.
        self.first[t] = 0;
        self.held &= !only(t);
    }
}
