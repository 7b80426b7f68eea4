//! read, write and their relatives.
//!
//! What a descriptor stands for decides what can be done without blocking: files never wait, pipes
//! and the rest are asked by poll(2) first, sockets are tried with MSG_DONTWAIT.

use core::ffi::c_int;

use libc::{iovec, off_t};
use raddle_core::EventKind;

use super::kernel_wait::{conclude, is_ready, never_waits, CallResult, Caller, Watched, AGAIN};
use super::socket;
use crate::control::state;
use crate::model::descriptor::{key, length, Pieces, MOST_BUFFERS};
use crate::{interpose, real, syscall};

/// The most bytes that are written to a pipe in one piece.
const PIPE_BUF: usize = 4096;
/// More buffers than this are refused by the kernel.
const IOV_MAX: usize = 1024;
/// preadv2: do not block.
const RWF_NOWAIT: c_int = 8;

/// What a descriptor stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DescriptorKind {
    /// Something that never waits, or nothing at all.
    Plain,
    /// An end of a pipe.
    Pipe,
    Socket,
    /// A terminal, an event counter, or whatever else poll(2) knows.
    Other,
}

impl DescriptorKind {
    pub fn of(fd: c_int) -> DescriptorKind {
        // SAFETY: the kernel fills the structure.
        let mode = unsafe {
            let mut stat: libc::stat = core::mem::zeroed();
            if syscall!(libc::SYS_fstat, fd, &mut stat as *mut _) != 0 {
                return DescriptorKind::Plain;
            }
            stat.st_mode
        };
        match mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK | libc::S_IFLNK => DescriptorKind::Plain,
            libc::S_IFIFO => DescriptorKind::Pipe,
            libc::S_IFSOCK => DescriptorKind::Socket,
            _ => DescriptorKind::Other,
        }
    }
}

/// The buffers of a readv or writev; `None` when there are so many that the kernel refuses them.
pub(super) unsafe fn buffers<'a>(first: *const iovec, count: usize) -> Option<&'a [iovec]> {
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: the caller's array.
    (count <= IOV_MAX).then(|| unsafe { core::slice::from_raw_parts(first, count) })
}

unsafe fn read_now(fd: c_int, buffers: &[iovec]) -> isize {
    // SAFETY: the caller's buffers.
    unsafe { syscall!(libc::SYS_readv, fd, buffers.as_ptr(), buffers.len()) }
}

unsafe fn write_now(fd: c_int, buffers: &[iovec]) -> isize {
    // SAFETY: the caller's buffers.
    unsafe { syscall!(libc::SYS_writev, fd, buffers.as_ptr(), buffers.len()) }
}

/// Reads what is there. A pipe that other processes read from too may have become empty since it
/// said that it was not.
unsafe fn read_ready(fd: c_int, stands: DescriptorKind, buffers: &[iovec]) -> isize {
    // SAFETY: the caller's buffers and the baton.
    unsafe {
        if stands == DescriptorKind::Pipe && !state().closed_descriptors.contains(fd) {
            let result = syscall!(libc::SYS_preadv2, fd, buffers.as_ptr(), buffers.len(), -1isize, 0, RWF_NOWAIT);
            if result != -(libc::EOPNOTSUPP as isize) && result != -(libc::ENOSYS as isize) {
                return result;
            }
        }
        read_now(fd, buffers)
    }
}

/// Reads from a descriptor.
pub(super) unsafe fn read_into(caller: Caller, fd: c_int, buffers: &[iovec]) -> CallResult {
    let caller = caller.point(EventKind::Read, key(fd))?;
    // SAFETY: the caller's buffers.
    unsafe {
        match DescriptorKind::of(fd) {
            _ if length(buffers) == 0 => Ok(read_now(fd, buffers)),
            DescriptorKind::Plain => Ok(read_now(fd, buffers)),
            DescriptorKind::Socket => socket::receive(caller, fd, &mut socket::message(buffers), 0),
            stands => Watched::new(fd, libc::POLLIN).until_done(caller, EventKind::Read, |fd, anyway| {
                if anyway {
                    read_now(fd, buffers)
                } else if is_ready(fd, libc::POLLIN) {
                    read_ready(fd, stands, buffers)
                } else if stands == DescriptorKind::Other && length(buffers) < COUNTER {
                    refused(fd, buffers)
                } else {
                    AGAIN
                }
            }),
        }
    }
}

/// How many bytes one reads at least from an eventfd or a timerfd.
const COUNTER: usize = 8;

/// A read of fewer bytes than a descriptor gives at once fails, and does not wait.
unsafe fn refused(fd: c_int, buffers: &[iovec]) -> isize {
    // SAFETY: the caller's buffers.
    let result = unsafe { syscall!(libc::SYS_preadv2, fd, buffers.as_ptr(), buffers.len(), -1isize, 0, RWF_NOWAIT) };
    let knows_nothing = [-(libc::EOPNOTSUPP as isize), -(libc::ENOSYS as isize)].contains(&result);
    if knows_nothing {
        AGAIN
    } else {
        result
    }
}

/// Writes to a descriptor.
pub(super) unsafe fn write_from(caller: Caller, fd: c_int, buffers: &[iovec]) -> CallResult {
    let caller = caller.point(EventKind::Write, key(fd))?;
    // SAFETY: the caller's buffers.
    unsafe {
        let whole = length(buffers) <= PIPE_BUF;
        match DescriptorKind::of(fd) {
            DescriptorKind::Plain => Ok(write_now(fd, buffers)),
            DescriptorKind::Socket => socket::transmit(caller, fd, &socket::message(buffers), 0),
            DescriptorKind::Pipe if !whole && !never_waits(fd, libc::POLLOUT) => write_in_pieces(caller, fd, buffers),
            _ => Watched::new(fd, libc::POLLOUT).until_done(caller, EventKind::Write, |fd, anyway| {
                if anyway || is_ready(fd, libc::POLLOUT) {
                    write_now(fd, buffers)
                } else {
                    AGAIN
                }
            }),
        }
    }
}

