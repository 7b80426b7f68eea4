//! Receiving and sending, which are tried with MSG_DONTWAIT.

use core::ffi::{c_int, c_uint, c_void};

use libc::{iovec, mmsghdr, msghdr, socklen_t, timespec};
use raddle_core::EventKind;

use super::descriptor::buffers;
use super::kernel_wait::{conclude, never_waits, touched, CallResult, Caller, Watched, AGAIN};
use super::time::{from_now, nanoseconds, valid};
use crate::control::{scheduler, state};
use crate::model::descriptor::{key, length, Pieces, MOST_BUFFERS};
use crate::scheduler::clock::NEVER;
use crate::{interpose, real, syscall};

/// A message of nothing but buffers.
pub(super) fn message(buffers: &[iovec]) -> msghdr {
    // SAFETY: a message is valid when zeroed.
    let mut message: msghdr = unsafe { core::mem::zeroed() };
    message.msg_iov = buffers.as_ptr().cast_mut();
    message.msg_iovlen = buffers.len();
    message
}

/// An option of a socket; 0 if getsockopt(2) fails.
pub(super) fn option(fd: c_int, name: c_int) -> c_int {
    let mut value: c_int = 0;
    let mut size = size_of::<c_int>() as socklen_t;
    // SAFETY: the kernel writes at most `size` bytes.
    unsafe { syscall!(libc::SYS_getsockopt, fd, libc::SOL_SOCKET, name, &mut value as *mut _, &mut size as *mut _) };
    value
}

/// Receives a message, after the schedule point.
pub(super) unsafe fn receive(caller: Caller, fd: c_int, message: &mut msghdr, flags: c_int) -> CallResult {
    // These never block, and poll says nothing about them.
    let at_once = flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE | libc::MSG_OOB) != 0;
    let mut watched = Watched::new(fd, libc::POLLIN);
    // SAFETY: the caller's message.
    unsafe {
        if at_once {
            return Ok(once(caller, syscall!(libc::SYS_recvmsg, fd, message as *mut _, flags)));
        }
        let (name, control) = (message.msg_namelen, message.msg_controllen);
        let received = watched.until_done(caller, EventKind::Read, |fd, _| {
            message.msg_namelen = name;
            message.msg_controllen = control;
            syscall!(libc::SYS_recvmsg, fd, message as *mut _, flags | libc::MSG_DONTWAIT)
        })?;
        // MSG_PEEK is not repeated: it would start from the same byte again.
        let all = flags & (libc::MSG_WAITALL | libc::MSG_PEEK) == libc::MSG_WAITALL;
        if all && received > 0 {
            return receive_rest(caller, &mut watched, fd, message, received, flags);
        }
        Ok(received)
    }
}

/// MSG_WAITALL: receives until the buffers are full.
unsafe fn receive_rest(
    caller: Caller,
    watched: &mut Watched,
    fd: c_int,
    message: &msghdr,
    first: isize,
    flags: c_int,
) -> CallResult {
    // SAFETY: the caller's message.
    unsafe {
        let Some(buffers) = buffers(message.msg_iov, message.msg_iovlen) else { return Ok(first) };
        let mut pieces = Pieces::new(buffers);
        pieces.advance(first as usize);
        let stream = option(fd, libc::SO_TYPE) == libc::SOCK_STREAM;
        // What carries descriptors ends a message, as in the kernel.
        if !stream || message.msg_controllen > 0 || never_waits(fd, libc::POLLIN) {
            return Ok(first);
        }
        while pieces.left() > 0 {
            let mut piece = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; MOST_BUFFERS];
            let count = pieces.next(usize::MAX, &mut piece);
            let mut rest = self::message(&piece[..count]);
            let received = watched.until_done(caller, EventKind::Read, |fd, _| {
                syscall!(libc::SYS_recvmsg, fd, &mut rest as *mut _, flags | libc::MSG_DONTWAIT)
            })?;
            if received <= 0 {
                break;
            }
            pieces.advance(received as usize);
        }
        Ok(pieces.done as isize)
    }
}

