//! Priority-inheritance futexes (futex(2), FUTEX_LOCK_PI and its relatives): the word holds the id of
//! the owner, and the kernel hands it to the next in the queue. Priorities are not modelled.

use libc::{timespec, EDEADLK, EINTR, EINVAL, EPERM, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};

use super::futex::Call;
use super::thread_attributes;
use super::time::{deadline, valid_for_kernel};
use crate::control::{point, scheduler, wait};
use crate::race;
use crate::scheduler::thread::{Wait, Wake};

const TID_MASK: u32 = 0x3fff_ffff;
const WAITERS: u32 = 0x8000_0000;
const OWNER_DIED: u32 = 0x4000_0000;

/// Performs the system call in the model; the result is what the kernel would return.
pub(super) unsafe fn futex(me: ThreadId, call: Call) -> isize {
    // SAFETY: the caller's word; `me` holds the baton whenever it runs.
    unsafe {
        match call.operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_UNLOCK_PI => unlock(me, call.word),
            libc::FUTEX_TRYLOCK_PI => {
                point(me, EventKind::FutexWait, call.word as usize);
                let result = acquire(me, call.word).unwrap_or(-(libc::EAGAIN as isize));
                if result != 0 {
                    scheduler().made_no_progress(me);
                }
                result
            }
            operation => {
                let monotonic = operation == libc::FUTEX_LOCK_PI2 && call.operation & libc::FUTEX_CLOCK_REALTIME == 0;
                let clock = if monotonic { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME };
                if call.time != 0 && !valid_for_kernel(call.time as *const timespec) {
                    return -(EINVAL as isize);
                }
                lock(me, call.word, deadline(clock, call.time as *const timespec))
            }
        }
    }
}

/// Takes a word that is free; `None`: another thread has it.
unsafe fn acquire(me: ThreadId, word: *mut u32) -> Option<isize> {
    let tid = thread_attributes::id(me) as u32;
    // SAFETY: the caller's word.
    unsafe {
        let value = word.read_volatile();
        match value & TID_MASK {
            0 => {
                word.write_volatile(tid | value & (OWNER_DIED | WAITERS));
                race::acquire(me, word as usize);
                Some(0)
            }
            owner if owner == tid => Some(-(EDEADLK as isize)),
            _ => None,
        }
    }
}

unsafe fn lock(me: ThreadId, word: *mut u32, deadline: u64) -> isize {
    let key = word as usize;
    point(me, EventKind::FutexWait, key);
    // SAFETY: as above.
    unsafe {
        if let Some(result) = acquire(me, word) {
            return result;
        }
        word.write_volatile(word.read_volatile() | WAITERS);
        let s = scheduler();
        s.waiters.insert(me, key);
        let thread = s.thread(me);
        thread.futex_bits = u32::MAX;
        thread.interruptible = true;
        let wake = wait(me, Event::new(EventKind::FutexResume, key), Wait::Event, deadline);
        let thread = scheduler().thread(me);
        thread.interruptible = false;
        thread.futex_bits = 0;
        match wake {
            // The thread that unlocked it has written our id.
            Wake::Go | Wake::Cancelled => {
                race::acquire(me, key);
                0
            }
            Wake::TimedOut => -(ETIMEDOUT as isize),
            Wake::Interrupted => -(EINTR as isize),
        }
    }
}

unsafe fn unlock(me: ThreadId, word: *mut u32) -> isize {
    let key = word as usize;
    point(me, EventKind::FutexWake, key);
    // SAFETY: as above.
    unsafe {
        if word.read_volatile() & TID_MASK != thread_attributes::id(me) as u32 {
            return -(EPERM as isize);
        }
        race::release(me, key);
        let s = scheduler();
        let Some(next) = s.waiters.first(key, |t| s.threads[t.index()].futex_bits != 0) else {
            word.write_volatile(0);
            return 0;
        };
        s.thread(next).futex_bits = 0;
        s.wake(next);
        let more = s.waiters.first(key, |t| s.threads[t.index()].futex_bits != 0).is_some();
        word.write_volatile(thread_attributes::id(next) as u32 | if more { WAITERS } else { 0 });
        0
    }
}
