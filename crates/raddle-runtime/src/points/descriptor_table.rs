//! Making, copying and closing descriptors: pipe, eventfd, dup, fcntl, close.
//!
//! Pipes, socket pairs and event counters count as closed: only this process can feed them, as
//! long as it has no children (`scheduler.open_world`).

use core::ffi::{c_int, c_uint};

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::OsReason;

use super::descriptor::{read_one, write_one};
use super::file_lock;
use super::kernel_wait::{conclude, keep_for_waiters, touched, CallResult, Caller};
use crate::control::state;
use crate::model::descriptor::key;
use crate::{interpose, real, syscall};

/// The object of events that make new descriptors: they compete for the lowest free number.
pub(super) const TABLE: usize = 0x0fff_ffff;

/// pipe2(2).
pub(super) unsafe fn make_pipe(caller: Caller, ends: *mut c_int, flags: c_int) -> CallResult {
    caller.point(EventKind::Syscall, TABLE)?;
    // SAFETY: the caller's array; the baton.
    unsafe {
        let result = syscall!(libc::SYS_pipe2, ends, flags);
        if result == 0 {
            note_pair(ends);
        }
        Ok(result)
    }
}

/// Both ends are in this process.
pub(super) unsafe fn note_pair(ends: *const c_int) {
    // SAFETY: the caller's array; the baton.
    unsafe {
        state().closed_descriptors.set(*ends, true);
        state().closed_descriptors.set(*ends.add(1), true);
    }
}

/// eventfd2(2).
pub(super) unsafe fn make_eventfd(caller: Caller, count: c_uint, flags: c_int) -> CallResult {
    caller.point(EventKind::Syscall, TABLE)?;
    // SAFETY: no memory is involved; the baton.
    unsafe {
        let fd = syscall!(libc::SYS_eventfd2, count, flags);
        state().closed_descriptors.set(fd as c_int, true);
        Ok(fd)
    }
}

/// close(2).
pub(super) unsafe fn close_one(caller: Caller, fd: c_int) -> CallResult {
    caller.point(EventKind::Syscall, key(fd))?;
    keep_for_waiters(fd);
    touched();
    // SAFETY: the program's own descriptor; the baton.
    unsafe {
        state().closed_descriptors.set(fd, false);
        Ok(syscall!(libc::SYS_close, fd))
    }
}

/// close_range(2).
pub(super) unsafe fn close_many(caller: Caller, first: c_uint, last: c_uint, flags: c_int) -> CallResult {
    caller.point(EventKind::Syscall, TABLE)?;
    touched();
    // SAFETY: the program's own descriptors; the baton.
    unsafe {
        let result = syscall!(libc::SYS_close_range, first, last, flags);
        if result == 0 && flags as c_uint & libc::CLOSE_RANGE_CLOEXEC == 0 {
            state().closed_descriptors.forget(first, last);
        }
        Ok(result)
    }
}

/// dup(2), and fcntl's ways to do the same.
pub(super) unsafe fn copy(caller: Caller, fd: c_int, call: impl FnOnce() -> isize) -> CallResult {
    caller.point(EventKind::Syscall, key(fd))?;
    let new = call();
    // SAFETY: the baton.
    unsafe { state() }.closed_descriptors.copy(fd, new as c_int);
    Ok(new)
}

/// dup2(2) and dup3(2): what `new` stood for is closed.
pub(super) unsafe fn copy_over(caller: Caller, fd: c_int, new: c_int, call: impl FnOnce() -> isize) -> CallResult {
    caller.point(EventKind::Syscall, key(new))?;
    if fd != new {
        keep_for_waiters(new);
    }
    touched();
    let result = call();
    if result >= 0 {
        // SAFETY: the baton.
        unsafe { state() }.closed_descriptors.copy(fd, new);
    }
    Ok(result)
}

/// fcntl(2).
pub(super) unsafe fn control(caller: Caller, fd: c_int, command: c_int, argument: usize) -> CallResult {
    const F_SETOWN_EX: c_int = 15;
    // SAFETY: the caller's arguments.
    let now = || unsafe { syscall!(libc::SYS_fcntl, fd, command, argument) };
    match command {
        // SAFETY: as above.
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => unsafe { copy(caller, fd, now) },
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => unsafe {
            file_lock::record_lock(caller, fd, command, argument)
        },
        libc::F_SETFL => {
            caller.point(EventKind::Syscall, key(fd))?;
            Ok(now())
        }
        F_SETOWN_EX | libc::F_SETOWN => {
            // Signals for one OS thread.
            if command == F_SETOWN_EX {
                crate::process::failure::needs_os_threads(OsReason::ThreadState);
            }
            // A signal may come whenever the descriptor is ready.
            // SAFETY: the caller holds the baton.
            unsafe { state() }.signals.kernel_timer = true;
            Ok(now())
        }
        // No other thread can observe the rest.
        _ => Ok(now()),
    }
}

/// How libc's function calls it: only waiting for a lock is a cancellation point.
fn fcntl_caller(me: ThreadId, command: c_int) -> Caller {
    match command {
        libc::F_SETLKW | libc::F_OFD_SETLKW => Caller::function(me),
        _ => Caller::plain(me),
    }
}

interpose! {
    fn pipe(ends: *mut c_int) -> c_int |me| {
        conclude!(me, make_pipe(Caller::plain(me), ends, 0))
    }

    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int |me| {
        conclude!(me, make_pipe(Caller::plain(me), ends, flags))
    }

    fn eventfd(count: c_uint, flags: c_int) -> c_int |me| {
        conclude!(me, make_eventfd(Caller::plain(me), count, flags))
    }

    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int |me| {
        let read: isize = conclude!(me, read_one(Caller::function(me), fd, value as usize, 8));
        if read == 8 { 0 } else { -1 }
    }

    fn eventfd_write(fd: c_int, value: u64) -> c_int |me| {
        let written: isize = conclude!(me, write_one(Caller::function(me), fd, &raw const value as usize, 8));
        if written == 8 { 0 } else { -1 }
    }

    fn close(fd: c_int) -> c_int |me| {
        conclude!(me, close_one(Caller::function(me), fd))
    }

    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int |me| {
        conclude!(me, close_many(Caller::plain(me), first, last, flags))
    }

    fn dup(fd: c_int) -> c_int |me| {
        conclude!(me, copy(Caller::plain(me), fd, || syscall!(libc::SYS_dup, fd)))
    }

    fn dup2(fd: c_int, new: c_int) -> c_int |me| {
        conclude!(me, copy_over(Caller::plain(me), fd, new, || syscall!(libc::SYS_dup2, fd, new)))
    }

    fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int |me| {
        conclude!(me, copy_over(Caller::plain(me), fd, new, || syscall!(libc::SYS_dup3, fd, new, flags)))
    }

    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int |me| {
        if command == libc::F_GETOWN {
            // libc asks in another way, because a group's number looks like an error.
            return real!(fcntl: fn(c_int, c_int, usize) -> c_int)(fd, command, argument);
        }
        conclude!(me, control(fcntl_caller(me, command), fd, command, argument))
    }

    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int |me| {
        if command == libc::F_GETOWN {
            // libc asks in another way, because a group's number looks like an error.
            return real!(fcntl64: fn(c_int, c_int, usize) -> c_int)(fd, command, argument);
        }
        conclude!(me, control(fcntl_caller(me, command), fd, command, argument))
    }
}
