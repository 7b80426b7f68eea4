//! sigaction and its relatives, signal masks, sending and waiting for signals.

use core::ffi::{c_int, c_void};

use libc::{timespec, EAGAIN, EINTR, EINVAL, ESRCH};
use raddle_core::{Event, EventKind, ThreadId};

use super::time::{from_now, nanoseconds, valid};
use super::{fail, result};
use crate::control::{point, scheduler, state, wait};
use crate::os::sys;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Life, Polled, Wait, Wake};
use crate::signals::action::KernelAction;
use crate::signals::kernel::{deliver, hook, is_fault, send};
use crate::signals::{alternate, bit, fiber, own_info, Action};
use crate::switch::fibers;
use crate::{interpose, real, syscall};

/// glibc's `struct sigaction`.
#[repr(C)]
pub struct SignalAction {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

const SI_USER: c_int = 0;
const SI_TKILL: c_int = -6;

fn valid_signal(signal: c_int) -> bool {
    // 32 and 33 belong to glibc.
    (1..65).contains(&signal) && signal != 32 && signal != 33
}

/// Changes what happens on a signal; an error number or 0.
unsafe fn change(signal: c_int, new: Option<Action>) -> Result<Action, c_int> {
    if !valid_signal(signal) || (new.is_some() && (signal == libc::SIGKILL || signal == libc::SIGSTOP)) {
        return Err(EINVAL);
    }
    // SAFETY: the caller holds the baton.
    let actions = unsafe { &mut state().signals.actions };
    let old = actions[signal as usize];
    if let Some(mut action) = new {
        // A blocked SIGSYS would kill the process at its next trapped system call.
        action.mask &= !bit(libc::SIGSYS);
        actions[signal as usize] = action;
        if signal != libc::SIGSYS {
            hook(signal, &action);
        }
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
        let before = scheduler().threads[me.index()].signal_mask;
        if !new.is_null() {
            let set = *new & !bit(libc::SIGSYS) & !bit(libc::SIGKILL) & !bit(libc::SIGSTOP);
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

/// Sets the mask of the calling thread and handles what is no longer blocked.
pub(super) unsafe fn set_mask(me: ThreadId, mask: u64) {
    // SAFETY: `me` holds the baton.
    unsafe {
        let mask = mask & !bit(libc::SIGSYS);
        scheduler().thread(me).signal_mask = mask;
        if fibers() {
            fiber::masks_changed();
        } else {
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &mask as *const _, 0, 8);
        }
        // What the kernel held back has just been delivered.
        crate::signals::kernel::take_from_kernel(scheduler());
        if state().signals.waits_for(me, mask) {
            deliver(me);
        }
    }
}

/// Sends a signal to this process (`None`) or to one of its threads.
unsafe fn send_here(me: ThreadId, target: Option<ThreadId>, signal: c_int) -> isize {
    // SAFETY: `me` holds the baton.
    unsafe {
        point(me, EventKind::Kill, signal as usize);
        if signal == 0 {
            return 0;
        }
        if !valid_signal(signal) {
            return -(EINVAL as isize);
        }
        let action = state().signals.actions[signal as usize];
        let receiver = target.or_else(|| crate::signals::eligible(scheduler(), signal));
        let open = receiver.is_some_and(|t| scheduler().threads[t.index()].signal_mask & bit(signal) == 0);
        scheduler().outside_touched = true;
        // A blocked signal to a thread stays with us, because only that thread could take it from the
        // kernel; a blocked one to the process stays with the kernel, for sigwait and descriptors.
        let ours = if open { action.handled() } else { target.is_some() };
        if ours && !(is_fault(signal) && receiver == Some(me)) {
            let code = if target.is_some() { SI_TKILL } else { SI_USER };
            send(target, signal, own_info(signal, code));
        } else {
            let error = match receiver.filter(|_| target.is_some()) {
                Some(t) => syscall!(sys::SYS_tgkill, sys::getpid(), kernel_id(t), signal),
                None => syscall!(sys::SYS_kill, sys::getpid(), signal),
            };
            if error != 0 {
                return error;
            }
            crate::signals::kernel::take_from_kernel(scheduler());
        }
        if state().signals.waits_for(me, scheduler().threads[me.index()].signal_mask) {
            deliver(me);
        }
        0
    }
}

/// kill(2).
pub(super) unsafe fn send_to_process(me: ThreadId, pid: c_int, signal: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        if pid == sys::getpid() {
            return send_here(me, None, signal);
        }
        point(me, EventKind::Kill, signal as usize);
        scheduler().outside_touched = true;
        syscall!(sys::SYS_kill, pid, signal)
    }
}

/// tgkill(2).
pub(super) unsafe fn send_to_thread(me: ThreadId, pid: c_int, tid: c_int, signal: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        let s = scheduler();
        let target = (0..s.created).find(|&i| s.threads[i].life == Life::Alive && s.threads[i].tid == tid);
        match target {
            // abort ends with a fault signal to itself: delivered at once.
            Some(i) if pid == sys::getpid() && !(i == me.index() && is_fault(signal)) => {
                send_here(me, Some(ThreadId(i as u16)), signal)
            }
            Some(i) => syscall!(sys::SYS_tgkill, pid, kernel_id(ThreadId(i as u16)), signal),
            None => syscall!(sys::SYS_tgkill, pid, tid, signal),
        }
    }
}

/// rt_tgsigqueueinfo(2), which is how pthread_sigqueue ends; `None`: it is not for us.
pub(super) unsafe fn queue_to_thread(
    me: ThreadId,
    pid: c_int,
    tid: c_int,
    signal: c_int,
    info: *const libc::siginfo_t,
) -> Option<isize> {
    // SAFETY: the caller's information; `me` holds the baton.
    unsafe {
        let s = scheduler();
        let target = (0..s.created).find(|&i| s.threads[i].life == Life::Alive && s.threads[i].tid == tid)?;
        if pid != sys::getpid() || !valid_signal(signal) {
            return None;
        }
        point(me, EventKind::Kill, signal as usize);
        let action = state().signals.actions[signal as usize];
        let blocked = scheduler().threads[target].signal_mask & bit(signal) != 0;
        if !action.handled() && !blocked {
            return Some(syscall!(libc::SYS_rt_tgsigqueueinfo, pid, kernel_id(ThreadId(target as u16)), signal, info));
        }
        let mut copied = *info;
        copied.si_signo = signal;
        send(Some(ThreadId(target as u16)), signal, copied);
        if state().signals.waits_for(me, scheduler().threads[me.index()].signal_mask) {
            deliver(me);
        }
        Some(0)
    }
}

/// glibc tells of signals to a thread as of any other (sigwaitinfo, sigtimedwait).
unsafe fn as_libc_says(info: *mut libc::siginfo_t) {
    // SAFETY: the caller's pointer, or null.
    if let Some(info) = unsafe { info.as_mut() } {
        if info.si_code == SI_TKILL {
            info.si_code = SI_USER;
        }
    }
}

/// The kernel's id of the OS thread that is or runs a thread.
unsafe fn kernel_id(t: ThreadId) -> c_int {
    if fibers() {
        return sys::gettid();
    }
    // SAFETY: the caller holds the baton.
    unsafe { scheduler().threads[t.index()].tid }
}

/// Waits until a handler has run, under another mask.
unsafe fn suspend(me: ThreadId, mask: Option<u64>) {
    /// Nothing but a signal ends the wait.
    unsafe fn never(_: *mut c_void) -> bool {
        false
    }
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        let before = scheduler().threads[me.index()].signal_mask;
        let handled = scheduler().threads[me.index()].handled;
        if let Some(mask) = mask {
            set_mask(me, mask);
        }
        while scheduler().threads[me.index()].handled == handled {
            let thread = scheduler().thread(me);
            thread.interruptible = true;
            thread.cancellable = true;
            let polled = Polled {
                test: never,
                context: core::ptr::null_mut(),
                descriptors: core::ptr::null_mut(),
                count: 0,
                closed: false,
            };
            let wake = wait(me, Event::new(EventKind::SigWait, 0), Wait::Polled(&raw const polled), NEVER);
            let thread = scheduler().thread(me);
            thread.interruptible = false;
            thread.cancellable = false;
            if wake == Wake::Cancelled {
                break;
            }
        }
        if mask.is_some() {
            set_mask(me, before);
        }
    }
}

