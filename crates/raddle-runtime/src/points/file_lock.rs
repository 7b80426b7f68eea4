//! Locks on files: flock, lockf, and the record locks of fcntl.
//!
//! The form that does not block is tried until it succeeds.

use core::ffi::c_int;

use libc::off_t;
use raddle_core::{Event, EventKind};

use super::kernel_wait::{conclude, touched, AfterHandler, Attempts, CallResult, Caller, AGAIN};
use crate::dispatch::Request;
use crate::interpose;
use crate::model::descriptor::key;
use crate::scheduler::clock::NEVER;
use crate::syscall;

/// flock(2).
pub(super) unsafe fn lock_file(caller: Caller, fd: c_int, operation: c_int) -> CallResult {
    let event = Event::new(EventKind::Syscall, key(fd));
    // SAFETY: no memory is involved.
    unsafe {
        if operation & (libc::LOCK_NB | libc::LOCK_UN) != 0 {
            caller.point(event.kind, event.object)?;
            touched();
            return Ok(syscall!(libc::SYS_flock, fd, operation));
        }
        let arguments = [fd as usize, (operation | libc::LOCK_NB) as usize, 0, 0, 0, 0];
        let request = Request { number: libc::SYS_flock, arguments };
        let caller = caller.point(event.kind, event.object)?;
        Attempts { request, would_block: AGAIN, deadline: NEVER, after: AfterHandler::Restart }
            .until_done(caller, event)
    }
}

/// fcntl(2) with one of the commands that lock.
pub(super) unsafe fn record_lock(caller: Caller, fd: c_int, command: c_int, lock: usize) -> CallResult {
    let event = Event::new(EventKind::Syscall, key(fd));
    let now = match command {
        libc::F_SETLKW => libc::F_SETLK,
        libc::F_OFD_SETLKW => libc::F_OFD_SETLK,
        _ => {
            caller.point(event.kind, event.object)?;
            touched();
            // SAFETY: the caller's structure.
            return Ok(unsafe { syscall!(libc::SYS_fcntl, fd, command, lock) });
        }
    };
    let arguments = [fd as usize, now as usize, lock, 0, 0, 0];
    // SAFETY: the caller's structure.
    unsafe {
        let request = Request { number: libc::SYS_fcntl, arguments };
        let caller = caller.point(event.kind, event.object)?;
        Attempts { request, would_block: AGAIN, deadline: NEVER, after: AfterHandler::Restart }
            .until_done(caller, event)
    }
}

interpose! {
    fn flock(fd: c_int, operation: c_int) -> c_int |me| {
        conclude!(me, lock_file(Caller::plain(me), fd, operation))
    }

    /// Locks a part of a file from the current position.
    fn lockf(fd: c_int, operation: c_int, size: off_t) -> c_int |me| {
        let mut lock: libc::flock = core::mem::zeroed();
        lock.l_type = if operation == libc::F_ULOCK { libc::F_UNLCK } else { libc::F_WRLCK } as i16;
        lock.l_whence = libc::SEEK_CUR as i16;
        lock.l_len = size;
        let command = if operation == libc::F_LOCK { libc::F_SETLKW } else { libc::F_SETLK };
        match operation {
            libc::F_LOCK | libc::F_TLOCK | libc::F_ULOCK => {
                conclude!(me, record_lock(Caller::function(me), fd, command, &raw mut lock as usize))
            }
            _ => crate::real!(lockf: fn(c_int, c_int, off_t) -> c_int)(fd, operation, size),
        }
    }
}
