//! pthread_mutex_*.
//!
//! Mutexes that are shared between processes or have a priority ceiling are left to the real functions, because what
//! they do depends on other processes, or on what libc and the kernel know of a thread's priority. The calling thread
//! itself tries the real mutex, in a form that does not wait, and waits in the scheduler until it looks free.

use core::ffi::{c_int, c_void};

use libc::{timespec, EINVAL, EOWNERDEAD, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::results::blind_spot;
use raddle_protocol::{Escape, OsReason};

use super::misuse::{self, destroys};
use super::time::{deadline, valid, valid_for_kernel};
use super::{cancel, thread_attributes};
use crate::control::{call_real, point, scheduler, wait_through};
use crate::model::mutex::{Attempt, Mutex};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{owner, Polled, Wait, Wake};
use crate::switch::uncontrolled_call;
use crate::{interpose, race, real};

/// The priorities of real-time scheduling classes.
const REAL_TIME: core::ops::RangeInclusive<c_int> = 1..=99;

/// Until when a call waits; `Err`: it fails with this number if it has to.
pub(super) type Until = Result<u64, c_int>;

/// A point in time of the program's, which is only looked at when the call has to wait. Where the lock is inheriting,
/// the kernel looks at it, to which a time before its first is none.
unsafe fn until(mutex: *mut Mutex, clock: c_int, time: *const timespec) -> Until {
    // SAFETY: the caller's mutex and pointer.
    unsafe {
        let is_time = if (*mutex).inheriting() { valid_for_kernel(time) } else { valid(time) };
        is_time.then(|| deadline(clock, time)).ok_or(EINVAL)
    }
}

/// Whether a mutex lives in memory that other processes share.
pub(super) unsafe fn shared(mutex: *mut Mutex) -> bool {
    // SAFETY: the caller's mutex.
    unsafe { (*mutex).shared(|| crate::os::memory::is_shared(mutex as usize)) }
}

/// Whether a mutex is left to the real functions.
#[inline]
unsafe fn is_real(mutex: *mut Mutex) -> bool {
    // SAFETY: the caller's mutex.
    unsafe { (*mutex).may_be_real() && use_real(mutex) }
}

#[cold]
unsafe fn use_real(mutex: *mut Mutex) -> bool {
    // SAFETY: the caller's mutex; the baton.
    unsafe {
        if (*mutex).damage().is_some() || !(*mutex).protected() && !shared(mutex) {
            return false;
        }
        if (*mutex).known_to_kernel() {
            failure::needs_os_threads(OsReason::KernelLocks);
        }
        if shared(mutex) {
            scheduler().escaped(Escape::SharedObject);
        }
        true
    }
}

/// Ends the run if what is used as a mutex is none.
#[inline]
unsafe fn inspect(me: ThreadId, mutex: *mut Mutex, kind: EventKind) {
    // SAFETY: the caller's mutex.
    if let Some(damage) = unsafe { (*mutex).damage() } {
        misuse::report(me, mutex as usize, "mutex", kind, damage);
    }
}

/// Locks a mutex: waits until that is possible, before the deadline.
#[link_section = "raddle_run"]
pub(super) unsafe fn lock(me: ThreadId, mutex: *mut Mutex, kind: EventKind, until: Until) -> c_int {
    // SAFETY (all below): the caller's mutex, and `me` holds the baton whenever it runs.
    unsafe {
        if is_real(mutex) {
            return lock_real(me, mutex, kind, until);
        }
        let deadline = match until {
            Ok(deadline) => deadline,
            Err(error) if !(*mutex).ready(owner(me)) => return error,
            Err(_) => NEVER,
        };
        loop {
            match wait_through(me, Event::new(kind, mutex as usize), Wait::Mutex(mutex), deadline) {
                Wake::TimedOut => return ETIMEDOUT,
                // The thread is cancelled when the call returns.
                Wake::Cancelled => return EINVAL,
                _ => {}
            }
            inspect(me, mutex, kind);
            match (*mutex).lock(owner(me)) {
                Attempt::Acquired(result) => {
                    acquired(me, mutex);
                    return result;
                }
                Attempt::Fails(error) => return error,
                // The program has written to it, or code outside control has taken it.
                Attempt::Busy if cancel::must_stop_now(me) => return EINVAL,
                Attempt::Busy => {}
            }
        }
    }
}

/// Takes a mutex back after a wait on a condition.
pub(super) unsafe fn retake(me: ThreadId, mutex: *mut Mutex) -> c_int {
    // SAFETY: as above.
    unsafe {
        if is_real(mutex) {
            return lock_real(me, mutex, EventKind::Relock, Ok(NEVER));
        }
        loop {
            inspect(me, mutex, EventKind::Relock);
            match (*mutex).relock(owner(me)) {
                Attempt::Acquired(result) => {
                    acquired(me, mutex);
                    return result;
                }
                Attempt::Fails(error) => return error,
                Attempt::Busy => {}
            }
            wait_through(me, Event::new(EventKind::Relock, mutex as usize), Wait::Mutex(mutex), NEVER);
        }
    }
}

/// A mutex has just been taken.
#[link_section = "raddle_run"]
unsafe fn acquired(me: ThreadId, mutex: *mut Mutex) {
    // SAFETY: as above.
    unsafe {
        race::acquire(me, mutex as usize);
        scheduler().mutex_changed(mutex, (*mutex).available());
        if (*mutex).robust() {
            remember_robust(me, mutex);
        }
    }
}

/// Unlocks a mutex; for a wait on a condition, as libc does it then.
pub(super) unsafe fn release(me: ThreadId, mutex: *mut Mutex, for_wait: bool) -> c_int {
    // SAFETY: as above.
    unsafe {
        let kind = if for_wait { EventKind::CondWait } else { EventKind::Unlock };
        inspect(me, mutex, kind);
        race::release(me, mutex as usize);
        if is_real(mutex) {
            return unlock_real(me, mutex);
        }
        let kernel_waiters = (*mutex).has_kernel_waiters();
        let result = if for_wait { (*mutex).release_for_wait(owner(me)) } else { (*mutex).unlock(owner(me)) };
        if result == 0 {
            let available = (*mutex).available();
            scheduler().mutex_changed(mutex, available);
            if available && (*mutex).robust() {
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

/// Tries the real mutex as a call that locks does, except that ETIMEDOUT stands for having to wait.
unsafe fn attempt(me: ThreadId, mutex: *mut Mutex) -> c_int {
    const LONG_AGO: timespec = timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: the caller's mutex.
    let result = call_real(me, || unsafe {
        real!(pthread_mutex_timedlock: fn(*mut Mutex, *const timespec) -> c_int)(mutex, &LONG_AGO)
    });
    if result == 0 || result == EOWNERDEAD {
        // SAFETY: `me` holds the baton.
        unsafe { acquired_real(me, mutex) };
    }
    result
}

unsafe fn acquired_real(me: ThreadId, mutex: *mut Mutex) {
    // SAFETY: as above.
    unsafe {
        race::acquire(me, mutex as usize);
        scheduler().mutex_changed(mutex, (*mutex).available());
    }
}

unsafe fn lock_real(me: ThreadId, mutex: *mut Mutex, kind: EventKind, until: Until) -> c_int {
    point(me, kind, mutex as usize);
    // SAFETY: as above.
    unsafe {
        loop {
            inspect(me, mutex, kind);
            let result = attempt(me, mutex);
            if result != ETIMEDOUT {
                return result;
            }
            let deadline = match until {
                Ok(deadline) => deadline,
                Err(error) => return error,
            };
            match wait_until_free(me, mutex, kind, deadline) {
                Wake::TimedOut => return ETIMEDOUT,
                // The thread is cancelled when the call returns.
                Wake::Cancelled if kind != EventKind::Relock => return EINVAL,
                _ => {}
            }
        }
    }
}

/// Waits until a mutex of the real functions looks free. Another thread may still be faster.
unsafe fn wait_until_free(me: ThreadId, mutex: *mut Mutex, kind: EventKind, deadline: u64) -> Wake {
    unsafe fn looks_free(mutex: *mut c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe { (*mutex.cast::<Mutex>()).available() }
    }
    // SAFETY: as above.
    unsafe {
        if cancel::must_stop_now(me) && kind != EventKind::Relock {
            return Wake::Cancelled;
        }
        if !shared(mutex) {
            return wait_through(me, Event::new(kind, mutex as usize), Wait::Mutex(mutex), deadline);
        }
        let polled = Polled {
            test: looks_free,
            context: mutex.cast(),
            descriptors: core::ptr::null_mut(),
            count: 0,
            closed: false,
        };
        wait_through(me, Event::new(EventKind::Outside, mutex as usize), Wait::Polled(&raw const polled), deadline)
    }
}

unsafe fn unlock_real(me: ThreadId, mutex: *mut Mutex) -> c_int {
    // SAFETY: as above.
    unsafe {
        let result = call_real(me, || real!(pthread_mutex_unlock: fn(*mut Mutex) -> c_int)(mutex));
        if shared(mutex) {
            scheduler().outside_touched = true;
        } else {
            scheduler().mutex_changed(mutex, (*mutex).available());
        }
        result
    }
}

unsafe fn try_real(me: ThreadId, mutex: *mut Mutex) -> c_int {
    // SAFETY: as above.
    unsafe {
        let result = call_real(me, || real!(pthread_mutex_trylock: fn(*mut Mutex) -> c_int)(mutex));
        match result {
            0 | EOWNERDEAD => acquired_real(me, mutex),
            libc::EBUSY => scheduler().made_no_progress(me),
            _ => {}
        }
        result
    }
}

/// pthread_mutex_destroy, which is called from `place`.
unsafe extern "C-unwind" fn destroy(mutex: *mut Mutex, place: usize) -> c_int {
    // SAFETY: the caller's mutex. The real function does not wait.
    unsafe { misuse::destroy(mutex as usize, place, |_| real!(pthread_mutex_destroy: fn(*mut Mutex) -> c_int)(mutex)) }
}

destroys! {
    pthread_mutex_destroy(Mutex) => destroy;
    mtx_destroy(Mutex) => destroy;
}

interpose! {
    #[link_section = "raddle_run"]
    fn pthread_mutex_lock(mutex: *mut Mutex) -> c_int |me| {
        lock(me, mutex, EventKind::Lock, Ok(NEVER))
    }

    fn pthread_mutex_timedlock(mutex: *mut Mutex, time: *const timespec) -> c_int |me| {
        lock(me, mutex, EventKind::Lock, until(mutex, libc::CLOCK_REALTIME, time))
    }

    fn pthread_mutex_clocklock(mutex: *mut Mutex, clock: c_int, time: *const timespec) -> c_int |me| {
        if clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC {
            return EINVAL;
        }
        lock(me, mutex, EventKind::Lock, until(mutex, clock, time))
    }

    fn pthread_mutex_trylock(mutex: *mut Mutex) -> c_int |me| {
        point(me, EventKind::TryLock, mutex as usize);
        inspect(me, mutex, EventKind::TryLock);
        if is_real(mutex) {
            return try_real(me, mutex);
        }
        let result = (*mutex).try_lock(owner(me));
        match result {
            0 | EOWNERDEAD => acquired(me, mutex),
            libc::EBUSY => scheduler().made_no_progress(me),
            _ => {}
        }
        result
    }

    #[link_section = "raddle_run"]
    fn pthread_mutex_unlock(mutex: *mut Mutex) -> c_int |me| {
        point(me, EventKind::Unlock, mutex as usize);
        release(me, mutex, false)
    }

    fn pthread_mutex_consistent(mutex: *mut Mutex) -> c_int |me| {
        if is_real(mutex) {
            return call_real(me, || real!(pthread_mutex_consistent: fn(*mut Mutex) -> c_int)(mutex));
        }
        (*mutex).make_consistent(owner(me))
    }

    /// The name that programs used before POSIX had one.
    fn pthread_mutex_consistent_np(mutex: *mut Mutex) -> c_int |_| {
        pthread_mutex_consistent(mutex)
    }

    /// Locks the mutex, changes its ceiling and unlocks it again.
    fn pthread_mutex_setprioceiling(mutex: *mut Mutex, ceiling: c_int, old: *mut c_int) -> c_int |me| {
        let change = real!(pthread_mutex_setprioceiling: fn(*mut Mutex, c_int, *mut c_int) -> c_int);
        let takes_it = (*mutex).protected() && (*mutex).damage().is_none() && REAL_TIME.contains(&ceiling);
        if takes_it && is_real(mutex) && (*mutex).real_holder() != thread_attributes::id(me) as u32 {
            point(me, EventKind::Lock, mutex as usize);
            while !(*mutex).available() && !cancel::must_stop_now(me) {
                wait_until_free(me, mutex, EventKind::Lock, NEVER);
            }
        }
        if cancel::must_stop_now(me) {
            EINVAL
        } else {
            // Another process, or in a parallel run another thread, may still have been faster.
            let result = call_real(me, || uncontrolled_call::make(me, || change(mutex, ceiling, old)));
            scheduler().changed(mutex as usize);
            result
        }
    }
}
