//! C11 threads: glibc's versions call its internal functions, so they are interposed by name.

use core::ffi::{c_int, c_void};

use libc::{timespec, EBUSY, ETIMEDOUT};

use super::condition::{
    pthread_cond_broadcast, pthread_cond_signal, pthread_cond_timedwait, pthread_cond_wait, Condition,
};
use super::mutex::{pthread_mutex_lock, pthread_mutex_timedlock, pthread_mutex_trylock, pthread_mutex_unlock};
use super::once::pthread_once;
use super::thread::{create, creator, pthread_detach, pthread_join};
use super::time::{from_now, nanoseconds, sleep_until, valid_for_kernel};
use crate::control::{scheduler, LeaveOnDrop};
use crate::model::mutex::Mutex;
use crate::model::once::Once;
use crate::{interpose, real};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NOMEM: c_int = 3;
const TIMEDOUT: c_int = 4;

fn outcome(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        libc::ENOMEM => NOMEM,
        ETIMEDOUT => TIMEDOUT,
        _ => ERROR,
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn thrd_create(handle: *mut usize, start: usize, argument: *mut c_void) -> c_int {
    // SAFETY: the caller keeps thrd_create's contract.
    unsafe {
        let really = real!(thrd_create: fn(*mut usize, usize, *mut c_void) -> c_int);
        let Some(me) = creator() else { return really(handle, start, argument) };
        let _leave = LeaveOnDrop::armed();
        // The routine returns an int, which glibc widens when it ends: the trampoline passes the
        // register through unchanged, so the value survives.
        create(me, handle, core::ptr::null(), start, argument, |handle, _, start, argument| {
            really(handle, start, argument)
        })
    }
}

interpose! {
    fn thrd_join(handle: usize, value: *mut c_int) -> c_int |_| {
        let mut result: *mut c_void = core::ptr::null_mut();
        let error = pthread_join(handle, &mut result);
        if error == 0 && !value.is_null() {
            *value = result as usize as c_int;
        }
        outcome(error)
    }

    /// Lets a thread end on its own.
    fn thrd_detach(handle: usize) -> c_int |_| {
        outcome(pthread_detach(handle))
    }

    fn thrd_yield() |_| {
        super::time::sched_yield();
    }

    fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int |me| {
        /// What C11 has for all failures but a signal.
        const FAILED: c_int = -2;
        if !valid_for_kernel(time) {
            return FAILED;
        }
        let until = from_now(nanoseconds(time));
        if sleep_until(me, until) {
            if !left.is_null() {
                *left = crate::os::sys::timespec(until.saturating_sub(scheduler().clock.now()));
            }
            return -1;
        }
        0
    }

    fn mtx_lock(mutex: *mut Mutex) -> c_int |_| {
        outcome(pthread_mutex_lock(mutex))
    }

    fn mtx_timedlock(mutex: *mut Mutex, time: *const timespec) -> c_int |_| {
        outcome(pthread_mutex_timedlock(mutex, time))
    }

    fn mtx_trylock(mutex: *mut Mutex) -> c_int |_| {
        outcome(pthread_mutex_trylock(mutex))
    }

    fn mtx_unlock(mutex: *mut Mutex) -> c_int |_| {
        outcome(pthread_mutex_unlock(mutex))
    }

    fn cnd_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int |_| {
        outcome(pthread_cond_wait(condition, mutex))
    }

    fn cnd_timedwait(condition: *mut Condition, mutex: *mut Mutex, time: *const timespec) -> c_int |_| {
        outcome(pthread_cond_timedwait(condition, mutex, time))
    }

    fn cnd_signal(condition: *mut Condition) -> c_int |_| {
        outcome(pthread_cond_signal(condition))
    }

    fn cnd_broadcast(condition: *mut Condition) -> c_int |_| {
        outcome(pthread_cond_broadcast(condition))
    }

    fn call_once(control: *mut Once, routine: unsafe extern "C-unwind" fn()) |_| {
        pthread_once(control, routine);
    }
}
