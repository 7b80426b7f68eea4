//! Cancellation. It is deferred as far as libc knows: a request acts at a cancellation point, or, for a
//! thread that wants it at once, at a schedule point.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use libc::{EINVAL, ESRCH};
use raddle_core::{EventKind, ThreadId};
use raddle_protocol::{Escape, OsReason};

use crate::control::{call_real, point, scheduler, unlocked};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::thread::{Life, Wake};
use crate::switch::fibers;
use crate::{interpose, real};

/// PTHREAD_CANCEL_DISABLE.
const CANCEL_DISABLE: c_int = 1;

/// Where glibc keeps a thread's cancellation type, in bytes from its thread pointer; 0 when unknown.
/// It is set to asynchronous around the blocking calls that libc makes itself.
static CANCEL_TYPE: AtomicUsize = AtomicUsize::new(0);
/// The bit of it in the byte there.
static CANCEL_TYPE_BIT: AtomicU32 = AtomicU32::new(0);

pub(super) fn find_cancel_type() {
    const BYTES: usize = 0x700;
    let pointer = sys::thread_pointer() as *const [u8; BYTES];
    let set = |kind: c_int| {
        let mut old = 0;
        // SAFETY: changes the calling thread only, and no request is pending.
        unsafe { real!(pthread_setcanceltype: fn(c_int, *mut c_int) -> c_int)(kind, &mut old) };
    };
    // Plain reads, between which there is a call of libc's: volatile ones become two instructions for each byte.
    // SAFETY: inside glibc's `struct pthread`.
    let before = unsafe { pointer.read() };
    set(1);
    // SAFETY: as above.
    let after = unsafe { pointer.read() };
    set(0);
    if let Some(at) = (0x2c0..BYTES).find(|&i| before[i] != after[i]) {
        CANCEL_TYPE.store(at, Ordering::Relaxed);
        CANCEL_TYPE_BIT.store(u32::from(before[at] ^ after[at]), Ordering::Relaxed);
    }
}

/// Whether libc lets the calling thread be cancelled where it stands, in a call of its own.
pub(super) fn libc_lets_cancel() -> bool {
    let at = CANCEL_TYPE.load(Ordering::Relaxed);
    let bit = CANCEL_TYPE_BIT.load(Ordering::Relaxed) as u8;
    // SAFETY: inside the calling thread's control block.
    at != 0 && unsafe { *((sys::thread_pointer() + at) as *const u8) } & bit != 0
}

/// Sets libc's cancellation type of a parked fiber. Returns what it was.
fn change_libc_cancel_type(handle: usize, asynchronous: bool) -> bool {
    let at = CANCEL_TYPE.load(Ordering::Relaxed);
    let bit = CANCEL_TYPE_BIT.load(Ordering::Relaxed) as u8;
    // SAFETY: inside the control block of a thread that lives and does not run.
    unsafe {
        let byte = (handle + at) as *mut u8;
        let before = *byte & bit != 0;
        *byte = if asynchronous { *byte | bit } else { *byte & !bit };
        before
    }
}

/// Whether it is known where libc keeps the cancellation type.
pub(super) fn knows_libc() -> bool {
    CANCEL_TYPE.load(Ordering::Relaxed) != 0
}

/// Acts on a cancellation request: does not return when cancellation is enabled.
///
/// # Safety
/// Nothing in the calling frames may need to be dropped.
pub unsafe extern "C-unwind" fn act_on_cancel(me: ThreadId) {
    // SAFETY: `me` holds the baton; the real function unwinds the stack.
    unsafe {
        let thread = scheduler().thread(me);
        if thread.cancel_requested && !thread.cancel_disabled {
            unlocked(me, || real!(pthread_testcancel: fn())());
        }
    }
}

/// Cancels a fiber in a system call that libc made itself, as libc's signal would have done.
///
/// # Safety
/// As for [`act_on_cancel`].
pub unsafe extern "C-unwind" fn cancel_in_libc(me: ThreadId) {
    if cancel_is_due(me) && libc_lets_cancel() {
        // SAFETY: the caller's promise.
        unsafe { act_on_cancel(me) };
    }
}

