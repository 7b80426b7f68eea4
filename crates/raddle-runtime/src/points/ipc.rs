//! Message queues and semaphores of System V, and message queues of POSIX.
//!
//! Those of System V are tried with IPC_NOWAIT. A queue of POSIX is a descriptor on Linux.

use core::ffi::{c_int, c_uint};

use libc::{sembuf, timespec, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind};
use raddle_protocol::{Escape, Fallback};

use super::kernel_wait::{
    conclude, is_ready, never_waits, touched, AfterHandler, Attempts, CallResult, Caller, Watched, AGAIN, INTERRUPTED,
};
use super::result;
use super::signal::handle_pending;
use super::time::{deadline, from_now, nanoseconds, valid_for_kernel};
use crate::control::scheduler;
use crate::dispatch::Request;
use crate::model::descriptor::key;
use crate::process::forkable::note;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wake;
use crate::signals::kernel::take_from_kernel;
use crate::switch::uncontrolled_call;
use crate::{interpose, syscall};

/// The object of events on an identifier of System V.
fn object(id: c_int) -> usize {
    0x2000_0000 + id as u32 as usize
}

/// msgsnd(2) and msgrcv(2): `flags` is the number of the argument that may say IPC_NOWAIT.
pub(super) unsafe fn message(caller: Caller, mut request: Request, flags: usize) -> CallResult {
    let patient = request.arguments[flags] as c_int & libc::IPC_NOWAIT == 0;
    let event = Event::new(EventKind::Syscall, object(request.arguments[0] as c_int));
    request.arguments[flags] |= libc::IPC_NOWAIT as usize;
    // An empty queue is another error than a full one.
    let would_block = if request.number == libc::SYS_msgrcv { -(libc::ENOMSG as isize) } else { AGAIN };
    // SAFETY: the program's own system call.
    unsafe {
        let deadline = if patient { NEVER } else { 0 };
        let caller = caller.point(event.kind, event.object)?;
        Attempts { request, would_block, deadline, after: AfterHandler::Fail }.until_done(caller, event)
    }
}

/// semtimedop(2); `time` is null for ever.
pub(super) unsafe fn operate(
    caller: Caller,
    id: c_int,
    operations: *const sembuf,
    count: usize,
    time: *const timespec,
) -> CallResult {
    const MOST: usize = 64;
    let mut own = [sembuf { sem_num: 0, sem_op: 0, sem_flg: 0 }; MOST];
    // SAFETY: the caller's operations and time.
    unsafe {
        if !time.is_null() && !valid_for_kernel(time) {
            return Ok(-(EINVAL as isize));
        }
        if count > MOST {
            scheduler().escaped(Escape::UncontrolledCall);
            return Ok(uncontrolled_call::make(caller.me, || {
                syscall!(libc::SYS_semtimedop, id, operations, count, time)
            }));
        }
        let mut patient = true;
        for (i, operation) in own.iter_mut().enumerate().take(count) {
            *operation = *operations.add(i);
            patient &= operation.sem_flg & libc::IPC_NOWAIT as i16 == 0;
            operation.sem_flg |= libc::IPC_NOWAIT as i16;
        }
        let deadline = match (patient, time.is_null()) {
            (false, _) => 0,
            (true, true) => NEVER,
            (true, false) => from_now(nanoseconds(time)),
        };
        let arguments = [id as usize, own.as_ptr() as usize, count, 0, 0, 0];
        let event = Event::new(EventKind::Syscall, object(id));
        let request = Request { number: libc::SYS_semop, arguments };
        let caller = caller.point(event.kind, event.object)?;
        Attempts { request, would_block: AGAIN, deadline, after: AfterHandler::Fail }.until_done(caller, event)
    }
}

