//! Alarms. alarm and ITIMER_REAL go by the virtual clock; timers of CPU time and timerfd are the kernel's, and reported as
//! uncontrolled.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicU64, Ordering};

use libc::EINVAL;
use raddle_protocol::{Escape, Fallback};

use super::time::from_now;
use super::{fail, result, tick};
use crate::control::{self, scheduler, state};
use crate::process::forkable;
use crate::signals::kernel::plan_next;
use crate::{interpose, syscall};

interpose! {
    /// An alarm on the virtual clock.
    fn alarm(seconds: c_uint) -> c_uint |_| {
        let left = set_alarm(u64::from(seconds) * 1_000_000_000, 0).0;
        left.div_ceil(1_000_000_000) as c_uint
    } before {
        Early::ask(u64::from(seconds) * 1_000_000_000, 0);
    }

    /// An alarm on the virtual clock.
    fn ualarm(microseconds: c_uint, interval: c_uint) -> c_uint |_| {
        let left = set_alarm(u64::from(microseconds) * 1000, u64::from(interval) * 1000).0;
        left.div_ceil(1000) as c_uint
    } before {
        Early::ask(u64::from(microseconds) * 1000, u64::from(interval) * 1000);
    }

    /// ITIMER_REAL goes by the virtual clock; the timers of CPU time are the kernel's.
    fn setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int |_| {
        if which != libc::ITIMER_REAL {
            return result(set_timer_of_cpu_time(which, new, old)) as c_int;
        }
        let (left, interval) = match new.as_ref() {
            Some(new) if !valid(new.it_value) || !valid(new.it_interval) => return fail(EINVAL),
            Some(new) => set_alarm(micro(new.it_value), micro(new.it_interval)),
            None => alarm_left(),
        };
        if !old.is_null() {
            *old = libc::itimerval { it_interval: timeval(interval), it_value: timeval(left) };
        }
        0
    } before {
        if let Some(new) = new.as_ref().filter(|_| which == libc::ITIMER_REAL) {
            Early::ask(micro(new.it_value), micro(new.it_interval));
        }
    }

    fn getitimer(which: c_int, value: *mut libc::itimerval) -> c_int |_| {
        if which == libc::ITIMER_VIRTUAL && tick::has_virtual_timer() {
            *value = NO_TIMER;
            return 0;
        }
        if which != libc::ITIMER_REAL {
            return result(syscall!(libc::SYS_getitimer, which, value)) as c_int;
        }
        let (left, interval) = alarm_left();
        *value = libc::itimerval { it_interval: timeval(interval), it_value: timeval(left) };
        0
    }

    /// A timer of the kernel's: reported as uncontrolled.
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int |_| {
        scheduler().escaped(Escape::Timers);
        result(syscall!(libc::SYS_timerfd_create, clock, flags)) as c_int
    } before {
        forkable::note(Fallback::Timers);
    }
}

/// The alarm of a constructor: its time and its interval, in nanoseconds. Until the run starts the kernel has it, and the
/// program may wait for it.
struct Early {
    time: AtomicU64,
    interval: AtomicU64,
}

static EARLY: Early = Early { time: AtomicU64::new(0), interval: AtomicU64::new(0) };

impl Early {
    fn ask(time: u64, interval: u64) {
        EARLY.time.store(time, Ordering::Relaxed);
        EARLY.interval.store(interval, Ordering::Relaxed);
    }
}

/// Takes the alarm of a constructor from the kernel, which would end a fork server with it. What is left of it depends on
/// the real clock; what was asked for does not.
pub fn take_over() {
    // SAFETY: the kernel reads one timer and writes the other.
    let left = unsafe {
        let (none, mut left): (libc::itimerval, libc::itimerval) = (core::mem::zeroed(), core::mem::zeroed());
        syscall!(libc::SYS_setitimer, libc::ITIMER_REAL, &none as *const _, &mut left as *mut _);
        left
    };
    if let Some(control) = control::block().map(|block| &block.control) {
        let left = control.alarm.swap(0, Ordering::Relaxed);
        if left != 0 {
            // Of the program that has started this one in its place.
            return Early::ask(left, control.alarm_interval.load(Ordering::Relaxed));
        }
    }
    match micro(left.it_value) {
        0 => Early::ask(0, 0),
        // It was set past the functions in here.
        left_now if left_now > EARLY.time.load(Ordering::Relaxed) => Early::ask(left_now, micro(left.it_interval)),
        _ => {}
    }
}