/// Sends a message, after the schedule point.
pub(super) unsafe fn transmit(caller: Caller, fd: c_int, message: &msghdr, flags: c_int) -> CallResult {
    // SAFETY: the caller's message.
    unsafe {
        if message.msg_controllen > 0 && !state().closed_descriptors.contains(fd) {
            // Descriptors may be on their way to another process.
            scheduler().open_world = true;
        }
        if flags & (libc::MSG_DONTWAIT | libc::MSG_FASTOPEN) != 0 {
            return Ok(once(caller, syscall!(libc::SYS_sendmsg, fd, message as *const _, flags)));
        }
        let mut watched = Watched::new(fd, libc::POLLOUT);
        let sent = watched.until_done(caller, EventKind::Write, |fd, _| {
            syscall!(libc::SYS_sendmsg, fd, message as *const _, flags | libc::MSG_DONTWAIT)
        })?;
        if sent <= 0 {
            return Ok(sent);
        }
        match buffers(message.msg_iov, message.msg_iovlen) {
            // Only streams send less than everything.
            Some(buffers) if (sent as usize) < length(buffers) && !never_waits(fd, libc::POLLOUT) => {
                send_rest(caller, &mut watched, buffers, sent, flags)
            }
            _ => Ok(sent),
        }
    }
}

/// Sends what did not fit at once.
unsafe fn send_rest(
    caller: Caller,
    watched: &mut Watched,
    buffers: &[iovec],
    first: isize,
    flags: c_int,
) -> CallResult {
    let mut pieces = Pieces::new(buffers);
    pieces.advance(first as usize);
    // A broken connection raises no signal once something has been sent.
    let flags = flags | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    while pieces.left() > 0 {
        let mut piece = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; MOST_BUFFERS];
        let count = pieces.next(usize::MAX, &mut piece);
        let rest = message(&piece[..count]);
        let sent = watched.until_done(caller, EventKind::Write, |fd, _| {
            // SAFETY: parts of the caller's buffers.
            unsafe { syscall!(libc::SYS_sendmsg, fd, &rest as *const _, flags) }
        })?;
        if sent <= 0 {
            break;
        }
        pieces.advance(sent as usize);
    }
    Ok(pieces.done as isize)
}

/// Accounts for a call that did not wait.
fn once(caller: Caller, result: isize) -> isize {
    if result == AGAIN {
        // SAFETY: the caller holds the baton.
        unsafe { scheduler() }.made_no_progress(caller.me);
    } else {
        touched();
    }
    result
}

/// recvfrom(2).
pub(super) unsafe fn receive_from(
    caller: Caller,
    fd: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    name: *mut c_void,
    name_size: *mut socklen_t,
) -> CallResult {
    let caller = caller.point(EventKind::Read, key(fd))?;
    let buffers = [iovec { iov_base: buffer as *mut c_void, iov_len: size }];
    let mut message = message(&buffers);
    // SAFETY: the caller's buffers.
    unsafe {
        if !name.is_null() {
            message.msg_name = name;
            message.msg_namelen = *name_size;
        }
        let received = receive(caller, fd, &mut message, flags)?;
        if !name.is_null() && received >= 0 {
            *name_size = message.msg_namelen;
        }
        Ok(received)
    }
}

/// recvmsg(2).
pub(super) unsafe fn receive_message(caller: Caller, fd: c_int, message: *mut msghdr, flags: c_int) -> CallResult {
    let caller = caller.point(EventKind::Read, key(fd))?;
    // SAFETY: the caller's message.
    unsafe { receive(caller, fd, &mut *message, flags) }
}

/// recvmmsg(2). The time-out is looked at after each message, as in the kernel.
pub(super) unsafe fn receive_messages(
    caller: Caller,
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    time: *mut timespec,
) -> CallResult {
    // SAFETY: the caller's messages and time.
    unsafe {
        if !time.is_null() && !valid(time) {
            return Ok(-(libc::EINVAL as isize));
        }
        let deadline = if time.is_null() { NEVER } else { from_now(nanoseconds(time)) };
        let caller = caller.point(EventKind::Read, key(fd))?;
        let mut flags = flags;
        let mut done = 0;
        while done < count.min(1024) {
            let one = &mut *messages.add(done as usize);
            let received = receive(caller, fd, &mut one.msg_hdr, flags & !libc::MSG_WAITFORONE)?;
            if received < 0 {
                return Ok(if done > 0 { done as isize } else { received });
            }
            one.msg_len = received as c_uint;
            done += 1;
            if flags & libc::MSG_WAITFORONE != 0 {
                flags |= libc::MSG_DONTWAIT;
            }
            if scheduler().clock.now() >= deadline {
                break;
            }
        }
        Ok(done as isize)
    }
}

