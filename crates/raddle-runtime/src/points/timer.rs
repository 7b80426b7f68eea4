//! timer_create and what belongs to it. Timers of CPU time, and more than there is room for, are the kernel's, and
//! reported as uncontrolled; all others go by the virtual clock.
//!
//! A timer that is to call a function has it called in a thread of its own, which is one of the program's: under control
//! from its start. As in libc, one more thread makes these.

use core::ffi::{c_int, c_void};

use libc::{itimerspec, EINVAL};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::{Escape, Fallback, OsReason};

use super::callback::{call_in_thread, detached, repeat, stack_in, start_helper, Call, CallMask};
use super::fail;
use super::signal::handle_pending;
use super::time::{from_now, nanoseconds, valid_for_kernel};
use crate::control::{call_real, scheduler, state, wait};
use crate::model::signal_event::SignalEvent;
use crate::os::sys;
use crate::process::{failure, forkable};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::signals::kernel::{expire, plan_next};
use crate::signals::timers::{Notice, Timer};
use crate::{interpose, real};

/// Whether a clock is the virtual one.
fn is_virtual(clock: c_int) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME | libc::CLOCK_TAI)
}

/// Makes a timer of ours; an error number, or `None` if it must be the kernel's.
unsafe fn make(me: ThreadId, clock: c_int, event: *const SignalEvent, name: *mut *mut c_void) -> Option<c_int> {
    // SAFETY: the caller's structure and baton.
    unsafe {
        let slot = is_virtual(clock).then(|| state().timers.free())??;
        let timer = &raw mut state().timers.timers[slot];
        let mut new = Timer::default();
        (new.notice, new.clock, new.signal, new.value) = (Notice::Process, clock, libc::SIGALRM, timer as usize);
        if let Some(event) = event.as_ref() {
            (new.signal, new.value, new.function) = (event.signal, event.value, event.function);
            new.notice = match event.kind {
                libc::SIGEV_SIGNAL => Notice::Process,
                libc::SIGEV_NONE => Notice::None,
                libc::SIGEV_THREAD => Notice::Call,
                // The thread's id stands where the function would.
                libc::SIGEV_THREAD_ID => match super::signal_send::thread_with(event.function as c_int) {
                    Some(thread) => Notice::Thread(thread.0),
                    None => return Some(EINVAL),
                },
                _ => return Some(EINVAL),
            };
            let signals = matches!(new.notice, Notice::Process | Notice::Thread(_));
            if signals && !(1..65).contains(&event.signal) {
                return Some(EINVAL);
            }
            if new.notice == Notice::Call {
                new.stack = stack_in(event.attributes);
            }
        }
        *timer = new;
        *name = timer.cast();
        if new.notice == Notice::Call {
            let started = start_caller(me).inspect_err(|_| (*timer).notice = Notice::Free);
            return Some(started.err().unwrap_or(0));
        }
        Some(0)
    }
}

/// Starts the thread that makes those for calls, unless it is there.
unsafe fn start_caller(me: ThreadId) -> Result<(), c_int> {
    // SAFETY: the caller holds the baton.
    unsafe {
        if state().timers.caller != 0 {
            return Ok(());
        }
        let handle = start_helper(me, make_calls)?;
        if let Some(caller) = scheduler().pointers.get(handle) {
            state().timers.caller = u32::from(caller.0) + 1;
        }
        Ok(())
    }
}

/// Where the thread starts that makes a thread for each call that has become due.
unsafe extern "C-unwind" fn make_calls(_: *mut c_void) -> *mut c_void {
    // SAFETY: a thread of the program's, under control; nothing is borrowed across a switch.
    unsafe { repeat(|me| make_next_call(me)) };
    core::ptr::null_mut()
}