/// mq_timedreceive(2) and mq_timedsend(2), where `events` tells them apart.
pub(super) unsafe fn queue(caller: Caller, events: i16, request: Request) -> CallResult {
    let [fd, a, b, c, time, _] = request.arguments;
    let (fd, time) = (fd as c_int, time as *const timespec);
    let kind = if events == libc::POLLIN { EventKind::Read } else { EventKind::Write };
    let caller = caller.point(kind, key(fd))?;
    let mut watched = Watched::new(fd, events);
    // SAFETY: the caller's arguments.
    unsafe {
        // The kernel looks at the time first, also where it does not have to wait.
        if !time.is_null() && !valid_for_kernel(time) {
            return Ok(-(EINVAL as isize));
        }
        while !is_ready(watched.fd(), events) && !never_waits(watched.fd(), events) {
            match watched.wait_until(caller, kind, deadline(libc::CLOCK_REALTIME, time), AfterHandler::Restart)? {
                Wake::TimedOut => return Ok(-(ETIMEDOUT as isize)),
                Wake::Interrupted => return Ok(INTERRUPTED),
                _ => {}
            }
        }
        touched();
        let result = syscall!(request.number, watched.fd(), a, b, c, 0);
        if events == libc::POLLOUT {
            // The program may have asked for a signal when the queue is no longer empty: mq_notify(3).
            take_from_kernel(scheduler());
            handle_pending(caller.me);
        }
        Ok(result)
    }
}

fn request(number: i64, arguments: [usize; 5]) -> Request {
    let [a, b, c, d, e] = arguments;
    Request { number, arguments: [a, b, c, d, e, 0] }
}

interpose! {
    fn msgget(key: c_int, flags: c_int) -> c_int |_| {
        result(syscall!(libc::SYS_msgget, key, flags)) as c_int
    } before {
        note(Fallback::Objects);
    }

    fn semget(key: c_int, count: c_int, flags: c_int) -> c_int |_| {
        result(syscall!(libc::SYS_semget, key, count, flags)) as c_int
    } before {
        note(Fallback::Objects);
    }

    fn shmget(key: c_int, size: usize, flags: c_int) -> c_int |_| {
        result(syscall!(libc::SYS_shmget, key, size, flags)) as c_int
    } before {
        note(Fallback::Objects);
    }

    fn msgsnd(id: c_int, message: usize, size: usize, flags: c_int) -> c_int |me| {
        let request = request(libc::SYS_msgsnd, [id as usize, message, size, flags as usize, 0]);
        conclude!(me, self::message(Caller::function(me), request, 3))
    }

    fn msgrcv(id: c_int, message: usize, size: usize, kind: i64, flags: c_int) -> isize |me| {
        let request = request(libc::SYS_msgrcv, [id as usize, message, size, kind as usize, flags as usize]);
        conclude!(me, self::message(Caller::function(me), request, 4))
    }

    fn semop(id: c_int, operations: *const sembuf, count: usize) -> c_int |me| {
        conclude!(me, operate(Caller::plain(me), id, operations, count, core::ptr::null()))
    }

    fn semtimedop(id: c_int, operations: *const sembuf, count: usize, time: *const timespec) -> c_int |me| {
        conclude!(me, operate(Caller::plain(me), id, operations, count, time))
    }

    fn mq_receive(fd: c_int, buffer: usize, size: usize, priority: usize) -> isize |me| {
        let request = request(libc::SYS_mq_timedreceive, [fd as usize, buffer, size, priority, 0]);
        conclude!(me, queue(Caller::function(me), libc::POLLIN, request))
    }

    fn mq_timedreceive(fd: c_int, buffer: usize, size: usize, priority: usize, time: usize) -> isize |me| {
        let request = request(libc::SYS_mq_timedreceive, [fd as usize, buffer, size, priority, time]);
        conclude!(me, queue(Caller::function(me), libc::POLLIN, request))
    }

    fn mq_send(fd: c_int, buffer: usize, size: usize, priority: c_uint) -> c_int |me| {
        let request = request(libc::SYS_mq_timedsend, [fd as usize, buffer, size, priority as usize, 0]);
        conclude!(me, queue(Caller::function(me), libc::POLLOUT, request))
    }

    fn mq_timedsend(fd: c_int, buffer: usize, size: usize, priority: c_uint, time: usize) -> c_int |me| {
        let request = request(libc::SYS_mq_timedsend, [fd as usize, buffer, size, priority as usize, time]);
        conclude!(me, queue(Caller::function(me), libc::POLLOUT, request))
    }
}
