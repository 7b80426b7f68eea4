//! Waiting for signals: for a handler (sigsuspend, pause), or in place of one (sigwait).

use core::ffi::{c_int, c_void};

use libc::{siginfo_t, timespec, EINVAL};
use raddle_core::{Event, EventKind, ThreadId};

use super::kernel_wait::{conclude, AfterHandler, CallResult, Caller, Cancelled, AGAIN, INTERRUPTED};
use super::signal::{handle_pending, mask_of, valid_signal, Masked};
use super::time::{from_now, nanoseconds, valid_for_kernel};
use super::{fail, result};
use crate::control::{scheduler, state};
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
fn wait_until(
    caller: Caller,
    test: unsafe fn(*mut c_void) -> bool,
    context: *mut c_void,
    deadline: u64,
) -> Result<Wake, Cancelled> {
    let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
    let until = Wait::Polled(&raw const polled);
    caller.wait(Event::new(EventKind::SigWait, 0), until, deadline, AfterHandler::Fail)
}

/// Waits until a handler has run, under another mask if there is one.
pub(super) unsafe fn suspend(caller: Caller, mask: Option<u64>) -> CallResult {
    /// Nothing but a signal ends the wait.
    unsafe fn never(_: *mut c_void) -> bool {
        false
    }
    let caller = caller.begin()?;
    // SAFETY: the caller holds the baton whenever it runs.
    let _masked = mask.map(|mask| unsafe { Masked::set(caller.me, mask) });
    handle_pending(caller.me);
    wait_until(caller, never, core::ptr::null_mut(), NEVER)?;
    Ok(INTERRUPTED)
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
                    let Some(mut taken) = queue.take_for(self.me, !self.set) else { return false };
                    crate::signals::kernel::is_seen(&mut taken.info);
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

/// Takes a pending signal of a set, or waits for one.
pub(super) unsafe fn wait_for_signal(caller: Caller, set: u64, info: *mut siginfo_t, deadline: u64) -> CallResult {
    unsafe fn test(context: *mut c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe { (*context.cast::<Wanted>()).take() }
    }
    let caller = caller.point(EventKind::SigWait, 0)?;
    let me = caller.me;
    // SAFETY: the caller's pointers; `me` holds the baton whenever it runs.
    unsafe {
        let set = set & !LIBCS;
        let mut wanted = Wanted { me, set, found: 0, info: core::mem::zeroed() };
        if !wanted.take() {
            // Meanwhile a signal of the set is taken here, and its handler does not run.
            let before = mask_of(me);
            scheduler().thread(me).signal_mask = before | set;
            let wake = wait_until(caller, test, (&raw mut wanted).cast(), deadline);
            scheduler().thread(me).signal_mask = before;
            handle_pending(me);
            match wake? {
                Wake::TimedOut => return Ok(AGAIN),
                Wake::Interrupted => return Ok(INTERRUPTED),
                _ => {}
            }
        }
        if wanted.found > 0 && !info.is_null() {
            *info = wanted.info;
        }
        Ok(wanted.found)
    }
}

/// rt_sigtimedwait(2).
pub(super) unsafe fn wait_for_signal_until(
    caller: Caller,
    set: *const u64,
    info: *mut siginfo_t,
    time: *const timespec,
) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe {
        if !time.is_null() && !valid_for_kernel(time) {
            return Ok(-(EINVAL as isize));
        }
        let deadline = if time.is_null() { NEVER } else { from_now(nanoseconds(time)) };
        wait_for_signal(caller, *set, info, deadline)
    }
}

/// sigtimedwait(3), which tells of signals to a thread in its own way.
unsafe fn wait_in_libc(me: ThreadId, set: *const u64, info: *mut siginfo_t, time: *const timespec) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe {
        let found = wait_for_signal_until(Caller::function(me), set, info, time)?;
        if found > 0 {
            as_libc_says(info);
        }
        Ok(found)
    }
}

interpose! {
    /// Waits for a signal handler to run, under another mask.
    fn sigsuspend(mask: *const u64) -> c_int |me| {
        conclude!(me, suspend(Caller::function(me), Some(*mask)))
    }

    /// Waits for a signal handler to run.
    fn pause() -> c_int |me| {
        conclude!(me, suspend(Caller::function(me), None))
    }

    /// Waits for a signal handler to run, with the first signals blocked as the bits say.
    fn sigpause(mask: c_int) -> c_int |me| {
        conclude!(me, suspend(Caller::function(me), Some(u64::from(mask as u32))))
    }

    /// The same, or with one signal not blocked.
    fn __sigpause(signal_or_mask: c_int, is_signal: c_int) -> c_int |me| {
        if is_signal == 0 {
            return conclude!(me, suspend(Caller::function(me), Some(u64::from(signal_or_mask as u32))));
        }
        if !valid_signal(signal_or_mask) {
            return fail(EINVAL);
        }
        conclude!(me, suspend(Caller::function(me), Some(mask_of(me) & !bit(signal_or_mask))))
    }

    /// Waits for a signal handler to run, with one signal not blocked.
    fn __xpg_sigpause(signal: c_int) -> c_int |me| {
        if !valid_signal(signal) {
            return fail(EINVAL);
        }
        conclude!(me, suspend(Caller::function(me), Some(mask_of(me) & !bit(signal))))
    }

    /// Waits for a signal of a set.
    fn sigwait(set: *const u64, signal: *mut c_int) -> c_int |me| {
        loop {
            match wait_for_signal(Caller::function(me), *set, core::ptr::null_mut(), NEVER) {
                Err(Cancelled) => super::cancel::act_on_cancel(me),
                Ok(INTERRUPTED) => {}
                Ok(n) if n < 0 => return -n as c_int,
                Ok(n) => {
                    *signal = n as c_int;
                    return 0;
                }
            }
        }
    }

    /// Waits for a signal of a set.
    fn sigwaitinfo(set: *const u64, info: *mut siginfo_t) -> c_int |me| {
        conclude!(me, wait_in_libc(me, set, info, core::ptr::null()))
    }

    /// A descriptor that shows signals.
    fn signalfd(descriptor: c_int, set: *const u64, flags: c_int) -> c_int |_| {
        crate::signals::lend::are_shown();
        result(syscall!(libc::SYS_signalfd4, descriptor, set, 8, flags)) as c_int
    }

    fn sigtimedwait(set: *const u64, info: *mut siginfo_t, time: *const timespec) -> c_int |me| {
        conclude!(me, wait_in_libc(me, set, info, time))
    }
}
