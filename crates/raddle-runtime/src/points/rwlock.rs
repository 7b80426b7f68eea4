//! pthread_rwlock_*.

use core::ffi::c_int;

use libc::{timespec, EBUSY, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use super::cancel::must_stop_now;
use super::misuse::{self, destroys};
use super::time::{deadline, valid};
use crate::control::{call_real, point, scheduler, wait_through};
use crate::model::mutex::Damage;
use crate::model::rwlock::RwLock;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{owner, Polled, Wait, Wake};
use crate::{interpose, race, real};

#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Reading,
    Writing,
}

/// Ends the run if the lock is destroyed.
#[inline]
unsafe fn inspect(me: ThreadId, rwlock: *mut RwLock, kind: EventKind) {
    // SAFETY: the caller's lock.
    if unsafe { (*rwlock).destroyed() } {
        misuse::report(me, rwlock as usize, "rwlock", kind, Damage::Destroyed);
    }
}

unsafe fn lock(me: ThreadId, rwlock: *mut RwLock, what: For, deadline: u64) -> c_int {
    // SAFETY (all below): the caller's lock; `me` holds the baton whenever it runs.
    unsafe {
        if (*rwlock).shared() {
            return lock_shared(me, rwlock, what, deadline);
        }
        let key = rwlock as usize;
        let (kind, until) = match what {
            For::Reading => (EventKind::ReadLock, Wait::Read(rwlock)),
            For::Writing => (EventKind::WriteLock, Wait::Write(rwlock)),
        };
        let result = loop {
            let waits = what == For::Writing && !(*rwlock).ready_to_write(owner(me));
            if waits {
                (*rwlock).writer_waits();
                scheduler().changed(key);
            }
            let wake = wait_through(me, Event::new(kind, key), until, deadline);
            inspect(me, rwlock, kind);
            if waits {
                (*rwlock).writer_stops_waiting();
            }
            let result = match (wake, what) {
                (Wake::TimedOut, _) => ETIMEDOUT,
                // The thread is cancelled when the call returns.
                (Wake::Cancelled, _) => EINVAL,
                (_, For::Reading) => (*rwlock).lock_for_reading(owner(me)),
                (_, For::Writing) => (*rwlock).lock_for_writing(owner(me)),
            };
            // Busy: the program has written to it, or code outside control has taken it.
            if result != EBUSY || must_stop_now(me) {
                break result;
            }
        };
        if result == 0 {
            acquired(me, key, what);
        }
        scheduler().changed(key);
        result
    }
}

/// The key at which readers release, for the next writer to acquire.
fn readers(key: usize) -> usize {
    key + 1
}

/// The lock was just taken: a reader comes after the writers before it, a writer after all others.
unsafe fn acquired(me: ThreadId, key: usize, what: For) {
    // SAFETY: `me` holds the baton.
    unsafe {
        race::acquire(me, key);
        if what == For::Writing {
            race::acquire(me, readers(key));
        }
    }
}

/// Tries the real lock as a call that locks does, except that ETIMEDOUT stands for having to wait.
unsafe fn attempt(me: ThreadId, rwlock: *mut RwLock, what: For) -> c_int {
    const LONG_AGO: timespec = timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: the caller's lock.
    let result = call_real(me, || unsafe {
        match what {
            For::Reading => {
                real!(pthread_rwlock_timedrdlock: fn(*mut RwLock, *const timespec) -> c_int)(rwlock, &LONG_AGO)
            }
            For::Writing => {
                real!(pthread_rwlock_timedwrlock: fn(*mut RwLock, *const timespec) -> c_int)(rwlock, &LONG_AGO)
            }
        }
    });
    if result == 0 {
        // SAFETY: `me` holds the baton.
        unsafe { acquired(me, rwlock as usize, what) };
    }
    result
}

/// A lock shared between processes: the calling thread tries the real one, and waits until it looks free.
unsafe fn lock_shared(me: ThreadId, rwlock: *mut RwLock, what: For, deadline: u64) -> c_int {
    struct Look(*mut RwLock, For);
    unsafe fn test(context: *mut core::ffi::c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let look = &*context.cast::<Look>();
            match look.1 {
                For::Reading => (*look.0).looks_readable(),
                For::Writing => (*look.0).looks_writable(),
            }
        }
    }
    // SAFETY: as above.
    unsafe {
        scheduler().escaped(Escape::SharedObject);
        point(me, EventKind::TryRwLock, rwlock as usize);
        let mut look = Look(rwlock, what);
        let context = (&raw mut look).cast();
        let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
        loop {
            let result = attempt(me, rwlock, what);
            if result != ETIMEDOUT || must_stop_now(me) {
                return result;
            }
            let event = Event::new(EventKind::Outside, rwlock as usize);
            if test(context) {
                // Its preference keeps this thread out.
                scheduler().made_no_progress(me);
            }
            match wait_through(me, event, Wait::Polled(&raw const polled), deadline) {
                Wake::TimedOut => return ETIMEDOUT,
                // The thread is cancelled when the call returns.
                Wake::Cancelled => return EINVAL,
                _ => {}
            }
        }
    }
}