/// Sets the alarm of a constructor on the virtual clock.
#[link_section = "raddle_run"]
pub fn start_run() {
    let time = EARLY.time.load(Ordering::Relaxed);
    // SAFETY: the only thread of the run.
    unsafe {
        if time != 0 {
            set_alarm(time, EARLY.interval.load(Ordering::Relaxed));
        }
        if forkable::is_noted(Fallback::Timers) {
            state().signals.kernel_timer = true;
            scheduler().escaped(Escape::Timers);
        }
    }
}

/// What is left of the alarm, and its interval.
///
/// # Safety
/// The caller holds the baton.
pub(super) unsafe fn left() -> (u64, u64) {
    // SAFETY: the caller's promise.
    unsafe { alarm_left() }
}

/// Sets the alarm on the real clock, for a program outside control.
pub(super) unsafe fn give_to_kernel() {
    // SAFETY: the caller holds the baton; the kernel reads the timer only.
    unsafe {
        let (left, interval) = alarm_left();
        if left != 0 {
            // At least a microsecond: nothing would be no alarm.
            let timer = libc::itimerval { it_interval: timeval(interval), it_value: timeval(left.max(1000)) };
            syscall!(libc::SYS_setitimer, libc::ITIMER_REAL, &timer as *const _, 0);
        }
    }
}

/// Takes it back.
pub(super) unsafe fn take_from_kernel() {
    // SAFETY: the kernel reads the timer only.
    unsafe {
        let none: libc::itimerval = core::mem::zeroed();
        syscall!(libc::SYS_setitimer, libc::ITIMER_REAL, &none as *const _, 0);
    }
}

const NO_TIMER: libc::itimerval = libc::itimerval {
    it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
    it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
};

/// setitimer(2) for the timers of CPU time, which are the kernel's.
unsafe fn set_timer_of_cpu_time(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> isize {
    // SAFETY: the caller's pointers and baton.
    unsafe {
        state().signals.kernel_timer = true;
        scheduler().escaped(Escape::Timers);
        let was_ours = which == libc::ITIMER_VIRTUAL && tick::leave_virtual_timer();
        let error = syscall!(libc::SYS_setitimer, which, new, old);
        if was_ours && error == 0 && !old.is_null() {
            *old = NO_TIMER;
        }
        error
    }
}

/// Whether the kernel takes a time.
fn valid(time: libc::timeval) -> bool {
    time.tv_sec >= 0 && (0..1_000_000).contains(&time.tv_usec)
}

fn micro(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

fn timeval(nanoseconds: u64) -> libc::timeval {
    libc::timeval { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_usec: (nanoseconds % 1_000_000_000 / 1000) as i64 }
}

/// What is left of the alarm, and its interval.
unsafe fn alarm_left() -> (u64, u64) {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let left = match it.signals.alarm {
        0 => 0,
        deadline => (deadline - 1).saturating_sub(it.scheduler.clock.now()).max(1),
    };
    (left, it.signals.alarm_interval)
}

/// Sets the alarm (0: none); returns what was left of the old one, and its interval.
unsafe fn set_alarm(from_now_on: u64, interval: u64) -> (u64, u64) {
    // SAFETY: the caller holds the baton.
    unsafe {
        let old = alarm_left();
        let signals = &mut state().signals;
        signals.alarm = if from_now_on == 0 { 0 } else { from_now(from_now_on) + 1 };
        signals.alarm_interval = interval;
        plan_next();
        old
    }
}
