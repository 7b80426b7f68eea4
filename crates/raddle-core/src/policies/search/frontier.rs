//! Schedules in the order of what they cost, each once: the frontier of an iterative bounding search.
//!
//! Where nothing else is said, a deterministic scheduler chooses. A schedule is what differs from that: at some
//! points an alternative is taken, which is free or costs one unit. A run is noted as its parent, the run that has
//! all its alternatives but the last, and which of the parent's alternatives the last one is, counted over the points
//! after the parent's own last. That is enough to make it again, and 16 bytes. While a run goes on, its own
//! alternatives are counted; each of them is a run to come: the free ones under the same bound, the others under the
//! next. So no run is made twice, and under each bound only those that cost exactly that.

use super::{each, Threads};
use crate::policy::{Explored, Gap};
use crate::thread::ThreadId;

/// Runs that can be noted.
const RECORDS: usize = 1 << 21;

/// Alternatives that one schedule can have.
const CHAIN: usize = 1 << 12;

/// A run that was made. Valid when zeroed: the first one.
#[derive(Clone, Copy)]
#[repr(C)]
struct Record {
    parent: u32,
    /// Which of the parent's alternatives it took last; the upper bit says that it costs.
    which: u32,
    /// Its own alternatives that are free.
    free: u32,
    /// Its own alternatives that cost.
    costly: u32,
}

const COSTLY: u32 = 1 << 31;

/// The alternatives of one kind of some runs, as far as they were not taken.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cursor {
    run: u32,
    alternative: u32,
}

/// The runs that were made and those that are to come. Valid when zeroed.
#[repr(C)]
pub struct Frontier {
    /// Runs were started.
    started: bool,
    /// The last run does not count.
    undone: bool,
    /// No run is left.
    finished: bool,
    /// There was no room for a record of this run.
    unnoted: bool,
    /// The bound of this run.
    bound: u32,
    /// The largest bound.
    max: u32,
    /// Runs that are noted.
    noted: u32,
    /// The first run of this bound.
    phase: u32,
    free: Cursor,
    costly: Cursor,
    /// What is explored, except for the last run.
    pub explored: Explored,
    /// Alternatives that this run takes.
    length: usize,
    /// Those that it has taken.
    taken: usize,
    /// Alternatives that were passed since the last one that was taken.
    passed: u32,
    chain: [u32; CHAIN],
    records: [Record; RECORDS],
}

impl Frontier {
    /// A run starts, under a bound of `max` at most.
    pub fn start(&mut self, max: u32) {
        self.max = max;
        if core::mem::take(&mut self.undone) {
            if !self.unnoted {
                let record = &mut self.records[self.noted as usize - 1];
                (record.free, record.costly) = (0, 0);
            }
        } else if self.started && !self.finished {
            self.close();
            self.finished = true;
            while let Some(child) = self.next() {
                if self.prepare(child) {
                    self.finished = false;
                    break;
                }
            }
        } else if !self.started {
            self.noted = 1;
        }
        self.started = true;
        (self.taken, self.passed) = (0, 0);
    }

    /// The last run is over.
    fn close(&mut self) {
        self.explored.schedules += 1;
        if self.taken < self.length {
            self.explored.lacks(Gap::Unstable);
        }
    }

    /// The next run: its parent, and which of the parent's alternatives it takes.
    fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            let (runs, phase) = (self.noted, self.phase);
            if let Some(child) = self.free.next(runs, |run| self.records[run as usize].free) {
                return Some(child);
            }
            if let Some((parent, which)) = self.costly.next(phase, |run| self.records[run as usize].costly) {
                return Some((parent, which | COSTLY));
            }
            let refused = self.records[phase as usize..runs as usize].iter().any(|record| record.costly != 0);
            if !refused || self.bound == self.max {
                return None;
            }
            self.bound += 1;
            self.costly = Cursor { run: phase, alternative: 0 };
            self.free = Cursor { run: runs, alternative: 0 };
            self.phase = runs;
        }
    }

    /// Makes ready for a run. Returns whether it can be made.
    fn prepare(&mut self, (parent, which): (u32, u32)) -> bool {
        let mut length = 1;
        let mut run = parent;
        while run != 0 {
            length += 1;
            run = self.records[run as usize].parent;
        }
        if length > CHAIN {
            self.explored.lacks(Gap::Depth);
            return false;
        }
        self.length = length;
        self.chain[length - 1] = which;
        let mut run = parent;
        for place in self.chain[..length - 1].iter_mut().rev() {
            let record = &self.records[run as usize];
            *place = record.which;
            run = record.parent;
        }
        self.unnoted = self.noted as usize == RECORDS;
        if self.unnoted {
            self.explored.lacks(Gap::Memory);
        } else {
            self.records[self.noted as usize] = Record { parent, which, free: 0, costly: 0 };
            self.noted += 1;
        }
        true
    }

    /// At a point with `count` alternatives: the one that is taken, or none.
    #[inline]
    pub fn ask(&mut self, free: u32, costly: u32) -> Option<u32> {
        if self.taken < self.length {
            let wanted = self.chain[self.taken];
            let here = if wanted & COSTLY != 0 { costly } else { free };
            let left = (wanted & !COSTLY) - self.passed;
            if left < here {
                self.taken += 1;
                self.passed = 0;
                return Some(left);
            }
            self.passed += here;
        } else if !self.unnoted {
            let record = &mut self.records[self.noted as usize - 1];
            record.free += free;
            record.costly += costly;
        }
        None
    }

    /// Which of several waiters is woken: any of them, and that is free.
    pub fn choose_waiter(&mut self, waiters: Threads) -> Option<ThreadId> {
        let taken = self.ask(waiters.count_ones() - 1, 0).map_or(0, |k| k as usize + 1);
        each(waiters).nth(taken).map(|t| ThreadId(t as u16))
    }

    /// The last run does not count.
    pub fn run_discarded(&mut self) {
        self.undone = true;
    }

    /// The bound of this run.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// What was explored, if no run is left.
    pub fn exhausted(&self) -> Option<Explored> {
        self.finished.then(|| {
            // Only the last bound is left out, if that.
            let refused =
                self.records[self.phase as usize..self.noted as usize].iter().any(|record| record.costly != 0);
            Explored { bound: if refused { self.bound + 1 } else { 0 }, ..self.explored }
        })
    }
}

impl Cursor {
    /// The next alternative of the runs before `end`; each has the number that the function returns.
    #[inline]
    fn next(&mut self, end: u32, count: impl Fn(u32) -> u32) -> Option<(u32, u32)> {
        while self.run < end {
            if self.alternative < count(self.run) {
                self.alternative += 1;
                return Some((self.run, self.alternative - 1));
            }
            self.run += 1;
            self.alternative = 0;
        }
        None
    }
}