/// Makes the next call that is due, or waits for one.
unsafe fn make_next_call(me: ThreadId) -> bool {
    // SAFETY: the caller holds the baton whenever it runs.
    unsafe {
        let due = state().timers.timers.iter_mut().find(|timer| timer.notice == Notice::Call && timer.calls > 0);
        if let Some(timer) = due {
            timer.calls -= 1;
            let attributes = detached(timer.stack);
            let call = Call { function: timer.function, value: timer.value, mask: CallMask::Inherited };
            call_in_thread(call, (&raw const attributes).cast());
        } else {
            state().timers.caller_waits = true;
            wait(me, Event::new(EventKind::Sleep, 0), Wait::Event, NEVER);
            state().timers.caller_waits = false;
        }
    }
    true
}

unsafe fn give(to: *mut itimerspec, (left, interval): (u64, u64)) {
    if !to.is_null() {
        // SAFETY: the caller's pointer.
        unsafe { *to = itimerspec { it_interval: sys::timespec(interval), it_value: sys::timespec(left) } };
    }
}

/// timer_settime(2) for a timer of ours.
unsafe fn set(me: ThreadId, name: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
    // SAFETY: the caller's pointers and baton.
    unsafe {
        let Some(new) = new.as_ref() else { return fail(EINVAL) };
        if !valid_for_kernel(&new.it_value) || !valid_for_kernel(&new.it_interval) {
            return fail(EINVAL);
        }
        let clock = &scheduler().clock;
        let now = clock.now();
        let Some(timer) = state().timers.find(name) else { return fail(EINVAL) };
        let value = nanoseconds(&new.it_value);
        let deadline = match value {
            0 => None,
            _ if flags & libc::TIMER_ABSTIME != 0 => Some(clock.deadline(timer.clock, value)),
            _ => Some(from_now(value)),
        };
        give(old, timer.set(now, deadline, nanoseconds(&new.it_interval)));
        plan_next();
        // A time that has passed already: the signal is there before the call returns.
        expire(scheduler());
        handle_pending(me);
        0
    }
}

interpose! {
    /// A timer on the virtual clock, or one of the kernel's, which is reported as uncontrolled.
    fn timer_create(clock: c_int, event: *const SignalEvent, name: *mut *mut c_void) -> c_int |me| {
        if let Some(error) = make(me, clock, event, name) {
            return if error == 0 { 0 } else { fail(error) };
        }
        if event.as_ref().is_some_and(|event| event.kind == libc::SIGEV_THREAD_ID) {
            failure::needs_os_threads(OsReason::ThreadState);
        }
        state().signals.kernel_timer = true;
        scheduler().escaped(Escape::Timers);
        call_real(me, || real!(timer_create: fn(c_int, *const SignalEvent, *mut *mut c_void) -> c_int)(clock, event, name))
    } before {
        forkable::note(Fallback::Timers);
    }

    /// Arms a timer.
    fn timer_settime(name: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int |me| {
        if state().timers.find(name).is_some() {
            return set(me, name, flags, new, old);
        }
        call_real(me, || real!(timer_settime: fn(*mut c_void, c_int, *const itimerspec, *mut itimerspec) -> c_int)(name, flags, new, old))
    }

    /// What is left of a timer.
    fn timer_gettime(name: *mut c_void, value: *mut itimerspec) -> c_int |me| {
        let now = scheduler().clock.now();
        if let Some(timer) = state().timers.find(name) {
            give(value, timer.left(now));
            return 0;
        }
        call_real(me, || real!(timer_gettime: fn(*mut c_void, *mut itimerspec) -> c_int)(name, value))
    }

    /// How often a timer has expired since its last signal was sent and before it was seen.
    fn timer_getoverrun(name: *mut c_void) -> c_int |me| {
        if let Some(timer) = state().timers.find(name) {
            return timer.overrun.min(c_int::MAX as u32) as c_int;
        }
        call_real(me, || real!(timer_getoverrun: fn(*mut c_void) -> c_int)(name))
    }

    /// Disarms a timer and forgets it.
    fn timer_delete(name: *mut c_void) -> c_int |me| {
        if let Some(timer) = state().timers.find(name) {
            timer.notice = Notice::Free;
            plan_next();
            return 0;
        }
        call_real(me, || real!(timer_delete: fn(*mut c_void) -> c_int)(name))
    }
}