/// Takes a pending signal of a set, or waits for one; the kernel's convention.
pub(super) unsafe fn wait_for_signal(
    me: ThreadId,
    set: *const u64,
    info: *mut libc::siginfo_t,
    deadline: u64,
) -> isize {
    struct Ask(u64, libc::siginfo_t, isize, ThreadId);
    unsafe fn test(context: *mut c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let ask = &mut *context.cast::<Ask>();
            if let Some(pending) = state().signals.take_for(ask.3, !ask.0) {
                ask.1 = pending.info;
                ask.2 = pending.signal as isize;
                return true;
            }
            let none = sys::timespec(0);
            ask.2 = syscall!(libc::SYS_rt_sigtimedwait, &ask.0 as *const _, &mut ask.1 as *mut _, &none as *const _, 8);
            ask.2 != -(EAGAIN as isize) && ask.2 != -(EINTR as isize)
        }
    }
    // SAFETY: the caller's pointers; `me` holds the baton whenever it runs.
    unsafe {
        point(me, EventKind::SigWait, 0);
        let mut ask = Ask(*set & !bit(libc::SIGSYS), core::mem::zeroed(), 0, me);
        if !test((&raw mut ask).cast()) {
            let polled = Polled {
                test,
                context: (&raw mut ask).cast(),
                descriptors: core::ptr::null_mut(),
                count: 0,
                closed: false,
            };
            let thread = scheduler().thread(me);
            thread.interruptible = true;
            thread.cancellable = true;
            let wake = wait(me, Event::new(EventKind::SigWait, 0), Wait::Polled(&raw const polled), deadline);
            let thread = scheduler().thread(me);
            thread.interruptible = false;
            thread.cancellable = false;
            match wake {
                Wake::Go => {}
                Wake::TimedOut => return -(EAGAIN as isize),
                Wake::Interrupted | Wake::Cancelled => return -(EINTR as isize),
            }
        }
        if ask.2 > 0 && !info.is_null() {
            *info = ask.1;
        }
        ask.2
    }
}

