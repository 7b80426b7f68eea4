//! Opening files, and other calls on files by name. Most of the latter are seen where they end, in the
//! trapped system call.
//!
//! Opening a named pipe waits for the other side: the reader's end is opened without blocking and
//! asked whether it has a writer; the writer's end is tried until there is a reader.

use core::ffi::{c_char, c_int, c_void};

use raddle_core::{Event, EventKind};

use super::kernel_wait::{conclude, is_ready, touched, AfterHandler, Attempts, CallResult, Caller, AGAIN, INTERRUPTED};
use crate::dispatch::Request;
use crate::model::descriptor::key;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::{interpose, syscall};

/// The object of events on names.
const NAMES: usize = 0x0fff_fffe;

/// openat(2).
pub(super) unsafe fn open_at(
    caller: Caller,
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: usize,
) -> CallResult {
    let caller = caller.point(EventKind::Syscall, NAMES)?;
    // SAFETY: the caller's path.
    unsafe {
        super::thread_attributes::look_at_path(path as usize);
        let direction = flags & libc::O_ACCMODE;
        let waits = flags & (libc::O_NONBLOCK | libc::O_PATH) == 0 && direction != libc::O_RDWR;
        if !waits || !is_named_pipe(directory, path) {
            return Ok(syscall!(libc::SYS_openat, directory, path, flags, mode));
        }
        if direction == libc::O_WRONLY {
            open_writer(caller, directory, path, flags)
        } else {
            open_reader(caller, directory, path, flags)
        }
    }
}

unsafe fn is_named_pipe(directory: c_int, path: *const c_char) -> bool {
    // SAFETY: the caller's path; the kernel fills the structure.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let error = syscall!(libc::SYS_newfstatat, directory, path, &mut stat as *mut _, 0);
        error == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFIFO
    }
}

unsafe fn open_writer(caller: Caller, directory: c_int, path: *const c_char, flags: c_int) -> CallResult {
    const NOBODY_READS: isize = -(libc::ENXIO as isize);
    let arguments = [directory as usize, path as usize, (flags | libc::O_NONBLOCK) as usize, 0, 0, 0];
    let request = Request { number: libc::SYS_openat, arguments };
    // SAFETY: the program's own system call.
    unsafe {
        let attempts = Attempts { request, would_block: NOBODY_READS, deadline: NEVER, after: AfterHandler::Restart };
        let fd = attempts.until_done(caller, Event::new(EventKind::Syscall, NAMES))?;
        if fd >= 0 {
            syscall!(libc::SYS_fcntl, fd, libc::F_SETFL, flags);
        }
        Ok(fd)
    }
}

unsafe fn open_reader(caller: Caller, directory: c_int, path: *const c_char, flags: c_int) -> CallResult {
    // SAFETY: the caller's path.
    unsafe {
        let fd = syscall!(libc::SYS_openat, directory, path, flags | libc::O_NONBLOCK);
        if fd < 0 {
            return Ok(fd);
        }
        touched();
        let mut number = fd as c_int;
        let context = (&raw mut number).cast();
        let polled =
            Polled { test: somebody_writes, context, descriptors: core::ptr::null_mut(), count: 0, closed: false };
        if !somebody_writes(context) {
            let wake = caller.wait(
                Event::new(EventKind::Syscall, key(number)),
                Wait::Polled(&raw const polled),
                NEVER,
                AfterHandler::Restart,
            );
            if !matches!(wake, Ok(Wake::Go)) {
                syscall!(libc::SYS_close, fd);
                return wake.map(|_| INTERRUPTED);
            }
        }
        syscall!(libc::SYS_fcntl, fd, libc::F_SETFL, flags);
        Ok(fd)
    }
}

/// Whether a named pipe has, or had, a writer: without one, an empty pipe is at its end.
unsafe fn somebody_writes(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait. Nothing is taken: the pipe was just seen to be empty.
    unsafe {
        let fd = *context.cast::<c_int>();
        let mut byte = 0u8;
        is_ready(fd, libc::POLLIN) || syscall!(libc::SYS_read, fd, &mut byte as *mut _, 1) == AGAIN
    }
}

/// A call on names that others can observe.
pub(super) unsafe fn observable(caller: Caller, request: &Request) -> CallResult {
    caller.point(EventKind::Syscall, NAMES)?;
    // SAFETY: the program's own system call.
    Ok(unsafe { request.pass_to_kernel() })
}

interpose! {
    fn open(path: *const c_char, flags: c_int, mode: usize) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), libc::AT_FDCWD, path, flags, mode))
    }

    fn open64(path: *const c_char, flags: c_int, mode: usize) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), libc::AT_FDCWD, path, flags, mode))
    }

    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: usize) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), directory, path, flags, mode))
    }

    fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: usize) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), directory, path, flags, mode))
    }

    fn __open_2(path: *const c_char, flags: c_int) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), libc::AT_FDCWD, path, flags, 0))
    }

    fn __open64_2(path: *const c_char, flags: c_int) -> c_int |me| {
        conclude!(me, open_at(Caller::function(me), libc::AT_FDCWD, path, flags, 0))
    }

    fn creat(path: *const c_char, mode: usize) -> c_int |me| {
        let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
        conclude!(me, open_at(Caller::function(me), libc::AT_FDCWD, path, flags, mode))
    }
}
