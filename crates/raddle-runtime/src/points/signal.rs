//! sigaction and its relatives, and signal masks.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use libc::EINVAL;
use raddle_core::ThreadId;

use super::{fail, result};
use crate::control::{scheduler, state};
use crate::points::real_address;
use crate::signals::action::{KernelAction, SA_RESTORER};
use crate::signals::deliver::{self, deliver};
use crate::signals::kernel::hook;
use crate::signals::{alternate, bit, Action, LIBCS, UNBLOCKABLE};
use crate::{interpose, real, syscall};

/// glibc's `struct sigaction`.
#[repr(C)]
pub struct SignalAction {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// The flags that the kernel knows; it forgets all others.
const KNOWN_FLAGS: c_int = libc::SA_NOCLDSTOP
    | libc::SA_NOCLDWAIT
    | libc::SA_SIGINFO
    | libc::SA_ONSTACK
    | libc::SA_RESTART
    | libc::SA_NODEFER
    | libc::SA_RESETHAND
    | 0x800
    | SA_RESTORER as c_int;

/// Signals whose handlers, when signal(3) installs them, let calls fail with EINTR: siginterrupt(3).
static INTERRUPTING: AtomicU64 = AtomicU64::new(0);

pub(super) fn valid_signal(signal: c_int) -> bool {
    (1..65).contains(&signal) && LIBCS & bit(signal) == 0
}

/// Changes what happens on a signal; an error number or 0.
unsafe fn change(signal: c_int, new: Option<Action>) -> Result<Action, c_int> {
    if !valid_signal(signal) || (new.is_some() && UNBLOCKABLE & bit(signal) != 0) {
        return Err(EINVAL);
    }
    // SAFETY: the caller holds the baton.
    let signals = unsafe { &mut state().signals };
    let old = signals.actions[signal as usize];
    if let Some(mut action) = new {
        action.mask &= !UNBLOCKABLE;
        action.flags &= KNOWN_FLAGS;
        signals.actions[signal as usize] = action;
        if action.ignores(signal) {
            signals.queue.discard(bit(signal));
        }
        hook(signal, &action);
    }
    Ok(old)
}

/// rt_sigaction(2), made past the interposed functions.
pub(super) unsafe fn kernel_action(signal: c_int, new: *const KernelAction, old: *mut KernelAction) -> isize {
    // SAFETY: the caller's pointers.
    unsafe {
        let action = new.as_ref().map(|n| Action { handler: n.handler, flags: n.flags as c_int, mask: n.mask });
        match change(signal, action) {
            Err(error) => -(error as isize),
            Ok(before) => {
                if !old.is_null() {
                    *old = KernelAction {
                        handler: before.handler,
                        flags: before.flags as u32 as u64,
                        restorer: 0,
                        mask: before.mask,
                    };
                }
                0
            }
        }
    }
}

/// rt_sigprocmask(2) for the calling thread; the kernel's convention.
pub(super) unsafe fn change_mask(me: ThreadId, how: c_int, new: *const u64, old: *mut u64) -> isize {
    // SAFETY: the caller's pointers; `me` holds the baton.
    unsafe {
        let before = mask_of(me);
        if !new.is_null() {
            let set = *new & !UNBLOCKABLE;
            let after = match how {
                libc::SIG_BLOCK => before | set,
                libc::SIG_UNBLOCK => before & !set,
                libc::SIG_SETMASK => set,
                _ => return -(EINVAL as isize),
            };
            set_mask(me, after);
        }
        if !old.is_null() {
            *old = before;
        }
        0
    }
}

/// The mask of a thread.
pub(super) fn mask_of(t: ThreadId) -> u64 {
    // SAFETY: the caller holds the baton.
    unsafe { scheduler() }.threads[t.index()].signal_mask
}

/// The mask that the attributes of a new thread ask for (pthread_attr_setsigmask_np).
pub(super) unsafe fn mask_in(attributes: *const c_void) -> Option<u64> {
    if attributes.is_null() || real_address!(pthread_attr_getsigmask_np) == 0 {
        return None;
    }
    let mut set = [0u64; 16];
    // SAFETY: the caller's attributes; libc writes its set.
    let found = unsafe {
        real!(pthread_attr_getsigmask_np: fn(*const c_void, *mut u64) -> c_int)(attributes, set.as_mut_ptr()) == 0
    };
    found.then_some(set[0] & !UNBLOCKABLE & !LIBCS)
}

/// Sets the mask of the calling thread and handles what is no longer blocked.
pub(super) unsafe fn set_mask(me: ThreadId, mask: u64) {
    deliver::change_mask(me, mask);
    handle_pending(me);
}

/// Runs the handlers of what waits for the calling thread and is not blocked.
pub(super) fn handle_pending(me: ThreadId) {
    // SAFETY: the caller holds the baton.
    if unsafe { state() }.signals.queue.waits_for(me, mask_of(me)) {
        deliver(me);
    }
}

/// A mask of a call's own, for as long as the call lasts or until a handler runs, which gets the mask from before.
pub(super) struct Masked {
    me: ThreadId,
}

impl Masked {
    /// Sets it.
    pub unsafe fn set(me: ThreadId, mask: u64) -> Masked {
        // SAFETY: the caller holds the baton.
        unsafe {
            let thread = scheduler().thread(me);
            thread.mask_after_call = thread.signal_mask;
            thread.in_masked_call = true;
        }
        deliver::change_mask(me, mask);
        Masked { me }
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        // SAFETY: the caller holds the baton.
        unsafe {
            let thread = scheduler().thread(self.me);
            if core::mem::take(&mut thread.in_masked_call) {
                let before = thread.mask_after_call;
                set_mask(self.me, before);
            }
        }
    }
}

/// sigpending(2).
pub(super) unsafe fn pending(me: ThreadId, set: *mut u64) -> isize {
    let mut held_back = 0u64;
    // SAFETY: the kernel writes one set; the caller's pointer and the baton.
    unsafe {
        syscall!(libc::SYS_rt_sigpending, &mut held_back as *mut _, 8);
        // libc's own signals are not for the program.
        *set = (held_back & !LIBCS | state().signals.queue.waiting_for(me)) & mask_of(me);
    }
    0
}

unsafe fn install_plain(signal: c_int, handler: usize, flags: c_int, mask: u64) -> usize {
    const SIG_ERR: usize = usize::MAX;
    if handler == SIG_ERR {
        return fail(EINVAL) as usize;
    }
    // SAFETY: the caller holds the baton.
    match unsafe { change(signal, Some(Action { handler, flags: flags | SA_RESTORER as c_int, mask })) } {
        Ok(old) => old.handler,
        Err(error) => fail(error) as usize,
    }
}

/// signal(3), in the BSD way.
unsafe fn install_bsd(signal: c_int, handler: usize) -> usize {
    if !valid_signal(signal) {
        return fail(EINVAL) as usize;
    }
    let interrupts = INTERRUPTING.load(Ordering::Relaxed) & bit(signal) != 0;
    // SAFETY: the caller holds the baton.
    unsafe { install_plain(signal, handler, if interrupts { 0 } else { libc::SA_RESTART }, bit(signal)) }
}

interpose! {
    /// Sets the action of a signal.
    fn sigaction(signal: c_int, new: *const SignalAction, old: *mut SignalAction) -> c_int |_| {
        let action = new.as_ref().map(|n| {
            Action { handler: n.handler, flags: n.flags | SA_RESTORER as c_int, mask: n.mask[0] }
        });
        match change(signal, action) {
            Err(error) => fail(error),
            Ok(before) => {
                if !old.is_null() {
                    (*old).handler = before.handler;
                    (*old).flags = before.flags;
                    (*old).mask = [0; 16];
                    (*old).mask[0] = before.mask;
                    (*old).restorer = 0;
                }
                0
            }
        }
    }

    /// Sets the action of a signal, in the BSD way.
    fn signal(signal: c_int, handler: usize) -> usize |_| {
        install_bsd(signal, handler)
    }

    /// Sets the action of a signal, in the BSD way.
    fn bsd_signal(signal: c_int, handler: usize) -> usize |_| {
        install_bsd(signal, handler)
    }

    /// Sets the action of a signal, in the System V way.
    fn __sysv_signal(signal: c_int, handler: usize) -> usize |_| {
        install_plain(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, 0)
    }

    /// Whether a signal ends the calls that wait; also for what signal(3) installs from now on.
    fn siginterrupt(signal: c_int, on: c_int) -> c_int |_| {
        let Ok(mut action) = change(signal, None) else { return fail(EINVAL) };
        if on != 0 {
            INTERRUPTING.fetch_or(bit(signal), Ordering::Relaxed);
            action.flags &= !libc::SA_RESTART;
        } else {
            INTERRUPTING.fetch_and(!bit(signal), Ordering::Relaxed);
            action.flags |= libc::SA_RESTART;
        }
        action.flags |= SA_RESTORER as c_int;
        change(signal, Some(action)).map_or_else(fail, |_| 0)
    }

    fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int |me| {
        -change_mask(me, how, new, old) as c_int
    }

    fn sigprocmask(how: c_int, new: *const u64, old: *mut u64) -> c_int |me| {
        result(change_mask(me, how, new, old)) as c_int
    }

    /// Which signals wait because they are blocked.
    fn sigpending(set: *mut u64) -> c_int |me| {
        result(pending(me, set)) as c_int
    }

    fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int |me| {
        let here = 0u8;
        result(-alternate::change(me, &raw const here as usize, new, old) as isize) as c_int
    }
}
