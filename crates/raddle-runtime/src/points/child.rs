//! wait, waitpid, wait3, wait4 and waitid: children run outside control, so one that has not ended
//! yet is waited for from outside.

use core::ffi::{c_int, c_void};

use libc::{id_t, idtype_t, pid_t, siginfo_t};
use raddle_core::{Event, EventKind};

use super::outside::{conclude, Caller, Outcome, INTERRUPTED};
use crate::control::scheduler;
use crate::interpose;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::syscall;

/// Which children are waited for, as waitid(2) has it.
struct Children {
    which: idtype_t,
    id: id_t,
    options: c_int,
}

unsafe fn has_news(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait; the kernel fills the structure.
    unsafe {
        let children = &*context.cast::<Children>();
        let mut info: siginfo_t = core::mem::zeroed();
        let options = children.options | libc::WNOHANG | libc::WNOWAIT;
        let error = syscall!(libc::SYS_waitid, children.which, children.id, &mut info as *mut _, options, 0);
        // Also when there is no such child any more: the call says so.
        error != 0 || info.si_pid() != 0
    }
}

impl Children {
    /// Makes the call, in its form that does not block, until it has news.
    fn wait(mut self, caller: Caller, patient: bool, mut attempt: impl FnMut() -> Option<isize>) -> Outcome {
        let event = Event::new(EventKind::WaitChild, self.id as usize);
        caller.point(event.kind, event.object)?;
        loop {
            if let Some(result) = attempt() {
                return Ok(result);
            }
            if !patient {
                // SAFETY: the caller holds the baton.
                unsafe { scheduler() }.made_no_progress(caller.me);
                return Ok(0);
            }
            let polled = Polled {
                test: has_news,
                context: (&raw mut self).cast(),
                descriptors: core::ptr::null_mut(),
                count: 0,
                closed: false,
            };
            if caller.wait(event, Wait::Polled(polled), NEVER)? == Wake::Interrupted {
                return Ok(INTERRUPTED);
            }
        }
    }
}

/// wait4(2).
pub(super) unsafe fn wait_for_pid(caller: Caller, pid: pid_t, status: *mut c_int, options: c_int, usage: usize) -> Outcome {
    let (which, id) = match pid {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        _ if pid < 0 => (libc::P_PGID, pid.unsigned_abs()),
        _ => (libc::P_PID, pid as id_t),
    };
    let patient = options & libc::WNOHANG == 0;
    Children { which, id, options: options | libc::WEXITED }.wait(caller, patient, || {
        // SAFETY: the caller's pointers.
        let result = unsafe { syscall!(libc::SYS_wait4, pid, status, options | libc::WNOHANG, usage) };
        (result != 0).then_some(result)
    })
}

/// waitid(2).
pub(super) unsafe fn wait_for_id(caller: Caller, which: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int, usage: usize) -> Outcome {
    let patient = options & libc::WNOHANG == 0;
    Children { which, id, options }.wait(caller, patient, || {
        // SAFETY: the caller's pointers; the kernel fills the structure, with zeros when there is no news.
        unsafe {
            let mut own: siginfo_t = core::mem::zeroed();
            let result = syscall!(libc::SYS_waitid, which, id, &mut own as *mut _, options | libc::WNOHANG, usage);
            let news = result != 0 || own.si_pid() != 0;
            if result == 0 && !info.is_null() && (news || !patient) {
                *info = own;
            }
            news.then_some(result)
        }
    })
}

interpose! {
    /// Waits for a child.
    fn wait(status: *mut c_int) -> pid_t |me| {
        conclude!(me, wait_for_pid(Caller::function(me), -1, status, 0, 0))
    }

    /// Waits for a child.
    fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t |me| {
        conclude!(me, wait_for_pid(Caller::function(me), pid, status, options, 0))
    }

    /// Waits for a child and asks what it used.
    fn wait3(status: *mut c_int, options: c_int, usage: usize) -> pid_t |me| {
        conclude!(me, wait_for_pid(Caller::function(me), -1, status, options, usage))
    }

    /// Waits for a child and asks what it used.
    fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: usize) -> pid_t |me| {
        conclude!(me, wait_for_pid(Caller::function(me), pid, status, options, usage))
    }

    /// Waits for a child.
    fn waitid(which: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int |me| {
        conclude!(me, wait_for_id(Caller::function(me), which, id, info, options, 0))
    }
}