/// Whether the thread was cancelled and asked for that to act at once: then it acts at every schedule
/// point.
#[inline]
pub fn must_stop_now(me: ThreadId) -> bool {
    // SAFETY: `me` holds the baton.
    let thread = unsafe { scheduler() }.thread(me);
    thread.cancel_requested && thread.cancel_async && !thread.cancel_disabled
}

/// Whether a cancellation request is to be acted on now.
pub(super) fn cancel_is_due(me: ThreadId) -> bool {
    // SAFETY: `me` holds the baton.
    let thread = unsafe { scheduler() }.thread(me);
    thread.cancel_requested && !thread.cancel_disabled
}

/// Whether a request ends what a thread waits in: a cancellation point, or any wait of a call if it acts at once. Not
/// the one for the mutex after a wait on a condition.
unsafe fn ends_wait(other: ThreadId) -> bool {
    use EventKind::*;
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let thread = &s.threads[other.index()];
    let waits = || match s.pending[other.index()].kind {
        Lock | ReadLock | WriteLock | SpinLock | BarrierLeave | Once => true,
        Outside => !thread.blocked_outside,
        _ => false,
    };
    thread.cancellable || thread.cancel_async && waits()
}

interpose! {
    /// Asks a thread to end at its next cancellation point.
    fn pthread_cancel(handle: usize) -> c_int |me| {
        point(me, EventKind::Cancel, handle);
        let Some(other) = scheduler().pointers.get(handle) else {
            return real!(pthread_cancel: fn(usize) -> c_int)(handle);
        };
        let thread = scheduler().thread(other);
        if thread.life != Life::Alive {
            return 0;
        }
        if thread.cancel_async {
            scheduler().escaped(Escape::AsyncCancel);
        }
        // Deferred as far as glibc knows: it only sets a bit in the other thread.
        let result = call_real(me, || {
            // A fiber has no OS thread that libc's signal could reach: deferred as far as libc knows.
            let asynchronous = fibers() && change_libc_cancel_type(handle, false);
            let result = real!(pthread_cancel: fn(usize) -> c_int)(handle);
            if asynchronous {
                change_libc_cancel_type(handle, true);
            }
            if fibers() && result == ESRCH { 0 } else { result }
        });
        // Only after libc knows of it, or the other thread might act on it in vain.
        let thread = scheduler().thread(other);
        thread.cancel_requested = true;
        if thread.life == Life::Alive && !thread.cancel_disabled && ends_wait(other) {
            scheduler().end_wait(other, Wake::Cancelled);
        }
        if other == me && scheduler().threads[me.index()].cancel_async {
            act_on_cancel(me);
        }
        result
    }

    /// Ends the thread here if it was asked to.
    fn pthread_testcancel() |me| {
        if cancel_is_due(me) {
            act_on_cancel(me);
        }
    }

    /// Lets the thread be cancelled or not.
    fn pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int |me| {
        let result = real!(pthread_setcancelstate: fn(c_int, *mut c_int) -> c_int)(new, old);
        if result == 0 {
            scheduler().thread(me).cancel_disabled = new == CANCEL_DISABLE;
        }
        result
    }

    /// Deferred or asynchronous cancellation; the latter acts at schedule points.
    fn pthread_setcanceltype(new: c_int, old: *mut c_int) -> c_int |me| {
        if new != 0 && new != 1 {
            return EINVAL;
        }
        let thread = scheduler().thread(me);
        if !old.is_null() {
            *old = c_int::from(thread.cancel_async);
        }
        thread.cancel_async = new == 1;
        if new == 1 {
            failure::needs_os_threads(OsReason::AsyncCancel);
            scheduler().escaped(Escape::AsyncCancel);
            act_on_cancel(me);
        }
        0
    }
}