unsafe fn install_plain(signal: c_int, handler: usize, flags: c_int) -> usize {
    // SAFETY: the caller holds the baton.
    match unsafe { change(signal, Some(Action { handler, flags, mask: 0 })) } {
        Ok(old) => old.handler,
        Err(error) => fail(error) as usize,
    }
}

interpose! {
    /// Sets the action of a signal.
    fn sigaction(signal: c_int, new: *const SignalAction, old: *mut SignalAction) -> c_int |_| {
        let action = new.as_ref().map(|n| Action { handler: n.handler, flags: n.flags, mask: n.mask[0] });
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
        install_plain(signal, handler, libc::SA_RESTART)
    }

    /// Sets the action of a signal, in the BSD way.
    fn bsd_signal(signal: c_int, handler: usize) -> usize |_| {
        install_plain(signal, handler, libc::SA_RESTART)
    }

    /// Sets the action of a signal, in the System V way.
    fn __sysv_signal(signal: c_int, handler: usize) -> usize |_| {
        install_plain(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER)
    }

    fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int |me| {
        -change_mask(me, how, new, old) as c_int
    }

    fn sigprocmask(how: c_int, new: *const u64, old: *mut u64) -> c_int |me| {
        result(change_mask(me, how, new, old)) as c_int
    }

    /// Which signals wait because they are blocked.
    fn sigpending(set: *mut u64) -> c_int |me| {
        let error = syscall!(libc::SYS_rt_sigpending, set, 8);
        if error == 0 {
            *set |= state().signals.waiting_for(me);
        }
        result(error) as c_int
    }

    /// Sends a signal to the calling thread.
    fn raise(signal: c_int) -> c_int |me| {
        result(send_here(me, Some(me), signal)) as c_int
    }

    fn kill(pid: c_int, signal: c_int) -> c_int |me| {
        result(send_to_process(me, pid, signal)) as c_int
    }

    fn pthread_kill(handle: usize, signal: c_int) -> c_int |me| {
        match scheduler().pointers.get(handle) {
            Some(t) if scheduler().threads[t.index()].life == Life::Alive => -send_here(me, Some(t), signal) as c_int,
            Some(_) => if signal == 0 { 0 } else { ESRCH },
            None => real!(pthread_kill: fn(usize, c_int) -> c_int)(handle, signal),
        }
    }

    fn tgkill(pid: c_int, tid: c_int, signal: c_int) -> c_int |me| {
        result(send_to_thread(me, pid, tid, signal)) as c_int
    }

    /// Waits for a signal handler to run, under another mask.
    fn sigsuspend(mask: *const u64) -> c_int |me| {
        suspend(me, Some(*mask));
        super::cancel::act_on_cancel(me);
        fail(EINTR)
    }

    /// Waits for a signal handler to run.
    fn pause() -> c_int |me| {
        suspend(me, None);
        super::cancel::act_on_cancel(me);
        fail(EINTR)
    }

    /// Waits for a signal of a set.
    fn sigwait(set: *const u64, signal: *mut c_int) -> c_int |me| {
        loop {
            match wait_for_signal(me, set, core::ptr::null_mut(), NEVER) {
                n if n == -(EINTR as isize) => super::cancel::act_on_cancel(me),
                n if n < 0 => return -n as c_int,
                n => {
                    *signal = n as c_int;
                    return 0;
                }
            }
        }
    }

    /// Waits for a signal of a set.
    fn sigwaitinfo(set: *const u64, info: *mut libc::siginfo_t) -> c_int |me| {
        let n = wait_for_signal(me, set, info, NEVER);
        if n > 0 {
            as_libc_says(info);
        }
        super::cancel::act_on_cancel(me);
        result(n) as c_int
    }

    fn sigtimedwait(set: *const u64, info: *mut libc::siginfo_t, time: *const timespec) -> c_int |me| {
        if !time.is_null() && !valid(time) {
            return fail(EINVAL);
        }
        let deadline = if time.is_null() { NEVER } else { from_now(nanoseconds(time)) };
        let n = wait_for_signal(me, set, info, deadline);
        if n > 0 {
            as_libc_says(info);
        }
        super::cancel::act_on_cancel(me);
        result(n) as c_int
    }

    fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int |me| {
        let here = 0u8;
        result(-alternate::change(me, &raw const here as usize, new, old) as isize) as c_int
    }
}
