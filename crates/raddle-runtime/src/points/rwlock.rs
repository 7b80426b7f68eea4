//! pthread_rwlock_*.

use core::ffi::c_int;

use libc::{timespec, EBUSY, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use super::time::{deadline, valid};
use crate::control::{call_real, point, scheduler, wait_through};
use crate::model::rwlock::RwLock;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{owner, Polled, Wait, Wake};
use crate::{interpose, race, real};

#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Reading,
    Writing,
}

unsafe fn lock(me: ThreadId, rwlock: *mut RwLock, what: For, deadline: u64) -> c_int {
    // SAFETY (all below): the caller's lock; `me` holds the baton whenever it runs.
    unsafe {
        if (*rwlock).shared() {
            return lock_shared(me, rwlock, what, deadline);
        }
        let key = rwlock as usize;
        let wake = match what {
            For::Reading => wait_through(me, Event::new(EventKind::ReadLock, key), Wait::Read(rwlock), deadline),
            For::Writing => {
                let waits = !(*rwlock).ready_to_write(owner(me));
                if waits {
                    (*rwlock).writer_waits();
                    scheduler().changed(key);
                }
                let wake = wait_through(me, Event::new(EventKind::WriteLock, key), Wait::Write(rwlock), deadline);
                if waits {
                    (*rwlock).writer_stops_waiting();
                }
                wake
            }
        };
        let result = match (wake, what) {
            (Wake::TimedOut, _) => ETIMEDOUT,
            (_, For::Reading) => (*rwlock).lock_for_reading(owner(me)),
            (_, For::Writing) => (*rwlock).lock_for_writing(owner(me)),
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

/// A lock shared between processes: the real one is tried until it is free.
unsafe fn lock_shared(me: ThreadId, rwlock: *mut RwLock, what: For, deadline: u64) -> c_int {
    struct Try(*mut RwLock, For, c_int);
    unsafe fn test(context: *mut core::ffi::c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let it = &mut *context.cast::<Try>();
            it.2 = match it.1 {
                For::Reading => real!(pthread_rwlock_tryrdlock: fn(*mut RwLock) -> c_int)(it.0),
                For::Writing => real!(pthread_rwlock_trywrlock: fn(*mut RwLock) -> c_int)(it.0),
            };
            it.2 != EBUSY
        }
    }
    // SAFETY: as above.
    unsafe {
        scheduler().escaped(Escape::SharedObject);
        point(me, EventKind::TryRwLock, rwlock as usize);
        let mut attempt = Try(rwlock, what, 0);
        let context = (&raw mut attempt).cast();
        if test(context) {
            acquired(me, rwlock as usize, what);
            return attempt.2;
        }
        let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
        match wait_through(
            me,
            Event::new(EventKind::Outside, rwlock as usize),
            Wait::Polled(&raw const polled),
            deadline,
        ) {
            Wake::TimedOut => ETIMEDOUT,
            _ => {
                acquired(me, rwlock as usize, what);
                attempt.2
            }
        }
    }
}

unsafe fn try_lock(me: ThreadId, rwlock: *mut RwLock, what: For) -> c_int {
    point(me, EventKind::TryRwLock, rwlock as usize);
    // SAFETY: as above.
    unsafe {
        if (*rwlock).shared() {
            scheduler().escaped(Escape::SharedObject);
            return match what {
                For::Reading => real!(pthread_rwlock_tryrdlock: fn(*mut RwLock) -> c_int)(rwlock),
                For::Writing => real!(pthread_rwlock_trywrlock: fn(*mut RwLock) -> c_int)(rwlock),
            };
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
