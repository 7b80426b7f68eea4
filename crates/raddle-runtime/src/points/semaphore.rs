//! sem_*, unnamed and named. Named ones, and those in memory shared between processes, use the real
//! semaphore: it is tried, and tried again after a post.

use core::ffi::c_int;

use libc::{timespec, EAGAIN, EINTR, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use super::cancel::{act_on_cancel, cancel_is_due};
use super::misuse::{self, destroys};
use super::time::{deadline, valid};
use super::{errno, fail};
use crate::control::{call_real, point, scheduler, wait};
use crate::model::mutex::Damage;
use crate::model::semaphore::Semaphore;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::{interpose, race, real};

/// Ends the run if the semaphore is destroyed.
#[inline]
unsafe fn inspect(me: ThreadId, semaphore: *mut Semaphore, kind: EventKind) {
    // SAFETY: the caller's semaphore.
    if unsafe { (*semaphore).destroyed() } {
        misuse::report(me, semaphore as usize, "semaphore", kind, Damage::Destroyed);
    }
}

/// Takes a unit; 0 or an error number. `Err` means that the thread is to be cancelled.
unsafe fn take(me: ThreadId, semaphore: *mut Semaphore, deadline: u64) -> Result<c_int, ()> {
    if cancel_is_due(me) {
        return Err(());
    }
    // SAFETY (all below): the caller's semaphore; `me` holds the baton whenever it runs.
    unsafe {
        let thread = scheduler().thread(me);
        thread.cancellable = true;
        thread.interruptible = true;
        let shared = (*semaphore).shared();
        let wake = loop {
            let wake = if shared {
                take_shared(me, semaphore, deadline)
            } else {
                wait(me, Event::new(EventKind::SemWait, semaphore as usize), Wait::Semaphore(semaphore), deadline)
            };
            // As a futex: with a time-out the wait does not restart.
            if wake == Wake::Interrupted && deadline == NEVER && scheduler().threads[me.index()].restarts {
                continue;
            }
            inspect(me, semaphore, EventKind::SemWait);
            // Not there after all: the program has written to it, or code outside control has taken it.
            if wake != Wake::Go || shared || (*semaphore).try_take() == 0 {
                break wake;
            }
        };
        let thread = scheduler().thread(me);
        thread.cancellable = false;
        thread.interruptible = false;
        match wake {
            Wake::Cancelled => return Err(()),
            Wake::TimedOut => return Ok(ETIMEDOUT),
            Wake::Interrupted => return Ok(EINTR),
            Wake::Go => {}
        }
        race::acquire(me, semaphore as usize);
        if !shared {
            scheduler().changed(semaphore as usize);
        }
        Ok(0)
    }
}

unsafe fn take_shared(me: ThreadId, semaphore: *mut Semaphore, deadline: u64) -> Wake {
    unsafe fn test(context: *mut core::ffi::c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let before = errno();
            let taken = real!(sem_trywait: fn(*mut Semaphore) -> c_int)(context.cast()) == 0;
            super::set_errno(before);
            taken
        }
    }
    // SAFETY: as above.
    unsafe {
        scheduler().escaped(Escape::SharedObject);
        point(me, EventKind::SemWait, semaphore as usize);
        if test(semaphore.cast()) {
            return Wake::Go;
        }
        let polled =
            Polled { test, context: semaphore.cast(), descriptors: core::ptr::null_mut(), count: 0, closed: false };
        wait(me, Event::new(EventKind::Outside, semaphore as usize), Wait::Polled(&raw const polled), deadline)
    }
}

fn outcome(error: c_int) -> c_int {
    if error == 0 {
        0
    } else {
        fail(error)
    }
}

/// sem_destroy, which is called from `place`.
unsafe extern "C-unwind" fn destroy(semaphore: *mut Semaphore, place: usize) -> c_int {
    // SAFETY: the caller's semaphore. The real function does nothing.
    unsafe {
        misuse::destroy(semaphore as usize, place, |me| {
            if me.is_some() {
                (*semaphore).set_destroyed(true);
            }
            real!(sem_destroy: fn(*mut Semaphore) -> c_int)(semaphore)
        })
    }
}

destroys! {
    sem_destroy(Semaphore) => destroy;
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn sem_init(semaphore: *mut Semaphore, shared: c_int, value: u32) -> c_int {
    // SAFETY: the caller's memory.
    unsafe {
        let result = real!(sem_init: fn(*mut Semaphore, c_int, u32) -> c_int)(semaphore, shared, value);
        if result == 0 {
            (*semaphore).set_destroyed(false);
        }
        result
    }
}

interpose! {
    fn sem_wait(semaphore: *mut Semaphore) -> c_int |me| {
        match take(me, semaphore, NEVER) {
            Ok(error) => outcome(error),
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn sem_timedwait(semaphore: *mut Semaphore, time: *const timespec) -> c_int |me| {
        if !valid(time) {
            return fail(EINVAL);
        }
        match take(me, semaphore, deadline(libc::CLOCK_REALTIME, time)) {
            Ok(error) => outcome(error),
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn sem_clockwait(semaphore: *mut Semaphore, clock: c_int, time: *const timespec) -> c_int |me| {
        if (clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC) || !valid(time) {
            return fail(EINVAL);
        }
        match take(me, semaphore, deadline(clock, time)) {
            Ok(error) => outcome(error),
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn sem_trywait(semaphore: *mut Semaphore) -> c_int |me| {
        point(me, EventKind::SemTry, semaphore as usize);
        inspect(me, semaphore, EventKind::SemTry);
        let error = if (*semaphore).shared() {
            if real!(sem_trywait: fn(*mut Semaphore) -> c_int)(semaphore) == 0 { 0 } else { errno() }
        } else {
            (*semaphore).try_take()
        };
        if error == 0 {
            race::acquire(me, semaphore as usize);
        }
        if error == EAGAIN {
            scheduler().made_no_progress(me);
        } else {
            scheduler().changed(semaphore as usize);
        }
        outcome(error)
    }

    fn sem_post(semaphore: *mut Semaphore) -> c_int |me| {
        point(me, EventKind::SemPost, semaphore as usize);
        inspect(me, semaphore, EventKind::SemPost);
        race::release(me, semaphore as usize);
        if (*semaphore).shared() {
            scheduler().outside_touched = true;
            return call_real(me, || real!(sem_post: fn(*mut Semaphore) -> c_int)(semaphore));
        }
        let error = (*semaphore).post();
        scheduler().changed(semaphore as usize);
        outcome(error)
    }
}
