//! wait, waitpid, wait3, wait4 and waitid: children run outside control, so one that has not ended
//! yet is waited for from outside.

use core::ffi::{c_int, c_void};

use libc::{id_t, idtype_t, pid_t, siginfo_t};
use raddle_core::{Event, EventKind};

use super::kernel_wait::{conclude, AfterHandler, CallResult, Caller, INTERRUPTED};
use crate::control;
use crate::interpose;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::syscall;

/// Which children are waited for, as waitid(2) has it.
struct Children {
    which: idtype_t,
    id: id_t,
    options: c_int,
    /// Points of the run at the last poll, and polls so far.
    points: u64,
    looks: u32,
}

/// Polls after which the kernel is asked although other threads can run.
const PATIENCE: u32 = 1000;

impl Children {
    fn new(which: idtype_t, id: id_t, options: c_int) -> Children {
        Children { which, id, options, points: 0, looks: 0 }
    }

    /// Whether the call can return; also because there is no such child.
    fn child_changed(&self) -> bool {
        let options = self.options | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the kernel fills the structure.
        unsafe {
            let mut info: siginfo_t = core::mem::zeroed();
            let error = syscall!(libc::SYS_waitid, self.which, self.id, &mut info as *mut _, options, 0);
            error != 0 || info.si_pid() != 0
        }
    }

    /// No policy decides when a child ends, so its end is seen only when no thread can run: when no
    /// point has passed since the last poll. So most runs repeat.
    fn may_be_asked(&mut self) -> bool {
        let points = control::block().map_or(0, |block| block.results.points);
        let quiet = core::mem::replace(&mut self.points, points) == points;
        self.looks += 1;
        quiet || self.looks.is_multiple_of(PATIENCE)
    }

    /// Makes the call, in its form that does not block, until a child has changed.
    fn wait(mut self, caller: Caller, patient: bool, mut attempt: impl FnMut() -> Option<isize>) -> CallResult {
        let event = Event::new(EventKind::WaitChild, self.id as usize);
        let caller = caller.point(event.kind, event.object)?;
        if !patient {
            let result = attempt();
            if result.is_none() {
                caller.made_no_progress();
            }
            return Ok(result.unwrap_or(0));
        }
        if !self.exist() {
            return Ok(attempt().unwrap_or(0));
        }
        loop {
            let polled = Polled {
                test: child_changed,
                context: (&raw mut self).cast(),
                descriptors: core::ptr::null_mut(),
                count: 0,
                closed: false,
            };
            if caller.wait(event, Wait::Polled(&raw const polled), NEVER, AfterHandler::Restart)? == Wake::Interrupted {
                return Ok(INTERRUPTED);
            }
            if let Some(result) = attempt() {
                return Ok(result);
            }
        }
    }

    /// Whether there are such children at all.
    fn exist(&self) -> bool {
        let options = self.options | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: no memory is involved.
        unsafe { syscall!(libc::SYS_waitid, self.which, self.id, 0, options, 0) == 0 }
    }
}

unsafe fn child_changed(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait.
    let children = unsafe { &mut *context.cast::<Children>() };
    children.may_be_asked() && children.child_changed()
}

/// wait4(2).
pub(super) unsafe fn wait_for_pid(
    caller: Caller,
    pid: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: usize,
) -> CallResult {
    let (which, id) = match pid {
        -1 => (libc::P_ALL, 0),
        0 => (libc::P_PGID, 0),
        _ if pid < 0 => (libc::P_PGID, pid.unsigned_abs()),
        _ => (libc::P_PID, pid as id_t),
    };
    let patient = options & libc::WNOHANG == 0;
    Children::new(which, id, options | libc::WEXITED).wait(caller, patient, || {
        // SAFETY: the caller's pointers.
        let result = unsafe { syscall!(libc::SYS_wait4, pid, status, options | libc::WNOHANG, usage) };
        (result != 0).then_some(result)
    })
}

/// waitid(2).
pub(super) unsafe fn wait_for_id(
    caller: Caller,
    which: idtype_t,
    id: id_t,
    info: *mut siginfo_t,
    options: c_int,
    usage: usize,
) -> CallResult {
    let patient = options & libc::WNOHANG == 0;
    Children::new(which, id, options).wait(caller, patient, || {
        // SAFETY: the caller's pointers; the kernel fills the structure, with zeros when no child has changed.
        unsafe {
            let mut own: siginfo_t = core::mem::zeroed();
            let result = syscall!(libc::SYS_waitid, which, id, &mut own as *mut _, options | libc::WNOHANG, usage);
            let changed = result != 0 || own.si_pid() != 0;
            if result == 0 && !info.is_null() && (changed || !patient) {
                *info = own;
            }
            changed.then_some(result)
        }
    })
}

interpose! {
    fn wait(status: *mut c_int) -> pid_t |me| {
        conclude!(me, wait_for_pid(Caller::function(me), -1, status, 0, 0))
    }

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

    fn waitid(which: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int |me| {
        conclude!(me, wait_for_id(Caller::function(me), which, id, info, options, 0))
    }
}
