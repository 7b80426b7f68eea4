//! Clocks, sleeping and yielding, all on the virtual clock.

use core::ffi::{c_int, c_long, c_uint, c_void};
use core::sync::atomic::Ordering;

use libc::{timespec, timeval, EINTR, EINVAL};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::results::blind_spot;
use raddle_protocol::OsReason;

use super::cancel::act_on_cancel;
use super::fail;
use crate::control::{self, point, scheduler, wait, LeaveOnDrop};
use crate::interpose;
use crate::os::sys;
use crate::scheduler::clock::{Clock, NEVER};
use crate::scheduler::thread::{Wait, Wake};

const SECOND: u64 = 1_000_000_000;
/// A number among those of the clocks that stood for one once.
const NO_CLOCK: c_int = 10;

/// Whether a time has a proper number of nanoseconds.
pub(super) unsafe fn valid(time: *const timespec) -> bool {
    // SAFETY: the caller's pointer.
    unsafe { (0..1_000_000_000).contains(&(*time).tv_nsec) }
}

/// Whether a time is one that the kernel takes: proper and not negative.
pub(super) unsafe fn valid_for_kernel(time: *const timespec) -> bool {
    // SAFETY: the caller's pointer.
    unsafe { valid(time) && (*time).tv_sec >= 0 }
}

/// Nanoseconds; times before 1970 count as 1970.
pub(super) unsafe fn nanoseconds(time: *const timespec) -> u64 {
    // SAFETY: the caller's pointer.
    let time = unsafe { &*time };
    if time.tv_sec < 0 {
        return 0;
    }
    (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64)
}

/// A time on a clock of the program as a deadline.
pub(super) unsafe fn deadline(clock: c_int, time: *const timespec) -> u64 {
    if time.is_null() {
        return NEVER;
    }
    // SAFETY: the caller's pointer; `me` holds the baton.
    unsafe { scheduler().clock.deadline(clock, nanoseconds(time)) }
}

/// A duration from now as a deadline.
pub(super) fn from_now(duration: u64) -> u64 {
    // SAFETY: the caller holds the baton.
    let now = unsafe { scheduler() }.clock.now();
    now.saturating_add(duration).min(NEVER - 1)
}

/// Sleeps until a deadline. Returns whether a signal ended the sleep.
///
/// # Safety
/// A sleep is a cancellation point: nothing in the calling frames may need to be dropped.
pub(super) unsafe extern "C-unwind" fn sleep_until(me: ThreadId, deadline: u64) -> bool {
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        act_on_cancel(me);
        let thread = scheduler().thread(me);
        thread.interruptible = true;
        thread.cancellable = true;
        let wake = wait(me, Event::new(EventKind::Sleep, 0), Wait::Event, deadline);
        let thread = scheduler().thread(me);
        thread.interruptible = false;
        thread.cancellable = false;
        if wake == Wake::Cancelled {
            act_on_cancel(me);
        }
        wake == Wake::Interrupted
    }
}

fn per_process(clock: c_int) -> bool {
    clock < 0 || clock == libc::CLOCK_PROCESS_CPUTIME_ID || clock == libc::CLOCK_THREAD_CPUTIME_ID
}

/// Why the kernel does not let threads sleep on a clock; 0 if it does.
fn cannot_sleep(clock: c_int) -> c_int {
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC | libc::CLOCK_BOOTTIME => 0,
        libc::CLOCK_THREAD_CPUTIME_ID => EINVAL,
        // SAFETY: sleeps for no time at all.
        _ => unsafe { -crate::syscall!(libc::SYS_clock_nanosleep, clock, 0, &now as *const _, 0) as c_int },
    }
}

/// Reads the virtual clock for the calling thread.
pub(super) fn read_clock(me: ThreadId) -> u64 {
    sys::answered();
    // SAFETY: `me` holds the baton.
    let (now, again) = unsafe {
        scheduler().record_blind_spot(blind_spot::TIMED);
        scheduler().clock.read()
    };
    if again {
        // A thread waits busily for a time to come: others may go on meanwhile.
        // SAFETY: as above.
        unsafe { scheduler() }.made_no_progress(me);
        point(me, EventKind::Clock, 0);
    }
    now
}

