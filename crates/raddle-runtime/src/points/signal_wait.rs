//! Waiting for signals: for a handler (sigsuspend, pause), or in place of one (sigwait).

use core::ffi::{c_int, c_void};

use libc::{siginfo_t, timespec, EAGAIN, EINTR, EINVAL};
use raddle_core::{Event, EventKind, ThreadId};

use super::signal::{handle_pending, mask_of, valid_signal, Masked};
use super::time::{from_now, nanoseconds, valid_for_kernel};
use super::{fail, result};
use crate::control::{point, scheduler, state, wait};
use crate::os::sys;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::signals::{bit, rank, reserved, LIBCS, SI_TKILL, SI_USER};
use crate::{interpose, syscall};

/// glibc tells of signals to a thread as of any other (sigwaitinfo, sigtimedwait).
unsafe fn as_libc_says(info: *mut libc::siginfo_t) {
    // SAFETY: the caller's pointer, or null.
    if let Some(info) = unsafe { info.as_mut() } {
        if info.si_code == SI_TKILL {
            info.si_code = SI_USER;
        }
    }
}

/// Waits for a signal: the test says when, and a handler or a cancellation may be first.
unsafe fn wait_until(me: ThreadId, test: unsafe fn(*mut c_void) -> bool, context: *mut c_void, deadline: u64) -> Wake {
    let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        let thread = scheduler().thread(me);
        thread.interruptible = true;
        thread.cancellable = true;
        let wake = wait(me, Event::new(EventKind::SigWait, 0), Wait::Polled(&raw const polled), deadline);
        let thread = scheduler().thread(me);
        thread.interruptible = false;
        thread.cancellable = false;
        wake
    }
}

/// Waits until a handler has run, under another mask if there is one; the kernel's convention.
pub(super) unsafe fn suspend(me: ThreadId, mask: Option<u64>) -> isize {
    /// Nothing but a signal ends the wait.
    unsafe fn never(_: *mut c_void) -> bool {
        false
    }
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        let handled = scheduler().threads[me.index()].handled;
        let masked = mask.map(|mask| Masked::set(me, mask));
        handle_pending(me);
        while scheduler().threads[me.index()].handled == handled
            && wait_until(me, never, core::ptr::null_mut(), NEVER) != Wake::Cancelled
        {}
        drop(masked);
    }
    -(EINTR as isize)
}

/// What a wait for signals looks at, and what it has found.
struct Wanted {
    me: ThreadId,
    set: u64,
    found: isize,
    info: siginfo_t,
}

impl Wanted {
    /// Takes the next signal of the set, from what we keep or from what the kernel does.
    fn take(&mut self) -> bool {
        // SAFETY: the caller holds the baton; the kernel reads and writes what is ours.
        unsafe {
            let queue = &mut state().signals.queue;
            let kept = queue.next_for(self.me, !self.set);
            let mut in_kernel = 0u64;
            syscall!(libc::SYS_rt_sigpending, &mut in_kernel as *mut _, 8);
            let in_kernel = in_kernel & self.set & !reserved();
            let first = (1..65).filter(|&signal| in_kernel & bit(signal) != 0).min_by_key(|&signal| rank(signal));
            match (kept, first) {
                (Some((kept, to_thread)), first)
                    if to_thread || first.is_none_or(|first| rank(kept) <= rank(first)) =>
                {
                    let Some(taken) = queue.take_for(self.me, !self.set) else { return false };
                    self.found = taken.signal as isize;
                    self.info = taken.info;
                }
                (_, Some(first)) => {
                    let (none, only) = (sys::timespec(0), bit(first));
                    let info = &raw mut self.info;
                    self.found = syscall!(libc::SYS_rt_sigtimedwait, &only as *const _, info, &none as *const _, 8);
                }
                _ => return false,
            }
        }
        self.found > 0
    }
}

/// Takes a pending signal of a set, or waits for one; the kernel's convention.
pub(super) unsafe fn wait_for_signal(me: ThreadId, set: u64, info: *mut siginfo_t, deadline: u64) -> isize {
    unsafe fn test(context: *mut c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe { (*context.cast::<Wanted>()).take() }
    }
    point(me, EventKind::SigWait, 0);
    // SAFETY: the caller's pointers; `me` holds the baton whenever it runs.
    unsafe {
        let set = set & !LIBCS;
        let mut wanted = Wanted { me, set, found: 0, info: core::mem::zeroed() };
        if !wanted.take() {
            // Meanwhile a signal of the set is taken here, and its handler does not run.
            let before = mask_of(me);
            let handled = scheduler().threads[me.index()].handled;
            scheduler().thread(me).signal_mask = before | set;
            let wake = loop {
                let wake = wait_until(me, test, (&raw mut wanted).cast(), deadline);
                if wake != Wake::Interrupted || scheduler().threads[me.index()].handled != handled {
                    break wake;
                }
            };
            scheduler().thread(me).signal_mask = before;
            handle_pending(me);
            match wake {
                Wake::Go => {}
                Wake::TimedOut => return -(EAGAIN as isize),
                Wake::Interrupted | Wake::Cancelled => return -(EINTR as isize),
            }
        }
        if wanted.found > 0 && !info.is_null() {
            *info = wanted.info;
        }
        wanted.found
    }
}