/// sendto(2).
pub(super) unsafe fn send_to(
    caller: Caller,
    fd: c_int,
    buffer: usize,
    size: usize,
    flags: c_int,
    name: *const c_void,
    name_size: socklen_t,
) -> CallResult {
    let caller = caller.point(EventKind::Write, key(fd))?;
    let buffers = [iovec { iov_base: buffer as *mut c_void, iov_len: size }];
    let mut message = message(&buffers);
    if !name.is_null() {
        message.msg_name = name.cast_mut();
        message.msg_namelen = name_size;
    }
    // SAFETY: the caller's buffer.
    unsafe { transmit(caller, fd, &message, flags) }
}

/// sendmsg(2).
pub(super) unsafe fn send_message(caller: Caller, fd: c_int, message: *const msghdr, flags: c_int) -> CallResult {
    let caller = caller.point(EventKind::Write, key(fd))?;
    // SAFETY: the caller's message.
    unsafe { transmit(caller, fd, &*message, flags) }
}

/// sendmmsg(2).
pub(super) unsafe fn send_messages(
    caller: Caller,
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> CallResult {
    let caller = caller.point(EventKind::Write, key(fd))?;
    // SAFETY: the caller's messages.
    unsafe {
        let mut done = 0;
        while done < count.min(1024) {
            let one = &mut *messages.add(done as usize);
            let sent = transmit(caller, fd, &one.msg_hdr, flags)?;
            if sent < 0 {
                return Ok(if done > 0 { done as isize } else { sent });
            }
            one.msg_len = sent as c_uint;
            done += 1;
        }
        Ok(done as isize)
    }
}

interpose! {
    fn recv(fd: c_int, buffer: usize, size: usize, flags: c_int) -> isize |me| {
        conclude!(me, receive_from(Caller::function(me), fd, buffer, size, flags, core::ptr::null_mut(), core::ptr::null_mut()))
    }

    fn __recv_chk(fd: c_int, buffer: usize, size: usize, room: usize, flags: c_int) -> isize |me| {
        if size > room {
            return real!(__recv_chk: fn(c_int, usize, usize, usize, c_int) -> isize)(fd, buffer, size, room, flags);
        }
        conclude!(me, receive_from(Caller::function(me), fd, buffer, size, flags, core::ptr::null_mut(), core::ptr::null_mut()))
    }

    fn recvfrom(fd: c_int, buffer: usize, size: usize, flags: c_int, name: *mut c_void, name_size: *mut socklen_t) -> isize |me| {
        conclude!(me, receive_from(Caller::function(me), fd, buffer, size, flags, name, name_size))
    }

    fn __recvfrom_chk(fd: c_int, buffer: usize, size: usize, room: usize, flags: c_int, name: *mut c_void, name_size: *mut socklen_t) -> isize |me| {
        if size > room {
            return real!(__recvfrom_chk: fn(c_int, usize, usize, usize, c_int, *mut c_void, *mut socklen_t) -> isize)(fd, buffer, size, room, flags, name, name_size);
        }
        conclude!(me, receive_from(Caller::function(me), fd, buffer, size, flags, name, name_size))
    }

    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize |me| {
        conclude!(me, receive_message(Caller::function(me), fd, message, flags))
    }

    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, time: *mut timespec) -> c_int |me| {
        conclude!(me, receive_messages(Caller::function(me), fd, messages, count, flags, time))
    }

    fn send(fd: c_int, buffer: usize, size: usize, flags: c_int) -> isize |me| {
        conclude!(me, send_to(Caller::function(me), fd, buffer, size, flags, core::ptr::null(), 0))
    }

    fn sendto(fd: c_int, buffer: usize, size: usize, flags: c_int, name: *const c_void, name_size: socklen_t) -> isize |me| {
        conclude!(me, send_to(Caller::function(me), fd, buffer, size, flags, name, name_size))
    }

    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize |me| {
        conclude!(me, send_message(Caller::function(me), fd, message, flags))
    }

    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int |me| {
        conclude!(me, send_messages(Caller::function(me), fd, messages, count, flags))
    }
}