unsafe fn try_lock(me: ThreadId, rwlock: *mut RwLock, what: For) -> c_int {
    point(me, EventKind::TryRwLock, rwlock as usize);
    // SAFETY: as above.
    unsafe {
        inspect(me, rwlock, EventKind::TryRwLock);
        if (*rwlock).shared() {
            scheduler().escaped(Escape::SharedObject);
            let result = call_real(me, || match what {
                For::Reading => real!(pthread_rwlock_tryrdlock: fn(*mut RwLock) -> c_int)(rwlock),
                For::Writing => real!(pthread_rwlock_trywrlock: fn(*mut RwLock) -> c_int)(rwlock),
            });
            if result == 0 {
                acquired(me, rwlock as usize, what);
            } else {
                scheduler().made_no_progress(me);
            }
            return result;
        }
        let result = match what {
            For::Reading => (*rwlock).lock_for_reading(owner(me)),
            For::Writing => (*rwlock).lock_for_writing(owner(me)),
        };
        if result == 0 {
            acquired(me, rwlock as usize, what);
            scheduler().changed(rwlock as usize);
            return 0;
        }
        scheduler().made_no_progress(me);
        // Trying never reports a deadlock.
        EBUSY
    }
}

unsafe fn timed(me: ThreadId, rwlock: *mut RwLock, what: For, clock: c_int, time: *const timespec) -> c_int {
    // SAFETY: the caller's objects.
    unsafe {
        if !valid(time) || (clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC) {
            return EINVAL;
        }
        lock(me, rwlock, what, deadline(clock, time))
    }
}

/// pthread_rwlock_destroy, which is called from `place`.
unsafe extern "C-unwind" fn destroy(rwlock: *mut RwLock, place: usize) -> c_int {
    // SAFETY: the caller's lock. The real function does nothing.
    unsafe {
        misuse::destroy(rwlock as usize, place, |me| {
            if me.is_some() {
                (*rwlock).destroy();
            }
            real!(pthread_rwlock_destroy: fn(*mut RwLock) -> c_int)(rwlock)
        })
    }
}

destroys! {
    pthread_rwlock_destroy(RwLock) => destroy;
}

interpose! {
    fn pthread_rwlock_rdlock(rwlock: *mut RwLock) -> c_int |me| {
        lock(me, rwlock, For::Reading, NEVER)
    }

    fn pthread_rwlock_wrlock(rwlock: *mut RwLock) -> c_int |me| {
        lock(me, rwlock, For::Writing, NEVER)
    }

    fn pthread_rwlock_timedrdlock(rwlock: *mut RwLock, time: *const timespec) -> c_int |me| {
        timed(me, rwlock, For::Reading, libc::CLOCK_REALTIME, time)
    }

    fn pthread_rwlock_timedwrlock(rwlock: *mut RwLock, time: *const timespec) -> c_int |me| {
        timed(me, rwlock, For::Writing, libc::CLOCK_REALTIME, time)
    }

    fn pthread_rwlock_clockrdlock(rwlock: *mut RwLock, clock: c_int, time: *const timespec) -> c_int |me| {
        timed(me, rwlock, For::Reading, clock, time)
    }

    fn pthread_rwlock_clockwrlock(rwlock: *mut RwLock, clock: c_int, time: *const timespec) -> c_int |me| {
        timed(me, rwlock, For::Writing, clock, time)
    }

    fn pthread_rwlock_tryrdlock(rwlock: *mut RwLock) -> c_int |me| {
        try_lock(me, rwlock, For::Reading)
    }

    fn pthread_rwlock_trywrlock(rwlock: *mut RwLock) -> c_int |me| {
        try_lock(me, rwlock, For::Writing)
    }

    fn pthread_rwlock_unlock(rwlock: *mut RwLock) -> c_int |me| {
        point(me, EventKind::RwUnlock, rwlock as usize);
        inspect(me, rwlock, EventKind::RwUnlock);
        let key = rwlock as usize;
        race::release(me, if (*rwlock).holder() != 0 { key } else { readers(key) });
        if (*rwlock).shared() {
            scheduler().outside_touched = true;
            return call_real(me, || real!(pthread_rwlock_unlock: fn(*mut RwLock) -> c_int)(rwlock));
        }
        let result = (*rwlock).unlock(owner(me));
        scheduler().changed(rwlock as usize);
        result
    }
}
