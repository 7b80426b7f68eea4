//! sendfile and splice: transfers between descriptors, as far as they can go without blocking.

use core::ffi::{c_int, c_uint};

use raddle_core::EventKind;

use super::descriptor::DescriptorKind;
use super::kernel_wait::{conclude, is_ready, never_waits, touched, CallResult, Caller, Watched, AGAIN, INTERRUPTED};
use crate::interpose;
use crate::model::descriptor::key;
use crate::scheduler::thread::Wake;
use crate::syscall;

/// As much as a descriptor that says it is ready takes without blocking.
const PIECE: usize = 4096;

/// sendfile(2): to a file at once, to anything else piece by piece.
pub(super) unsafe fn send_file(caller: Caller, to: c_int, from: c_int, offset: usize, size: usize) -> CallResult {
    let caller = caller.point(EventKind::Write, key(to))?;
    // SAFETY: the caller's offset.
    unsafe {
        if DescriptorKind::of(to) == DescriptorKind::Plain || never_waits(to, libc::POLLOUT) {
            return Ok(syscall!(libc::SYS_sendfile, to, from, offset, size));
        }
        let mut watched = Watched::new(to, libc::POLLOUT);
        let mut done = 0;
        while done < size {
            let piece = (size - done).min(PIECE);
            let sent = watched.until_done(caller, EventKind::Write, |to, anyway| {
                if anyway || is_ready(to, libc::POLLOUT) {
                    syscall!(libc::SYS_sendfile, to, from, offset, piece)
                } else {
                    AGAIN
                }
            })?;
            if sent <= 0 {
                return Ok(if done > 0 { done as isize } else { sent });
            }
            done += sent as usize;
        }
        Ok(done as isize)
    }
}

/// The arguments of splice(2), as the kernel wants them.
pub(super) struct Splice {
    pub from: c_int,
    pub from_offset: usize,
    pub to: c_int,
    pub to_offset: usize,
    pub size: usize,
    pub flags: c_uint,
}

/// splice(2).
pub(super) unsafe fn splice_between(caller: Caller, call: Splice) -> CallResult {
    let caller = caller.point(EventKind::Write, key(call.to))?;
    let at_once = call.flags & libc::SPLICE_F_NONBLOCK != 0
        || never_waits(call.from, libc::POLLIN)
        || never_waits(call.to, libc::POLLOUT);
    let now = |size: usize, flags: c_uint| {
        touched();
        // SAFETY: the caller's offsets.
        unsafe { syscall!(libc::SYS_splice, call.from, call.from_offset, call.to, call.to_offset, size, flags) }
    };
    if at_once {
        return Ok(now(call.size, call.flags));
    }
    // A socket would wait until it has taken everything.
    let size = if DescriptorKind::of(call.to) == DescriptorKind::Socket { call.size.min(PIECE) } else { call.size };
    let ends = [(call.from, libc::POLLIN), (call.to, libc::POLLOUT)];
    loop {
        let result = match ends.into_iter().find(|&(fd, events)| !is_ready(fd, events)) {
            Some((fd, events)) => match Watched::new(fd, events).wait(caller, EventKind::Write)? {
                Wake::TimedOut => return Ok(AGAIN),
                Wake::Interrupted => return Ok(INTERRUPTED),
                _ => AGAIN,
            },
            None => now(size, call.flags | libc::SPLICE_F_NONBLOCK),
        };
        if result != AGAIN {
            return Ok(result);
        }
    }
}

interpose! {
    /// Copies from a file to a descriptor.
    fn sendfile(to: c_int, from: c_int, offset: usize, size: usize) -> isize |me| {
        conclude!(me, send_file(Caller::plain(me), to, from, offset, size))
    }

    /// Copies from a file to a descriptor.
    fn sendfile64(to: c_int, from: c_int, offset: usize, size: usize) -> isize |me| {
        conclude!(me, send_file(Caller::plain(me), to, from, offset, size))
    }

    /// Moves between a pipe and a descriptor.
    fn splice(from: c_int, from_offset: usize, to: c_int, to_offset: usize, size: usize, flags: c_uint) -> isize |me| {
        conclude!(me, splice_between(Caller::function(me), Splice { from, from_offset, to, to_offset, size, flags }))
    }
}
