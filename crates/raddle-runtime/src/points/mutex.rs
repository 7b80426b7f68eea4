//! pthread_mutex_*.

use core::ffi::c_int;

use libc::{timespec, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::results::blind_spot;
use raddle_protocol::Escape;

use super::time::{deadline, valid};
use crate::control::{call_real, point, scheduler, wait_through};
use crate::interpose;
use crate::model::mutex::{Attempt, Mutex};
use crate::os::sys;
use crate::race;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{owner, Polled, Wait, Wake};

/// Whether a mutex lives in memory that other processes share.
pub(super) unsafe fn shared(mutex: *mut Mutex) -> bool {
    // SAFETY: the caller's mutex.
    unsafe { (*mutex).shared(|| crate::os::memory::is_shared(mutex as usize)) }
}

/// Locks a mutex: waits until that is possible, before the deadline.
#[link_section = "raddle_run"]
pub(super) unsafe fn lock(me: ThreadId, mutex: *mut Mutex, kind: EventKind, deadline: u64) -> c_int {
    // SAFETY (all below): the caller's mutex, and `me` holds the baton whenever it runs.
    unsafe {
        if shared(mutex) {
            return lock_shared(me, mutex, kind, deadline);
        }
        match wait_through(me, Event::new(kind, mutex as usize), Wait::Mutex(mutex), deadline) {
            Wake::TimedOut => ETIMEDOUT,
            _ => acquire(me, mutex),
        }
    }
}

/// Takes a mutex that is ready.
pub(super) unsafe fn acquire(me: ThreadId, mutex: *mut Mutex) -> c_int {
    // SAFETY: as above.
    unsafe {
        match (*mutex).lock(owner(me)) {
            Attempt::Acquired(result) => {
                acquired(me, mutex);
                result
            }
            Attempt::Fails(error) => error,
            // A thread is only let through when the mutex is ready.
            Attempt::Busy => crate::process::failure::internal(format_args!("a busy mutex was let through")),
        }
    }
}

/// A mutex has just been taken.
#[link_section = "raddle_run"]
pub(super) unsafe fn acquired(me: ThreadId, mutex: *mut Mutex) {
    // SAFETY: as above.
    unsafe {
        race::acquire(me, mutex as usize);
        scheduler().mutex_changed(mutex, (*mutex).available());
        if (*mutex).robust() {
            remember_robust(me, mutex);
        }
    }
}

pub(super) unsafe fn release(me: ThreadId, mutex: *mut Mutex) -> c_int {
    // SAFETY: as above.
    unsafe {
        race::release(me, mutex as usize);
        let kernel_waiters = (*mutex).has_kernel_waiters();
        let result = (*mutex).unlock(owner(me));
        if result == 0 {
            scheduler().mutex_changed(mutex, (*mutex).available());
            if (*mutex).robust() {
                forget_robust(me, mutex);
            }
            if kernel_waiters {
                // A thread outside control sleeps in the real function.
                sys::futex_wake(&*mutex.cast());
            }
        }
        result
    }
}

unsafe fn remember_robust(me: ThreadId, mutex: *mut Mutex) {
    // SAFETY: `me` holds the baton.
    let robust = unsafe { &mut scheduler().thread(me).robust };
    if !robust.contains(&mutex) {
        if let Some(free) = robust.iter_mut().find(|m| m.is_null()) {
            *free = mutex;
        }
    }
}

unsafe fn forget_robust(me: ThreadId, mutex: *mut Mutex) {
    // SAFETY: `me` holds the baton.
    let robust = unsafe { &mut scheduler().thread(me).robust };
    if let Some(it) = robust.iter_mut().find(|m| **m == mutex) {
        *it = core::ptr::null_mut();
    }
}

/// The thread ends: its robust mutexes lose their owner.
pub(super) unsafe fn abandon_robust(me: ThreadId) {
    // SAFETY: `me` holds the baton; the mutexes are locked, so they exist.
    unsafe {
        let robust = scheduler().thread(me).robust;
        for mutex in robust.into_iter().filter(|m| !m.is_null()) {
            if (*mutex).holder() == owner(me) {
                scheduler().record_blind_spot(blind_spot::ORPHANED);
                race::release(me, mutex as usize);
                (*mutex).owner_died();
                scheduler().mutex_changed(mutex, (*mutex).available());
            }
        }
    }
}

/// A mutex shared between processes: the real one is tried until it is free.
unsafe fn lock_shared(me: ThreadId, mutex: *mut Mutex, kind: EventKind, deadline: u64) -> c_int {
    struct Try {
        mutex: *mut Mutex,
        result: c_int,
    }
    unsafe fn test(context: *mut core::ffi::c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let it = &mut *context.cast::<Try>();
            it.result = crate::real!(pthread_mutex_trylock: fn(*mut Mutex) -> c_int)(it.mutex);
            it.result != libc::EBUSY
        }
    }
    // SAFETY: as above.
    unsafe {
        scheduler().escaped(Escape::SharedObject);
        point(me, kind, mutex as usize);
        let mut attempt = Try { mutex, result: 0 };
        let context = (&raw mut attempt).cast();
        if test(context) {
            race::acquire(me, mutex as usize);
            return attempt.result;
        }
        let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
        match wait_through(
            me,
            Event::new(EventKind::Outside, mutex as usize),
            Wait::Polled(&raw const polled),
            deadline,
        ) {
            Wake::TimedOut => ETIMEDOUT,
            _ => {
                race::acquire(me, mutex as usize);
                attempt.result
            }
        }
    }
}

interpose! {
    #[link_section = "raddle_run"]
    fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int |me| {
        lock(me, mutex, EventKind::Lock, NEVER)
    }

    fn pthread_mutex_timedlock(mutex: *mut Mutex, time: *const timespec) -> c_int |me| {
        // Like the real one, which looks at the time only when it has to wait.
        if !valid(time) && !(*mutex).ready(owner(me)) {
            return libc::EINVAL;
        }
        lock(me, mutex, EventKind::Lock, deadline(libc::CLOCK_REALTIME, time))
    }

    fn pthread_mutex_clocklock(mutex: *mut Mutex, clock: c_int, time: *const timespec) -> c_int |me| {
        if clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC {
            return libc::EINVAL;
        }
        if !valid(time) && !(*mutex).ready(owner(me)) {
            return libc::EINVAL;
        }
        lock(me, mutex, EventKind::Lock, deadline(clock, time))
    }

    fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int |me| {
        point(me, EventKind::TryLock, mutex as usize);
        if shared(mutex) {
            scheduler().escaped(Escape::SharedObject);
            return call_real(me, || crate::real!(pthread_mutex_trylock: fn(*mut Mutex) -> c_int)(mutex));
        }
        let result = (*mutex).try_lock(owner(me));
        match result {
            0 | libc::EOWNERDEAD => acquired(me, mutex),
            libc::EBUSY => scheduler().made_no_progress(me),
            _ => {}
        }
        result
    }

    #[link_section = "raddle_run"]
    fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int |me| {
        point(me, EventKind::Unlock, mutex as usize);
        if shared(mutex) {
            scheduler().outside_touched = true;
            race::release(me, mutex as usize);
            return call_real(me, || crate::real!(pthread_mutex_unlock: fn(*mut Mutex) -> c_int)(mutex));
        }
        release(me, mutex)
    }

    fn pthread_mutex_consistent(mutex: *mut Mutex) -> c_int |me| {
        if shared(mutex) {
            return crate::real!(pthread_mutex_consistent: fn(*mut Mutex) -> c_int)(mutex);
        }
        (*mutex).make_consistent(owner(me))
    }
}
