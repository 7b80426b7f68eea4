//! epoll: a set of descriptors is itself a descriptor, which is ready when one of them is.

use core::ffi::c_int;

use libc::{timespec, EINVAL};
use raddle_core::EventKind;

use super::descriptor_table::TABLE;
use super::kernel_wait::{conclude, touched, AfterHandler, CallResult, Caller, Watched};
use super::poll::{duration, milliseconds, until_ready};
use crate::control::state;
use crate::model::descriptor::key;
use crate::{interpose, syscall};

/// epoll_pwait(2).
pub(super) unsafe fn epoll_until(
    caller: Caller,
    fd: c_int,
    events: usize,
    most: c_int,
    deadline: u64,
    mask: *const u64,
) -> CallResult {
    let mut watched = Watched::new(fd, libc::POLLIN);
    // SAFETY: the caller's array and mask.
    unsafe {
        until_ready(
            caller,
            key(fd),
            deadline,
            mask,
            &mut watched,
            |watched| syscall!(libc::SYS_epoll_wait, watched.fd(), events, most, 0),
            |watched, caller| watched.wait_until(caller, EventKind::Poll, deadline, AfterHandler::Fail),
        )
    }
}

/// epoll_pwait2(2).
pub(super) unsafe fn epoll_for(
    caller: Caller,
    fd: c_int,
    events: usize,
    most: c_int,
    time: *const timespec,
    mask: *const u64,
) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe {
        let Some(deadline) = duration(time) else { return Ok(-(EINVAL as isize)) };
        epoll_until(caller, fd, events, most, deadline, mask)
    }
}

/// epoll_create1(2). As long as it watches closed descriptors only, it is closed too.
pub(super) unsafe fn epoll_make(caller: Caller, number: i64, argument: c_int) -> CallResult {
    caller.point(EventKind::Syscall, TABLE)?;
    // SAFETY: no memory is involved; the baton.
    unsafe {
        let fd = syscall!(number, argument);
        state().closed_descriptors.set(fd as c_int, true);
        Ok(fd)
    }
}

/// epoll_ctl(2).
pub(super) unsafe fn epoll_change(caller: Caller, set: c_int, operation: c_int, fd: c_int, event: usize) -> CallResult {
    caller.point(EventKind::Syscall, key(set))?;
    touched();
    // SAFETY: the caller's structure; the baton.
    unsafe {
        if operation == libc::EPOLL_CTL_ADD && !state().closed_descriptors.contains(fd) {
            state().closed_descriptors.set(set, false);
        }
        Ok(syscall!(libc::SYS_epoll_ctl, set, operation, fd, event))
    }
}

interpose! {
    fn epoll_wait(fd: c_int, events: usize, most: c_int, time: c_int) -> c_int |me| {
        conclude!(me, epoll_until(Caller::function(me), fd, events, most, milliseconds(time), core::ptr::null()))
    }

    fn epoll_pwait(fd: c_int, events: usize, most: c_int, time: c_int, mask: *const u64) -> c_int |me| {
        conclude!(me, epoll_until(Caller::function(me), fd, events, most, milliseconds(time), mask))
    }

    fn epoll_pwait2(fd: c_int, events: usize, most: c_int, time: *const timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, epoll_for(Caller::function(me), fd, events, most, time, mask))
    }

    fn epoll_create(size: c_int) -> c_int |me| {
        conclude!(me, epoll_make(Caller::plain(me), libc::SYS_epoll_create, size))
    }

    fn epoll_create1(flags: c_int) -> c_int |me| {
        conclude!(me, epoll_make(Caller::plain(me), libc::SYS_epoll_create1, flags))
    }

    fn epoll_ctl(set: c_int, operation: c_int, fd: c_int, event: usize) -> c_int |me| {
        conclude!(me, epoll_change(Caller::plain(me), set, operation, fd, event))
    }
}
