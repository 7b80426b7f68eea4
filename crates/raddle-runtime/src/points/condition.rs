//! pthread_cond_*: waiting releases the mutex and starts the wait in one step; being woken makes
//! the thread a candidate for the mutex again. There are no spurious wake-ups.

use core::ffi::c_int;

use libc::{timespec, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::results::blind_spot;
use raddle_protocol::Escape;

use super::cancel::act_on_cancel;
use super::misuse::{self, destroys};
use super::mutex::{release, retake, shared};
use super::time::{deadline, valid};
use crate::control::{point, scheduler, wait};
use crate::model::mutex::{Damage, Mutex};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::{interpose, real};

/// glibc's pthread_cond_t: nothing of it is changed; its flags say which clock it goes by and
/// whether other processes share it.
#[repr(C)]
pub struct Condition {
    groups: [u64; 4],
    group_size: u32,
    flags: u32,
    signals: [u32; 2],
}

/// In `flags`: whether it is shared, and its clock.
const SETTINGS: u32 = 3;
/// In `flags`: pthread_cond_destroy has been called.
const DESTROYED: u32 = 4;

impl Condition {
    /// Ends the run if the condition is destroyed.
    fn inspect(&self, me: ThreadId, kind: EventKind) {
        let object = self as *const Condition as usize;
        // Other versions of libc keep other things here.
        if self.flags & !SETTINGS == DESTROYED && misuse::was_destroyed(object) {
            misuse::report(me, object, "condition variable", kind, Damage::Destroyed);
        }
    }

    fn shared(&self) -> bool {
        self.flags & 1 != 0
    }

    fn clock(&self) -> c_int {
        if self.flags & 2 != 0 {
            libc::CLOCK_MONOTONIC
        } else {
            libc::CLOCK_REALTIME
        }
    }
}

/// Waits on a condition. `Err` means that the thread is to be cancelled; it holds the mutex again.
unsafe fn wait_on(me: ThreadId, condition: *mut Condition, mutex: *mut Mutex, deadline: u64) -> Result<c_int, ()> {
    // SAFETY (all below): the caller's objects; `me` holds the baton whenever it runs.
    unsafe {
        let key = condition as usize;
        let event = Event::with(EventKind::CondWait, key, mutex as u32);
        wait(me, event, Wait::None, NEVER);
        (*condition).inspect(me, EventKind::CondWait);
        if shared(mutex) || (*condition).shared() {
            return wait_shared(me, condition, mutex, deadline);
        }
        let error = release(me, mutex, true);
        if error != 0 {
            return Ok(error);
        }
        let thread = scheduler().thread(me);
        let why = if thread.cancel_requested && !thread.cancel_disabled {
            Wake::Cancelled
        } else {
            thread.cancellable = true;
            thread.relock = mutex;
            scheduler().waiters.insert(me, key);
            // Whatever ends the wait turns it into one for the mutex.
            wait(me, event, Wait::Event, deadline);
            let thread = scheduler().thread(me);
            thread.cancellable = false;
            thread.relocked
        };
        conclude(why, retake(me, mutex))
    }
}

/// What a wait comes to that ended for a reason; the mutex was taken back with a result.
fn conclude(why: Wake, result: c_int) -> Result<c_int, ()> {
    match why {
        Wake::Cancelled => Err(()),
        Wake::TimedOut if result == 0 => Ok(ETIMEDOUT),
        _ => Ok(result),
    }
}

/// A condition shared between processes. Waking up spuriously is allowed, and it is all that can be
/// done without blocking: the wait ends from time to time, or when this process signals.
unsafe fn wait_shared(me: ThreadId, condition: *mut Condition, mutex: *mut Mutex, deadline: u64) -> Result<c_int, ()> {
    unsafe fn test(looks: *mut core::ffi::c_void) -> bool {
        // SAFETY: the context of this wait.
        let looks = unsafe { &mut *looks.cast::<u32>() };
        *looks += 1;
        *looks > 2
    }
    // SAFETY: as above.
    unsafe {
        scheduler().escaped(Escape::SharedObject);
        let error = release(me, mutex, true);
        if error != 0 {
            return Ok(error);
        }
        let mut looks = 0u32;
        let polled = Polled {
            test,
            context: (&raw mut looks).cast(),
            descriptors: core::ptr::null_mut(),
            count: 0,
            closed: false,
        };
        let thread = scheduler().thread(me);
        let why = if thread.cancel_requested && !thread.cancel_disabled {
            Wake::Cancelled
        } else {
            thread.cancellable = true;
            let event = Event::new(EventKind::Outside, condition as usize);
            let why = wait(me, event, Wait::Polled(&raw const polled), deadline);
            scheduler().thread(me).cancellable = false;
            why
        };
        conclude(why, retake(me, mutex))
    }
}

/// Wakes one waiter, any of them: POSIX promises no order.
unsafe fn wake_one(key: usize) {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let n = s.waiters.of(key).count() as u64;
    if n == 0 {
        return;
    }
    if n > 1 && s.waiters.of(key).all(|t| t.index() < 64) {
        let waiters = s.waiters.of(key).fold(0, |set, t| set | 1 << t.index());
        if let Some(t) = s.choose_waiter(waiters) {
            return s.relock(t, Wake::Go);
        }
    }
    let k = if n == 1 {
        0
    } else {
        s.record_blind_spot(blind_spot::DRAWN);
        // What is drawn next is not in the program's state.
        crate::os::sys::answered();
        s.chance.below(n)
    };
    // In the order of ids, so that the choice does not depend on how the chain was built.
    let mut previous = None;
    for _ in 0..=k {
        previous = s.waiters.of(key).filter(|&t| previous.is_none_or(|p| t > p)).min();
    }
    if let Some(t) = previous {
        s.relock(t, Wake::Go);
    }
}

unsafe fn wake_all(key: usize) {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    while let Some(t) = s.waiters.after(key, None) {
        s.relock(t, Wake::Go);
    }
}

/// pthread_cond_destroy, which is called from `place`. Like libc's, it waits until no thread waits.
unsafe extern "C-unwind" fn destroy(condition: *mut Condition, place: usize) -> c_int {
    // SAFETY: the caller's condition.
    unsafe {
        misuse::destroy(condition as usize, place, |me| {
            if let Some(me) = me {
                wait_for_waiters(me, condition as usize);
            }
            real!(pthread_cond_destroy: fn(*mut Condition) -> c_int)(condition)
        })
    }
}

/// Waits until no thread waits on a condition.
unsafe fn wait_for_waiters(me: ThreadId, key: usize) {
    unsafe fn has_none(key: *mut core::ffi::c_void) -> bool {
        // SAFETY: the calling thread holds the baton.
        unsafe { scheduler() }.waiters.none(key as usize)
    }
    // SAFETY: `me` holds the baton whenever it runs.
    while !unsafe { scheduler() }.waiters.none(key) {
        let polled = Polled {
            test: has_none,
            context: key as *mut core::ffi::c_void,
            descriptors: core::ptr::null_mut(),
            count: 0,
            closed: true,
        };
        wait(me, Event::new(EventKind::Destroy, key), Wait::Polled(&raw const polled), NEVER);
    }
}

destroys! {
    pthread_cond_destroy(Condition) => destroy;
    cnd_destroy(Condition) => destroy;
}

interpose! {
    fn pthread_cond_wait(condition: *mut Condition, mutex: *mut Mutex) -> c_int |me| {
        match wait_on(me, condition, mutex, NEVER) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn pthread_cond_timedwait(condition: *mut Condition, mutex: *mut Mutex, time: *const timespec) -> c_int |me| {
        if !valid(time) {
            return EINVAL;
        }
        match wait_on(me, condition, mutex, deadline((*condition).clock(), time)) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn pthread_cond_clockwait(condition: *mut Condition, mutex: *mut Mutex, clock: c_int, time: *const timespec) -> c_int |me| {
        if !valid(time) || (clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC) {
            return EINVAL;
        }
        match wait_on(me, condition, mutex, deadline(clock, time)) {
            Ok(result) => result,
            Err(()) => { act_on_cancel(me); 0 }
        }
    }

    fn pthread_cond_signal(condition: *mut Condition) -> c_int |me| {
        point(me, EventKind::CondSignal, condition as usize);
        (*condition).inspect(me, EventKind::CondSignal);
        if (*condition).shared() {
            scheduler().outside_touched = true;
            return real!(pthread_cond_signal: fn(*mut Condition) -> c_int)(condition);
        }
        wake_one(condition as usize);
        0
    }

    fn pthread_cond_broadcast(condition: *mut Condition) -> c_int |me| {
        point(me, EventKind::CondBroadcast, condition as usize);
        (*condition).inspect(me, EventKind::CondBroadcast);
        if (*condition).shared() {
            scheduler().outside_touched = true;
            return real!(pthread_cond_broadcast: fn(*mut Condition) -> c_int)(condition);
        }
        wake_all(condition as usize);
        0
    }
}
