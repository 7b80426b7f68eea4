//! poll, and what it has in common with select and epoll_wait: the descriptors are asked without
//! waiting, and asked again when something may have changed. Time-outs go by the virtual clock;
//! without descriptors the call sleeps.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use libc::{nfds_t, pollfd, timespec, EINVAL};
use raddle_core::{Event, EventKind};

use super::kernel_wait::{conclude, AfterHandler, CallResult, Caller, Cancelled, INTERRUPTED};
use super::signal::{handle_pending, Masked};
use super::time::{from_now, nanoseconds, valid};
use crate::control::{scheduler, state};
use crate::model::descriptor::key;
use crate::os::sys;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::signals::lend::lent;
use crate::{interpose, real, syscall};

/// The deadline of a call that does not wait.
pub(super) const AT_ONCE: u64 = 0;

/// Milliseconds, negative for ever.
pub(super) fn milliseconds(time: c_int) -> u64 {
    match time {
        0 => AT_ONCE,
        _ if time < 0 => NEVER,
        _ => from_now(time as u64 * 1_000_000),
    }
}

/// A timespec, null for ever; `None` when it is not valid.
pub(super) unsafe fn duration(time: *const timespec) -> Option<u64> {
    // SAFETY: the caller's pointer.
    unsafe {
        if time.is_null() {
            return Some(NEVER);
        }
        if !valid(time) || (*time).tv_sec < 0 {
            return None;
        }
        Some(match nanoseconds(time) {
            0 => AT_ONCE,
            time => from_now(time),
        })
    }
}

/// What is left of a time-out.
pub(super) fn left(deadline: u64) -> u64 {
    // SAFETY: the caller holds the baton.
    deadline.saturating_sub(unsafe { scheduler() }.clock.now())
}

/// Asks, waits and asks again: how all of these calls work. `ask` says what the call returns, 0 when
/// nothing is ready; `wait` waits until that may have changed.
pub(super) unsafe fn until_ready<T>(
    caller: Caller,
    object: usize,
    deadline: u64,
    mask: *const u64,
    asked: &mut T,
    ask: impl Fn(&mut T) -> isize,
    wait: impl Fn(&mut T, Caller) -> Result<Wake, Cancelled>,
) -> CallResult {
    let caller = caller.point(EventKind::Poll, object)?;
    // SAFETY: the caller's mask.
    let _masked = unsafe { mask.as_ref().map(|mask| Masked::set(caller.me, *mask)) };
    loop {
        let result = lent(caller.me, || ask(asked));
        if result != 0 {
            return Ok(result);
        }
        // Only what is not ready waits, and lets through what its mask does.
        handle_pending(caller.me);
        if deadline == AT_ONCE {
            caller.made_no_progress();
        }
        if caller.is_interrupted(AfterHandler::Fail) {
            return Ok(INTERRUPTED);
        }
        if deadline == AT_ONCE {
            return Ok(0);
        }
        match wait(asked, caller)? {
            Wake::TimedOut => return Ok(lent(caller.me, || ask(asked))),
            Wake::Interrupted => return Ok(INTERRUPTED),
            _ => {}
        }
    }
}

/// Descriptors to wait for; without any, only time and signals end the wait.
pub(super) fn any_of(
    descriptors: &[pollfd],
    test: unsafe fn(*mut c_void) -> bool,
    context: *mut c_void,
    sleep: bool,
    polled: &mut MaybeUninit<Polled>,
) -> Wait {
    let mut watched = descriptors.iter().filter(|d| d.fd >= 0);
    if sleep && watched.clone().next().is_none() {
        return Wait::Event;
    }
    // SAFETY: the caller holds the baton.
    let closed = sleep && watched.all(|d| unsafe { state() }.closed_descriptors.contains(d.fd));
    let pointer = if sleep { descriptors.as_ptr().cast_mut() } else { core::ptr::null_mut() };
    let count = descriptors.len() as u32;
    Wait::Polled(polled.write(Polled { test, context, descriptors: pointer, count, closed }))
}

