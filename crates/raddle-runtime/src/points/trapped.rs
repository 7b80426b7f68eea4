//! System calls on descriptors, children and files that were made past the interposed functions:
//! stdio, the resolver, inline assembly. They are the same operations, except that cancelling is left to libc.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libc::timespec;
use raddle_core::{EventKind, ThreadId};
use raddle_protocol::Escape;

use super::kernel_wait::{Caller, INTERRUPTED};
use super::splice::{send_file, splice_between, Splice};
use super::{
    child, connection, descriptor, descriptor_table, epoll, file_lock, ipc, open, poll, select, signal_wait, socket,
};
use crate::control::scheduler;
use crate::dispatch::Request;
use crate::model::descriptor::key;
use crate::switch::uncontrolled_call;
use crate::syscall;

/// Performs the call; `None`: it is to be made as it is.
pub(super) unsafe fn system_call(me: ThreadId, request: &Request) -> Option<isize> {
    let [a, b, c, d, e, f] = request.arguments;
    let number = request.number;
    let caller = Caller::trap(me);
    let fd = a as c_int;
    // SAFETY: the program's own system call, with the arguments that the kernel knows for it.
    let outcome = unsafe {
        match number {
            libc::SYS_read => descriptor::read_one(caller, fd, b, c),
            libc::SYS_write => descriptor::write_one(caller, fd, b, c),
            libc::SYS_readv => descriptor::read_many(caller, fd, b as *const _, c),
            libc::SYS_writev => descriptor::write_many(caller, fd, b as *const _, c),
            libc::SYS_pwrite64 | libc::SYS_pwritev => {
                descriptor::at_offset(caller, EventKind::Write, number, fd, b, c, d)
            }
            libc::SYS_sendfile => send_file(caller, fd, b as c_int, c, d),
            libc::SYS_splice => splice_between(
                caller,
                Splice { from: fd, from_offset: b, to: c as c_int, to_offset: d, size: e, flags: f as c_uint },
            ),

            libc::SYS_pipe => descriptor_table::make_pipe(caller, a as *mut c_int, 0),
            libc::SYS_pipe2 => descriptor_table::make_pipe(caller, a as *mut c_int, b as c_int),
            libc::SYS_eventfd => descriptor_table::make_eventfd(caller, a as c_uint, 0),
            libc::SYS_eventfd2 => descriptor_table::make_eventfd(caller, a as c_uint, b as c_int),
            libc::SYS_close => descriptor_table::close_one(caller, fd),
            libc::SYS_close_range => descriptor_table::close_many(caller, a as c_uint, b as c_uint, c as c_int),
            libc::SYS_dup => descriptor_table::copy(caller, fd, || syscall!(number, fd)),
            libc::SYS_dup2 | libc::SYS_dup3 => {
                descriptor_table::copy_over(caller, fd, b as c_int, || syscall!(number, fd, b, c))
            }
            libc::SYS_fcntl => descriptor_table::control(caller, fd, b as c_int, c),
            libc::SYS_flock => file_lock::lock_file(caller, fd, b as c_int),

            libc::SYS_recvfrom => {
                socket::receive_from(caller, fd, b, c, d as c_int, e as *mut c_void, f as *mut libc::socklen_t)
            }
            libc::SYS_recvmsg => socket::receive_message(caller, fd, b as *mut _, c as c_int),
            libc::SYS_recvmmsg => {
                socket::receive_messages(caller, fd, b as *mut _, c as c_uint, d as c_int, e as *mut timespec)
            }
            libc::SYS_sendto => socket::send_to(caller, fd, b, c, d as c_int, e as *const c_void, f as libc::socklen_t),
            libc::SYS_sendmsg => socket::send_message(caller, fd, b as *const _, c as c_int),
            libc::SYS_sendmmsg => socket::send_messages(caller, fd, b as *mut _, c as c_uint, d as c_int),
            libc::SYS_accept => connection::accept_one(caller, fd, b, c, 0),
            libc::SYS_accept4 => connection::accept_one(caller, fd, b, c, d as c_int),
            libc::SYS_connect => connection::connect_to(caller, fd, b, c as libc::socklen_t),
            libc::SYS_socketpair => connection::make_pair(caller, a as c_int, b as c_int, c as c_int, d as *mut c_int),
            libc::SYS_socket => connection::observable(caller, number, descriptor_table::TABLE, [a, b, c]),
            libc::SYS_bind | libc::SYS_listen | libc::SYS_shutdown => {
                connection::observable(caller, number, key(fd), [a, b, c])
            }

            libc::SYS_poll => {
                poll::poll_until(caller, a as *mut _, b as _, poll::milliseconds(c as c_int), core::ptr::null())
            }
            libc::SYS_ppoll => poll::poll_for(caller, a as *mut _, b as _, c as *mut timespec, d as *const u64, true),
            libc::SYS_select => {
                select::select_for(caller, a as c_int, [b, c, d].map(|set| set as *mut u64), e as *mut libc::timeval)
            }
            libc::SYS_pselect6 => {
                let sets = [b, c, d].map(|set| set as *mut u64);
                let mask = select::mask_of(f as *const *const u64);
                select::select_pointers(caller, a as c_int, sets, e as *mut timespec, mask, true)
            }
            libc::SYS_epoll_wait => {
                epoll::epoll_until(caller, fd, b, c as c_int, poll::milliseconds(d as c_int), core::ptr::null())
            }
            libc::SYS_epoll_pwait => {
                epoll::epoll_until(caller, fd, b, c as c_int, poll::milliseconds(d as c_int), e as *const u64)
            }
            libc::SYS_epoll_pwait2 => {
                epoll::epoll_for(caller, fd, b, c as c_int, d as *const timespec, e as *const u64)
            }
            libc::SYS_epoll_create | libc::SYS_epoll_create1 => epoll::epoll_make(caller, number, a as c_int),
            libc::SYS_epoll_ctl => epoll::epoll_change(caller, fd, b as c_int, c as c_int, d),

            libc::SYS_rt_sigsuspend => signal_wait::suspend(caller, Some(*(a as *const u64))),
            libc::SYS_pause => signal_wait::suspend(caller, None),
            libc::SYS_rt_sigtimedwait => {
                signal_wait::wait_for_signal_until(caller, a as *const _, b as *mut _, c as *const _)
            }

            libc::SYS_wait4 => child::wait_for_pid(caller, a as libc::pid_t, b as *mut c_int, c as c_int, d),
            libc::SYS_waitid => {
                child::wait_for_id(caller, a as libc::idtype_t, b as libc::id_t, c as *mut _, d as c_int, e)
            }

            libc::SYS_msgsnd => ipc::message(caller, *request, 3),
            libc::SYS_msgrcv => ipc::message(caller, *request, 4),
            libc::SYS_semop => ipc::operate(caller, a as c_int, b as *const _, c, core::ptr::null()),
            libc::SYS_semtimedop => ipc::operate(caller, a as c_int, b as *const _, c, d as *const timespec),
            libc::SYS_mq_timedreceive => ipc::queue(caller, libc::POLLIN, *request),
            libc::SYS_mq_timedsend => ipc::queue(caller, libc::POLLOUT, *request),

            libc::SYS_openat => open::open_at(caller, a as c_int, b as *const c_char, c as c_int, d),
            libc::SYS_open => open::open_at(caller, libc::AT_FDCWD, a as *const c_char, b as c_int, c),
            libc::SYS_creat
            | libc::SYS_unlink
            | libc::SYS_unlinkat
            | libc::SYS_rename
            | libc::SYS_renameat
            | libc::SYS_renameat2
            | libc::SYS_link
            | libc::SYS_linkat
            | libc::SYS_symlink
            | libc::SYS_symlinkat
            | libc::SYS_mkdir
            | libc::SYS_mkdirat
            | libc::SYS_rmdir
            | libc::SYS_truncate => open::observable(Caller::plain(me), request),

            libc::SYS_io_uring_enter | libc::SYS_io_getevents | libc::SYS_vmsplice | libc::SYS_tee => {
                scheduler().escaped(Escape::UncontrolledCall);
                return Some(uncontrolled_call::make(me, || request.pass_to_kernel()));
            }
            _ => return None,
        }
    };
    // A cancelled one ends early; libc does the rest when the trap is over.
    Some(outcome.unwrap_or(INTERRUPTED))
}
