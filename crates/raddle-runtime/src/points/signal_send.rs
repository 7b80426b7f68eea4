//! Sending signals: kill, raise, pthread_kill, sigqueue.

use core::ffi::{c_int, c_void};

use libc::{siginfo_t, EAGAIN, EINVAL};
use raddle_core::{EventKind, ThreadId};

use super::result;
use super::signal::{handle_pending, mask_of, valid_signal};
use crate::control::{point, scheduler, state};
use crate::os::sys;
use crate::scheduler::thread::Life;
use crate::signals::kernel::{act_by_default, send, take_from_kernel};
use crate::signals::{bit, eligible, is_reserved, own_info, SI_TKILL, SI_USER};
use crate::switch::fibers;
use crate::{interpose, real, syscall};

/// What is sent to this process, or to one of its threads.
struct Sent {
    /// `None`: the process.
    target: Option<ThreadId>,
    signal: c_int,
    info: siginfo_t,
    /// With what the sender says: sigqueue.
    queued: bool,
}

impl Sent {
    fn plain(target: Option<ThreadId>, signal: c_int) -> Sent {
        let info = own_info(signal, if target.is_some() { SI_TKILL } else { SI_USER });
        Sent { target, signal, info, queued: false }
    }

    /// Sends it; handlers of the caller's run before this returns.
    unsafe fn send(self, me: ThreadId) -> isize {
        point(me, EventKind::Kill, self.signal as usize);
        // SAFETY: as for this function.
        unsafe { self.send_at_once(me) }
    }

    /// The same without a schedule point.
    unsafe fn send_at_once(self, me: ThreadId) -> isize {
        if self.signal == 0 {
            return 0;
        }
        // libc's own signals are the kernel's to deliver.
        if !valid_signal(self.signal) && !(1..65).contains(&self.signal) {
            return -(EINVAL as isize);
        }
        // SAFETY: `me` holds the baton.
        let it = unsafe { state() };
        it.scheduler.outside_touched = true;
        let signal = self.signal;
        let handled = it.signals.actions[signal as usize].handled();
        let receiver = self.target.or_else(|| eligible(&it.scheduler, signal));
        let open = receiver.is_some_and(|t| mask_of(t) & bit(signal) == 0);
        // A blocked signal to a thread stays with us, because only that thread could take it from the kernel; a blocked
        // one to the process stays with the kernel, for sigwait and descriptors.
        let ours = if open { handled } else { self.target.is_some() || is_reserved(signal) };
        let result = if ours {
            let room = send(self.target, signal, self.info);
            if room {
                0
            } else {
                -(EAGAIN as isize)
            }
        } else if is_reserved(signal) {
            let ends = it.signals.actions[signal as usize].handler == libc::SIG_DFL;
            if ends {
                act_by_default(signal, self.info);
            }
            0
        } else {
            // SAFETY: as above.
            unsafe { self.send_by_kernel(receiver) }
        };
        handle_pending(me);
        result
    }

