//! Making sockets and connections: accept is asked for by poll(2), connect is started without blocking
//! and waited for.

use core::ffi::c_int;

use libc::socklen_t;
use raddle_core::EventKind;

use super::descriptor_table::{note_pair, TABLE};
use super::kernel_wait::{conclude, is_ready, touched, CallResult, Caller, Watched, AGAIN, INTERRUPTED};
use super::socket::option;
use crate::model::descriptor::key;
use crate::scheduler::thread::Wake;
use crate::{interpose, syscall};

/// accept4(2).
pub(super) unsafe fn accept_one(caller: Caller, fd: c_int, name: usize, name_size: usize, flags: c_int) -> CallResult {
    let caller = caller.point(EventKind::Accept, key(fd))?;
    Watched::new(fd, libc::POLLIN).until_done(caller, EventKind::Accept, |fd, anyway| {
        // A socket that does not listen never becomes ready, but is refused at once.
        if anyway || is_ready(fd, libc::POLLIN) || option(fd, libc::SO_ACCEPTCONN) == 0 {
            // SAFETY: the caller's pointers.
            unsafe { syscall!(libc::SYS_accept4, fd, name, name_size, flags) }
        } else {
            AGAIN
        }
    })
}

/// connect(2).
pub(super) unsafe fn connect_to(caller: Caller, fd: c_int, name: usize, name_size: socklen_t) -> CallResult {
    let caller = caller.point(EventKind::Connect, key(fd))?;
    touched();
    // SAFETY: the caller's address.
    unsafe {
        let flags = syscall!(libc::SYS_fcntl, fd, libc::F_GETFL);
        if flags < 0 || flags as c_int & libc::O_NONBLOCK != 0 {
            return Ok(syscall!(libc::SYS_connect, fd, name, name_size));
        }
        syscall!(libc::SYS_fcntl, fd, libc::F_SETFL, flags as c_int | libc::O_NONBLOCK);
        let outcome = connect_blocking(caller, fd, name, name_size);
        syscall!(libc::SYS_fcntl, fd, libc::F_SETFL, flags);
        touched();
        outcome
    }
}

/// Connects a socket that is non-blocking for now, and waits. Asking again gives the result, and lets
/// the kernel know that it has been given.
unsafe fn connect_blocking(caller: Caller, fd: c_int, name: usize, name_size: socklen_t) -> CallResult {
    let mut watched = Watched::new(fd, libc::POLLOUT);
    let mut started = false;
    loop {
        // SAFETY: the caller's address.
        let result = unsafe { syscall!(libc::SYS_connect, fd, name, name_size) };
        let wake = match -result as c_int {
            libc::EISCONN if started => return Ok(0),
            libc::EINPROGRESS | libc::EALREADY => {
                started = true;
                if is_ready(fd, libc::POLLOUT) {
                    continue;
                }
                watched.wait(caller, EventKind::Connect)?
            }
            // A local socket whose backlog is full; poll says that it is ready all the same.
            libc::EAGAIN => watched.wait_strange(caller, EventKind::Connect)?,
            _ => return Ok(result),
        };
        match wake {
            Wake::TimedOut => return Ok(result),
            Wake::Interrupted => return Ok(INTERRUPTED),
            _ => {}
        }
    }
}

/// socketpair(2).
pub(super) unsafe fn make_pair(
    caller: Caller,
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut c_int,
) -> CallResult {
    caller.point(EventKind::Syscall, TABLE)?;
    // SAFETY: the caller's array.
    unsafe {
        let result = syscall!(libc::SYS_socketpair, domain, kind, protocol, ends);
        if result == 0 {
            note_pair(ends);
        }
        Ok(result)
    }
}

/// A call on a socket that never blocks but can be observed by others.
pub(super) unsafe fn observable(caller: Caller, number: i64, object: usize, arguments: [usize; 3]) -> CallResult {
    caller.point(EventKind::Syscall, object)?;
    touched();
    let [a, b, c] = arguments;
    // SAFETY: the caller's arguments.
    Ok(unsafe { syscall!(number, a, b, c) })
}

interpose! {
    fn accept(fd: c_int, name: usize, name_size: usize) -> c_int |me| {
        conclude!(me, accept_one(Caller::function(me), fd, name, name_size, 0))
    }

    fn accept4(fd: c_int, name: usize, name_size: usize, flags: c_int) -> c_int |me| {
        conclude!(me, accept_one(Caller::function(me), fd, name, name_size, flags))
    }

    fn connect(fd: c_int, name: usize, name_size: socklen_t) -> c_int |me| {
        conclude!(me, connect_to(Caller::function(me), fd, name, name_size))
    }

    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int |me| {
        conclude!(me, make_pair(Caller::plain(me), domain, kind, protocol, ends))
    }

    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int |me| {
        let arguments = [domain as usize, kind as usize, protocol as usize];
        conclude!(me, observable(Caller::plain(me), libc::SYS_socket, TABLE, arguments))
    }

    fn bind(fd: c_int, name: usize, name_size: socklen_t) -> c_int |me| {
        conclude!(me, observable(Caller::plain(me), libc::SYS_bind, key(fd), [fd as usize, name, name_size as usize]))
    }

    fn listen(fd: c_int, backlog: c_int) -> c_int |me| {
        conclude!(me, observable(Caller::plain(me), libc::SYS_listen, key(fd), [fd as usize, backlog as usize, 0]))
    }

    /// Ends one direction of a connection, or both.
    fn shutdown(fd: c_int, how: c_int) -> c_int |me| {
        conclude!(me, observable(Caller::plain(me), libc::SYS_shutdown, key(fd), [fd as usize, how as usize, 0]))
    }
}