/// The descriptors of a poll.
struct Set {
    descriptors: *mut pollfd,
    count: nfds_t,
}

unsafe fn set_is_ready(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait, and the array of the waiting call.
    unsafe {
        let set = &*context.cast::<Set>();
        syscall!(libc::SYS_poll, set.descriptors, set.count, 0) != 0
    }
}

/// ppoll(2).
pub(super) unsafe fn poll_until(
    caller: Caller,
    descriptors: *mut pollfd,
    count: nfds_t,
    deadline: u64,
    mask: *const u64,
) -> CallResult {
    let mut set = Set { descriptors, count };
    // SAFETY: the caller's array, as long as the kernel accepts the number.
    let entries = match count {
        0 => &[],
        _ if count > 1 << 20 => return Ok(-(EINVAL as isize)),
        _ => unsafe { core::slice::from_raw_parts(descriptors, count as usize) },
    };
    let object = entries.first().map_or(0, |d| key(d.fd));
    // SAFETY: the caller's array and mask.
    unsafe {
        until_ready(
            caller,
            object,
            deadline,
            mask,
            &mut set,
            |_| syscall!(libc::SYS_poll, descriptors, count, 0),
            |set, caller| {
                let mut polled = MaybeUninit::uninit();
                let until = any_of(entries, set_is_ready, (set as *mut Set).cast(), true, &mut polled);
                caller.wait(Event::new(EventKind::Poll, object), until, deadline, AfterHandler::Fail)
            },
        )
    }
}

/// Makes a call with a time-out; `update` says that the caller gets the time that is left, as from the kernel's own
/// ppoll and pselect.
pub(super) unsafe fn with_time(time: *mut timespec, update: bool, call: impl FnOnce(u64) -> CallResult) -> CallResult {
    // SAFETY: the caller's pointer.
    unsafe {
        let Some(deadline) = duration(time) else { return Ok(-(EINVAL as isize)) };
        let result = call(deadline)?;
        if update && !time.is_null() {
            *time = sys::timespec(left(deadline));
        }
        Ok(result)
    }
}

/// ppoll(2) with its time-out.
pub(super) unsafe fn poll_for(
    caller: Caller,
    descriptors: *mut pollfd,
    count: nfds_t,
    time: *mut timespec,
    mask: *const u64,
    update: bool,
) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe { with_time(time, update, |deadline| poll_until(caller, descriptors, count, deadline, mask)) }
}

interpose! {
    fn poll(descriptors: *mut pollfd, count: nfds_t, time: c_int) -> c_int |me| {
        conclude!(me, poll_until(Caller::function(me), descriptors, count, milliseconds(time), core::ptr::null()))
    }

    fn __poll_chk(descriptors: *mut pollfd, count: nfds_t, time: c_int, room: usize) -> c_int |me| {
        if room / size_of::<pollfd>() < count as usize {
            return real!(__poll_chk: fn(*mut pollfd, nfds_t, c_int, usize) -> c_int)(descriptors, count, time, room);
        }
        conclude!(me, poll_until(Caller::function(me), descriptors, count, milliseconds(time), core::ptr::null()))
    }

    fn ppoll(descriptors: *mut pollfd, count: nfds_t, time: *mut timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, poll_for(Caller::function(me), descriptors, count, time, mask, false))
    }

    fn __ppoll_chk(descriptors: *mut pollfd, count: nfds_t, time: *mut timespec, mask: *const u64, room: usize) -> c_int |me| {
        if room / size_of::<pollfd>() < count as usize {
            return real!(__ppoll_chk: fn(*mut pollfd, nfds_t, *mut timespec, *const u64, usize) -> c_int)(descriptors, count, time, mask, room);
        }
        conclude!(me, poll_for(Caller::function(me), descriptors, count, time, mask, false))
    }
}