    /// Lets the kernel do what becomes of it.
    unsafe fn send_by_kernel(&self, receiver: Option<ThreadId>) -> isize {
        let (us, signal, info) = (sys::getpid(), self.signal, &raw const self.info);
        let thread = receiver.filter(|_| self.target.is_some());
        // SAFETY: signals to this process; the caller holds the baton.
        unsafe {
            let error = match (thread, self.queued) {
                (Some(t), false) => syscall!(sys::SYS_tgkill, us, kernel_id(t), signal),
                (Some(t), true) => syscall!(libc::SYS_rt_tgsigqueueinfo, us, kernel_id(t), signal, info),
                (None, false) => syscall!(sys::SYS_kill, us, signal),
                (None, true) => syscall!(libc::SYS_rt_sigqueueinfo, us, signal, info),
            };
            take_from_kernel(scheduler());
            error
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

/// The living thread with this id.
pub(super) unsafe fn thread_with(tid: c_int) -> Option<ThreadId> {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let found = |i: &usize| s.threads[*i].life == Life::Alive && s.threads[*i].tid == tid;
    (0..s.created).find(found).map(|i| ThreadId(i as u16))
}

/// A call that signals others, and perhaps this process among them: its own handlers run before it returns.
unsafe fn pass_on(me: ThreadId, signal: c_int, call: impl FnOnce() -> isize) -> isize {
    point(me, EventKind::Kill, signal as usize);
    // SAFETY: `me` holds the baton.
    unsafe {
        scheduler().outside_touched = true;
        let result = call();
        take_from_kernel(scheduler());
        handle_pending(me);
        result
    }
}

/// kill(2).
pub(super) unsafe fn send_to_process(me: ThreadId, pid: c_int, signal: c_int) -> isize {
    // SAFETY: the program's own signal; `me` holds the baton.
    unsafe {
        if pid == sys::getpid() {
            return Sent::plain(None, signal).send(me);
        }
        pass_on(me, signal, || syscall!(sys::SYS_kill, pid, signal))
    }
}

/// tgkill(2).
pub(super) unsafe fn send_to_thread(me: ThreadId, pid: c_int, tid: c_int, signal: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        match thread_with(tid) {
            Some(target) if pid == sys::getpid() => Sent::plain(Some(target), signal).send(me),
            _ => pass_on(me, signal, || syscall!(sys::SYS_tgkill, pid, tid, signal)),
        }
    }
}

/// tkill(2).
pub(super) unsafe fn send_to_any_thread(me: ThreadId, tid: c_int, signal: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        match thread_with(tid) {
            Some(target) => Sent::plain(Some(target), signal).send(me),
            None => pass_on(me, signal, || syscall!(libc::SYS_tkill, tid, signal)),
        }
    }
}

/// rt_sigqueueinfo(2), which is how sigqueue ends.
pub(super) unsafe fn queue_to_process(me: ThreadId, pid: c_int, signal: c_int, info: *const siginfo_t) -> isize {
    // SAFETY: the caller's information; the rest as above.
    unsafe {
        if pid != sys::getpid() {
            return pass_on(me, signal, || syscall!(libc::SYS_rt_sigqueueinfo, pid, signal, info));
        }
        Sent { target: None, signal, info: with_number(info, signal), queued: true }.send(me)
    }
}

/// rt_tgsigqueueinfo(2), which is how pthread_sigqueue ends.
pub(super) unsafe fn queue_to_thread(
    me: ThreadId,
    pid: c_int,
    tid: c_int,
    signal: c_int,
    info: *const siginfo_t,
) -> isize {
    // SAFETY: as above.
    unsafe {
        match thread_with(tid).filter(|_| pid == sys::getpid()) {
            Some(target) => {
                Sent { target: Some(target), signal, info: with_number(info, signal), queued: true }.send(me)
            }
            None => pass_on(me, signal, || syscall!(libc::SYS_rt_tgsigqueueinfo, pid, tid, signal, info)),
        }
    }
}

/// What the receiver of a signal with a value is told.
unsafe fn info_with_value(signal: c_int, code: c_int, value: usize) -> siginfo_t {
    /// Where the value is, in words of eight bytes: behind the process and the user.
    const VALUE: usize = 3;
    let mut info = own_info(signal, code);
    // SAFETY: inside the structure, which holds plain numbers.
    unsafe { (&raw mut info).cast::<usize>().add(VALUE).write(value) };
    info
}

/// Sends a signal with a code and a value to this process, without a schedule point.
pub(super) unsafe fn queue_at_once(me: ThreadId, signal: c_int, code: c_int, value: usize) -> isize {
    // SAFETY: the caller holds the baton.
    unsafe { Sent { target: None, signal, info: info_with_value(signal, code, value), queued: true }.send_at_once(me) }
}

unsafe fn with_number(info: *const siginfo_t, signal: c_int) -> siginfo_t {
    // SAFETY: the caller's information.
    let mut copied = unsafe { *info };
    copied.si_signo = signal;
    copied
}

interpose! {
    /// Sends a signal to the calling thread.
    fn raise(signal: c_int) -> c_int |me| {
        result(Sent::plain(Some(me), signal).send(me)) as c_int
    }

    fn kill(pid: c_int, signal: c_int) -> c_int |me| {
        result(send_to_process(me, pid, signal)) as c_int
    }

    /// Sends a signal to a group of processes.
    fn killpg(group: c_int, signal: c_int) -> c_int |me| {
        if group < 0 {
            return super::fail(EINVAL);
        }
        result(send_to_process(me, -group, signal)) as c_int
    }

    fn pthread_kill(handle: usize, signal: c_int) -> c_int |me| {
        // libc keeps its own signals to itself.
        if (1..65).contains(&signal) && !valid_signal(signal) {
            return EINVAL;
        }
        match scheduler().pointers.get(handle) {
            Some(t) if scheduler().threads[t.index()].life == Life::Alive => {
                -Sent::plain(Some(t), signal).send(me) as c_int
            }
            // It has ended and is not joined: there is nothing to do, whatever the signal.
            Some(_) => 0,
            None => real!(pthread_kill: fn(usize, c_int) -> c_int)(handle, signal),
        }
    }

    fn tgkill(pid: c_int, tid: c_int, signal: c_int) -> c_int |me| {
        result(send_to_thread(me, pid, tid, signal)) as c_int
    }

    /// Sends a signal with a value.
    fn sigqueue(pid: c_int, signal: c_int, value: *mut c_void) -> c_int |me| {
        let info = info_with_value(signal, libc::SI_QUEUE, value as usize);
        result(queue_to_process(me, pid, signal, &info)) as c_int
    }
}