/// Writes more to a pipe than it may hold: a piece fits whenever the pipe has room at all.
unsafe fn write_in_pieces(caller: Caller, fd: c_int, buffers: &[iovec]) -> CallResult {
    let mut watched = Watched::new(fd, libc::POLLOUT);
    let mut pieces = Pieces::new(buffers);
    while pieces.left() > 0 {
        let mut piece = [iovec { iov_base: core::ptr::null_mut(), iov_len: 0 }; MOST_BUFFERS];
        let count = pieces.next(PIPE_BUF, &mut piece);
        let written = watched.until_done(caller, EventKind::Write, |fd, anyway| {
            if anyway || is_ready(fd, libc::POLLOUT) {
                // SAFETY: parts of the caller's buffers.
                unsafe { write_now(fd, &piece[..count]) }
            } else {
                AGAIN
            }
        })?;
        if written <= 0 {
            return Ok(if pieces.done > 0 { pieces.done as isize } else { written });
        }
        pieces.advance(written as usize);
    }
    Ok(pieces.done as isize)
}

/// read(2).
pub(super) unsafe fn read_one(caller: Caller, fd: c_int, buffer: usize, size: usize) -> CallResult {
    // SAFETY: the caller's buffer.
    unsafe { read_into(caller, fd, &[iovec { iov_base: buffer as *mut _, iov_len: size }]) }
}

/// write(2).
pub(super) unsafe fn write_one(caller: Caller, fd: c_int, buffer: usize, size: usize) -> CallResult {
    // SAFETY: the caller's buffer.
    unsafe { write_from(caller, fd, &[iovec { iov_base: buffer as *mut _, iov_len: size }]) }
}

/// readv(2).
pub(super) unsafe fn read_many(caller: Caller, fd: c_int, first: *const iovec, count: usize) -> CallResult {
    // SAFETY: the caller's buffers.
    unsafe {
        match buffers(first, count) {
            Some(buffers) => read_into(caller, fd, buffers),
            None => Ok(syscall!(libc::SYS_readv, fd, first, count)),
        }
    }
}

/// writev(2).
pub(super) unsafe fn write_many(caller: Caller, fd: c_int, first: *const iovec, count: usize) -> CallResult {
    // SAFETY: the caller's buffers.
    unsafe {
        match buffers(first, count) {
            Some(buffers) => write_from(caller, fd, buffers),
            None => Ok(syscall!(libc::SYS_writev, fd, first, count)),
        }
    }
}

/// A call with an offset: a descriptor that can be sought in does not wait.
pub(super) unsafe fn at_offset(
    caller: Caller,
    kind: EventKind,
    number: i64,
    fd: c_int,
    a: usize,
    b: usize,
    offset: usize,
) -> CallResult {
    caller.point(kind, key(fd))?;
    // The kernel takes the upper half of the offset of preadv and pwritev in an argument of its own,
    // and ignores it on 64-bit machines.
    // SAFETY: the caller's buffers.
    Ok(unsafe { syscall!(number, fd, a, b, offset, 0) })
}

interpose! {
    fn read(fd: c_int, buffer: usize, size: usize) -> isize |me| {
        conclude!(me, read_one(Caller::function(me), fd, buffer, size))
    }

    fn __read_chk(fd: c_int, buffer: usize, size: usize, room: usize) -> isize |me| {
        if size > room {
            return real!(__read_chk: fn(c_int, usize, usize, usize) -> isize)(fd, buffer, size, room);
        }
        conclude!(me, read_one(Caller::function(me), fd, buffer, size))
    }

    fn write(fd: c_int, buffer: usize, size: usize) -> isize |me| {
        conclude!(me, write_one(Caller::function(me), fd, buffer, size))
    }

    fn readv(fd: c_int, first: *const iovec, count: c_int) -> isize |me| {
        conclude!(me, read_many(Caller::function(me), fd, first, count as usize))
    }

    fn writev(fd: c_int, first: *const iovec, count: c_int) -> isize |me| {
        conclude!(me, write_many(Caller::function(me), fd, first, count as usize))
    }

    fn pread(fd: c_int, buffer: usize, size: usize, offset: off_t) -> isize |me| {
        conclude!(me, at_offset(Caller::function(me), EventKind::Read, libc::SYS_pread64, fd, buffer, size, offset as usize))
    }

    fn pread64(fd: c_int, buffer: usize, size: usize, offset: off_t) -> isize |me| {
        conclude!(me, at_offset(Caller::function(me), EventKind::Read, libc::SYS_pread64, fd, buffer, size, offset as usize))
    }

    fn pwrite(fd: c_int, buffer: usize, size: usize, offset: off_t) -> isize |me| {
        conclude!(me, at_offset(Caller::function(me), EventKind::Write, libc::SYS_pwrite64, fd, buffer, size, offset as usize))
    }

    fn pwrite64(fd: c_int, buffer: usize, size: usize, offset: off_t) -> isize |me| {
        conclude!(me, at_offset(Caller::function(me), EventKind::Write, libc::SYS_pwrite64, fd, buffer, size, offset as usize))
    }
}
