//! The timers of timer_create, as far as they go by the virtual clock: what becomes due when, and how often. Pure.

use core::ffi::{c_int, c_void};

use crate::scheduler::clock::NEVER;

/// How a timer tells that it has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Notice {
    /// The slot is free.
    #[default]
    Free,
    /// Not at all.
    None,
    /// By a signal to the process.
    Process,
    /// By a signal to a thread.
    Thread(u16),
    /// By calling a function in a thread of its own.
    Call,
}

/// One timer. Valid when zeroed.
#[derive(Clone, Copy, Default)]
pub struct Timer {
    pub notice: Notice,
    pub signal: c_int,
    /// What the signal or the function gets.
    pub value: usize,
    pub function: usize,
    /// Bytes of stack and guard of the threads that call the function; 0 for libc's own choice.
    pub stack: (usize, usize),
    pub clock: c_int,
    /// When it expires, plus one; 0 when it is not armed.
    deadline: u64,
    interval: u64,
    /// Expirations that have not been told of, because the one before has not been seen.
    pub unseen: u32,
    /// The same, of the last one that was seen.
    pub overrun: u32,
    /// Calls that are to be made.
    pub calls: u32,
}

/// All of them. Valid when zeroed.
pub struct Timers {
    pub timers: [Timer; MOST],
    /// The thread that makes the others for calls, plus one; 0 when there is none.
    pub caller: u32,
    /// It waits for something to do.
    pub caller_waits: bool,
}

/// More timers than that are the kernel's.
pub const MOST: usize = 64;

impl Timer {
    /// Arms it (0: disarms it). Returns what was left, and the interval.
    pub fn set(&mut self, now: u64, deadline: Option<u64>, interval: u64) -> (u64, u64) {
        let before = self.left(now);
        self.deadline = deadline.map_or(0, |deadline| deadline.min(NEVER - 2) + 1);
        self.interval = interval;
        (self.unseen, self.overrun, self.calls) = (0, 0, 0);
        before
    }

    /// What is left, and the interval.
    pub fn left(&self, now: u64) -> (u64, u64) {
        let left = self.deadline.checked_sub(1).map_or(0, |deadline| deadline.saturating_sub(now).max(1));
        (left, self.interval)
    }

    /// How often it has expired by now since it was last asked.
    pub fn expire(&mut self, now: u64) -> u32 {
        let Some(deadline) = self.deadline.checked_sub(1).filter(|&deadline| deadline <= now) else { return 0 };
        if self.interval == 0 {
            self.deadline = 0;
            return 1;
        }
        let more = (now - deadline) / self.interval;
        self.deadline = deadline + (more + 1) * self.interval + 1;
        u32::try_from(more + 1).unwrap_or(u32::MAX)
    }
}

impl Timers {
    /// The earliest deadline.
    pub fn next(&self) -> u64 {
        let armed = self.timers.iter().filter(|timer| timer.notice != Notice::Free && timer.deadline != 0);
        armed.map(|timer| timer.deadline - 1).min().unwrap_or(NEVER)
    }

    /// A free slot.
    pub fn free(&self) -> Option<usize> {
        self.timers.iter().position(|timer| timer.notice == Notice::Free)
    }

    /// The timer that the program knows by this name.
    pub fn find(&mut self, name: *mut c_void) -> Option<&mut Timer> {
        let at = (name as usize).checked_sub(self.timers.as_ptr() as usize)?;
        let index = at / size_of::<Timer>();
        let timer = self.timers.get_mut(index).filter(|_| at % size_of::<Timer>() == 0)?;
        (timer.notice != Notice::Free).then_some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Timers> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[test]
    fn a_timer_expires_once_or_again_and_again() {
        let mut all = empty();
        let timer = &mut all.timers[3];
        timer.notice = Notice::Process;
        assert_eq!(timer.set(0, Some(100), 0), (0, 0));
        assert_eq!((timer.left(40), timer.expire(99), timer.expire(100), timer.expire(1000)), ((60, 0), 0, 1, 0));
        timer.set(1000, Some(1100), 50);
        assert_eq!(
            (timer.expire(1100), timer.left(1110), timer.expire(1249), timer.left(1249)),
            (1, (40, 50), 2, (1, 50))
        );
        assert_eq!(all.next(), 1250);
        assert_eq!(all.timers[3].set(1249, None, 0), (1, 50));
        assert_eq!(all.next(), NEVER);
    }

    #[test]
    fn only_the_names_of_timers_find_one() {
        let mut all = empty();
        all.timers[1].notice = Notice::None;
        let name = &raw mut all.timers[1] as *mut c_void;
        assert!(all.find(name).is_some());
        for wrong in [name.wrapping_byte_add(8), name.wrapping_byte_sub(size_of::<Timer>()), core::ptr::null_mut()] {
            assert!(all.find(wrong).is_none());
        }
        assert_eq!(all.free(), Some(0));
    }
}