/// rt_sigtimedwait(2).
pub(super) unsafe fn wait_for_signal_until(
    me: ThreadId,
    set: *const u64,
    info: *mut siginfo_t,
    time: *const timespec,
) -> isize {
    // SAFETY: the caller's pointers.
    unsafe {
        if !time.is_null() && !valid_for_kernel(time) {
            return -(EINVAL as isize);
        }
        let deadline = if time.is_null() { NEVER } else { from_now(nanoseconds(time)) };
        wait_for_signal(me, *set, info, deadline)
    }
}

/// A handler is waited for, at a cancellation point; what the function returns.
unsafe extern "C-unwind" fn suspend_in_libc(me: ThreadId, mask: *const u64) -> c_int {
    // SAFETY: nothing in the calling frames needs to be dropped.
    unsafe {
        super::cancel::act_on_cancel(me);
        suspend(me, mask.as_ref().copied());
        super::cancel::act_on_cancel(me);
    }
    fail(EINTR)
}

/// sigtimedwait, at a cancellation point; what the function returns.
unsafe extern "C-unwind" fn wait_in_libc(
    me: ThreadId,
    set: *const u64,
    info: *mut siginfo_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: nothing in the calling frames needs to be dropped; the caller's pointers.
    unsafe {
        super::cancel::act_on_cancel(me);
        let n = wait_for_signal_until(me, set, info, time);
        if n > 0 {
            as_libc_says(info);
        } else {
            super::cancel::act_on_cancel(me);
        }
        result(n) as c_int
    }
}

interpose! {
    /// Waits for a signal handler to run, under another mask.
    fn sigsuspend(mask: *const u64) -> c_int |me| {
        suspend_in_libc(me, mask)
    }

    /// Waits for a signal handler to run.
    fn pause() -> c_int |me| {
        suspend_in_libc(me, core::ptr::null())
    }

    /// Waits for a signal handler to run, with the first signals blocked as the bits say.
    fn sigpause(mask: c_int) -> c_int |me| {
        suspend_in_libc(me, &u64::from(mask as u32))
    }

    /// The same, or with one signal not blocked.
    fn __sigpause(signal_or_mask: c_int, is_signal: c_int) -> c_int |me| {
        if is_signal == 0 {
            return suspend_in_libc(me, &u64::from(signal_or_mask as u32));
        }
        if !valid_signal(signal_or_mask) {
            return fail(EINVAL);
        }
        suspend_in_libc(me, &(mask_of(me) & !bit(signal_or_mask)))
    }

    /// Waits for a signal handler to run, with one signal not blocked.
    fn __xpg_sigpause(signal: c_int) -> c_int |me| {
        if !valid_signal(signal) {
            return fail(EINVAL);
        }
        suspend_in_libc(me, &(mask_of(me) & !bit(signal)))
    }

    /// Waits for a signal of a set.
    fn sigwait(set: *const u64, signal: *mut c_int) -> c_int |me| {
        loop {
            super::cancel::act_on_cancel(me);
            match wait_for_signal(me, *set, core::ptr::null_mut(), NEVER) {
                n if n == -(EINTR as isize) => {}
                n if n < 0 => return -n as c_int,
                n => {
                    *signal = n as c_int;
                    return 0;
                }
            }
        }
    }

    /// Waits for a signal of a set.
    fn sigwaitinfo(set: *const u64, info: *mut siginfo_t) -> c_int |me| {
        wait_in_libc(me, set, info, core::ptr::null())
    }

    /// A descriptor that shows signals.
    fn signalfd(descriptor: c_int, set: *const u64, flags: c_int) -> c_int |_| {
        crate::signals::lend::are_shown();
        result(syscall!(libc::SYS_signalfd4, descriptor, set, 8, flags)) as c_int
    }

    fn sigtimedwait(set: *const u64, info: *mut siginfo_t, time: *const timespec) -> c_int |me| {
        wait_in_libc(me, set, info, time)
    }
}