/// What a clock shows now, also before the run has started; `None`: ask the real one.
unsafe fn show(clock: c_int) -> Option<u64> {
    // The kernel does not know it, and says so.
    if clock > libc::CLOCK_TAI || clock == NO_CLOCK {
        return None;
    }
    if per_process(clock) {
        if control::current().is_some() {
            let _leave = LeaveOnDrop::armed();
            if clock != libc::CLOCK_PROCESS_CPUTIME_ID {
                crate::process::failure::needs_os_threads(OsReason::ThreadClock);
            }
            // SAFETY: the thread is under control.
            unsafe { scheduler() }.escaped(raddle_protocol::Escape::CpuClock);
        }
        return None;
    }
    match control::current() {
        Some(me) => {
            let _leave = LeaveOnDrop::armed();
            let now = read_clock(me);
            // SAFETY: `me` holds the baton.
            Some(unsafe { scheduler() }.clock.show(clock, now))
        }
        None if control::mode() == control::Mode::Before => {
            let block = control::block()?;
            let before = Clock::starting_at(block.settings.run.realtime);
            Some(before.show(clock, block.control.clock.load(Ordering::Relaxed)))
        }
        None => None,
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn clock_gettime(clock: c_int, time: *mut timespec) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe {
        match show(clock) {
            Some(now) => {
                *time = crate::os::sys::timespec(now);
                0
            }
            None => super::result(crate::syscall!(libc::SYS_clock_gettime, clock, time)) as c_int,
        }
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    // SAFETY: the caller's pointer.
    unsafe {
        match show(libc::CLOCK_REALTIME) {
            Some(now) => {
                if !time.is_null() {
                    let now = crate::os::sys::timespec(now);
                    *time = timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
                }
                0
            }
            None => super::result(crate::syscall!(libc::SYS_gettimeofday, time, zone)) as c_int,
        }
    }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn time(result: *mut libc::time_t) -> libc::time_t {
    // SAFETY: the caller's pointer.
    unsafe {
        let now = match show(libc::CLOCK_REALTIME) {
            Some(now) => (now / SECOND) as libc::time_t,
            None => crate::syscall!(libc::SYS_time, 0) as libc::time_t,
        };
        if !result.is_null() {
            *result = now;
        }
        now
    }
}

/// C11's way to read the wall clock.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
    const TIME_UTC: c_int = 1;
    if base != TIME_UTC {
        return 0;
    }
    // SAFETY: the caller's pointer.
    if unsafe { clock_gettime(libc::CLOCK_REALTIME, time) } == 0 {
        base
    } else {
        0
    }
}

interpose! {
    fn sched_yield() -> c_int |me| {
        scheduler().made_no_progress(me);
        point(me, EventKind::Yield, 0);
        0
    }

    fn sleep(seconds: c_uint) -> c_uint |me| {
        let deadline = from_now(u64::from(seconds) * SECOND);
        if sleep_until(me, deadline) {
            let left = deadline.saturating_sub(scheduler().clock.now());
            return (left / SECOND) as c_uint;
        }
        0
    }

    fn usleep(microseconds: c_uint) -> c_int |me| {
        if sleep_until(me, from_now(u64::from(microseconds) * 1000)) {
            return fail(EINTR);
        }
        0
    }

    fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int |_| {
        match clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, left) {
            0 => 0,
            error => fail(error),
        }
    }

    fn clock_nanosleep(clock: c_int, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int |me| {
        let error = cannot_sleep(clock);
        if error != 0 {
            return error;
        }
        if !valid(time) || (*time).tv_sec < 0 {
            return EINVAL;
        }
        if per_process(clock) {
            return -control::unlocked(me, || crate::syscall!(libc::SYS_clock_nanosleep, clock, flags, time, left)) as c_int;
        }
        let absolute = flags & libc::TIMER_ABSTIME != 0;
        let until = if absolute { deadline(clock, time) } else { from_now(nanoseconds(time)) };
        if sleep_until(me, until) {
            if !absolute && !left.is_null() {
                *left = crate::os::sys::timespec(until.saturating_sub(scheduler().clock.now()));
            }
            return EINTR;
        }
        0
    }

    /// Processor time: follows the virtual clock.
    fn clock() -> c_long |me| {
        (read_clock(me) / 1000) as c_long
    }
}
