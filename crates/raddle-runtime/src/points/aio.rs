//! Asynchronous input and output: aio(7). The control block is glibc's, so that its fields mean the same in a forked
//! child.

use core::ffi::{c_int, CStr};

use libc::{timespec, EAGAIN, EBADF, ECANCELED, EINPROGRESS, EINVAL, EIO};
use raddle_core::{EventKind, ThreadId};

use super::asynchronous::{
    blocks_in, deadline_after, learn, request_point, start_workers, wait_for_all, wait_for_one, withdraw, Kind,
};
use super::callback::tell;
use super::descriptor::{at_offset, read_one, write_one, DescriptorKind};
use super::fail;
use super::kernel_wait::{conclude, CallResult, Caller, AGAIN, INTERRUPTED};
use crate::control::{scheduler, state};
use crate::model::descriptor::key;
use crate::model::requests::{Group, Requests};
use crate::model::signal_event::SignalEvent;
use crate::scheduler::thread::Wake;
use crate::{interpose, race, syscall};

/// glibc's `struct aiocb`, which is `struct aiocb64` too.
#[repr(C)]
pub struct Control {
    fd: c_int,
    operation: c_int,
    priority: c_int,
    buffer: usize,
    size: usize,
    event: SignalEvent,
    rest_of_event: [u64; 4],
    next: usize,
    absolute_priority: c_int,
    policy: c_int,
    error: c_int,
    result: isize,
    offset: i64,
}

/// glibc's `struct aioinit`, as far as it is used.
#[repr(C)]
pub struct Limits {
    workers: c_int,
}

const LIO_READ: c_int = 0;
const LIO_WRITE: c_int = 1;
const LIO_NOP: c_int = 2;
/// glibc's own numbers.
const DATA_SYNC: c_int = 3;
const SYNC: c_int = 4;

/// The modes of lio_listio.
const LIO_WAIT: c_int = 0;
const LIO_NOWAIT: c_int = 1;

/// What aio_cancel returns.
const CANCELED: c_int = 0;
const NOT_CANCELED: c_int = 1;
const ALL_DONE: c_int = 2;

/// How much a request can be less urgent than its thread (AIO_PRIO_DELTA_MAX).
const LEAST_URGENT: c_int = 20;

/// Requests of input and output.
struct Aio;

impl Kind for Aio {
    const NAME: &'static CStr = c"aio";
    const OBJECT: usize = 0x3000_0000;
    const CODE: c_int = libc::SI_ASYNCIO;

    unsafe fn requests() -> &'static mut Requests {
        // SAFETY: the caller holds the baton.
        unsafe { &mut state().aio }
    }

    unsafe fn perform(me: ThreadId, control: usize) -> isize {
        // SAFETY: the program's control block.
        let Control { fd, operation, buffer, size, offset, .. } = *unsafe { block(control) };
        let caller = Caller::plain(me);
        loop {
            // SAFETY: the program's buffer.
            let done = unsafe {
                // As in libc, a descriptor that cannot be sought in is read as it comes.
                let sought = offset < 0 || DescriptorKind::of(fd) == DescriptorKind::Plain;
                let offset = offset as usize;
                match operation {
                    LIO_READ if sought => {
                        at_offset(caller, EventKind::Read, libc::SYS_pread64, fd, buffer, size, offset)
                    }
                    LIO_READ => read_one(caller, fd, buffer, size),
                    LIO_WRITE if sought => {
                        at_offset(caller, EventKind::Write, libc::SYS_pwrite64, fd, buffer, size, offset)
                    }
                    LIO_WRITE => write_one(caller, fd, buffer, size),
                    SYNC => synchronise(caller, libc::SYS_fsync, fd),
                    DATA_SYNC => synchronise(caller, libc::SYS_fdatasync, fd),
                    _ => Ok(-(EINVAL as isize)),
                }
            };
            // A worker blocks all signals and is not known to those who might cancel it.
            match done {
                Ok(INTERRUPTED) | Err(_) => {}
                Ok(result) => return result,
            }
        }
    }

    unsafe fn is_in_progress(control: usize) -> bool {
        // SAFETY: the program's control block.
        unsafe { block(control) }.error == EINPROGRESS
    }

    unsafe fn conclude(control: usize, result: isize) -> (bool, SignalEvent) {
        // SAFETY: the program's control block.
        let control = unsafe { block(control) };
        control.result = result.max(-1);
        control.error = if result < 0 { -result as c_int } else { 0 };
        (result < 0, control.event)
    }
}

/// The control block at an address.
unsafe fn block<'a>(control: usize) -> &'a mut Control {
    // SAFETY: the caller's promise that it is one.
    unsafe { &mut *(control as *mut Control) }
}

unsafe fn synchronise(caller: Caller, number: i64, fd: c_int) -> CallResult {
    caller.point(EventKind::Syscall, key(fd))?;
    // SAFETY: no memory is involved.
    Ok(unsafe { syscall!(number, fd) })
}

/// Whether a descriptor is open.
fn is_open(fd: c_int) -> bool {
    // SAFETY: no memory is involved.
    unsafe { syscall!(libc::SYS_fcntl, fd, libc::F_GETFL) >= 0 }
}

/// Adds a request; an error number, which its control block says too.
unsafe fn add(me: ThreadId, control: usize, operation: c_int, group: Option<Group>) -> Result<(), c_int> {
    // SAFETY: the program's control block; `me` holds the baton.
    unsafe {
        let it = block(control);
        if operation == SYNC || operation == DATA_SYNC {
            it.priority = 0;
        } else if !(0..=LEAST_URGENT).contains(&it.priority) {
            (it.error, it.result) = (EINVAL, -1);
            return Err(EINVAL);
        }
        let mut scheduling = libc::sched_param { sched_priority: 0 };
        syscall!(libc::SYS_sched_getparam, 0, &mut scheduling as *mut _);
        let priority = scheduling.sched_priority - it.priority;
        if !Aio::requests().add(control, it.fd as u32 as u64, priority, group) {
            return Err(EAGAIN);
        }
        (it.operation, it.error, it.result) = (operation, EINPROGRESS, 0);
        race::release(me, control);
        Ok(())
    }
}

/// aio_read, aio_write and aio_fsync.
unsafe fn submit(me: ThreadId, control: usize, operation: c_int) -> c_int {
    request_point::<Aio>(me, EventKind::Request);
    // SAFETY: the program's control block; `me` holds the baton whenever it runs.
    unsafe {
        if let Err(error) = add(me, control, operation, None) {
            return fail(error);
        }
        if let Err(error) = start_workers::<Aio>(me) {
            if Aio::requests().is_running(control) == Some(false) {
                Aio::requests().remove(control, true);
                block(control).error = error;
                return fail(error);
            }
        }
        0
    }
}

unsafe fn synchronise_later(me: ThreadId, operation: c_int, control: usize) -> c_int {
    // SAFETY: the program's control block.
    unsafe {
        match operation {
            libc::O_SYNC | libc::O_DSYNC if !is_open(block(control).fd) => fail(EBADF),
            libc::O_SYNC => submit(me, control, SYNC),
            libc::O_DSYNC => submit(me, control, DATA_SYNC),
            _ => fail(EINVAL),
        }
    }
}

unsafe fn error_of(me: ThreadId, control: usize) -> c_int {
    request_point::<Aio>(me, EventKind::RequestCheck);
    // SAFETY: the program's control block; `me` holds the baton.
    unsafe {
        learn::<Aio>(me, control);
        let error = block(control).error;
        if error == EINPROGRESS {
            scheduler().made_no_progress(me);
        }
        error
    }
}

unsafe fn result_of(me: ThreadId, control: usize) -> isize {
    // SAFETY: the program's control block; `me` holds the baton.
    unsafe {
        learn::<Aio>(me, control);
        block(control).result
    }
}

unsafe fn cancel(me: ThreadId, fd: c_int, control: usize) -> c_int {
    if !is_open(fd) {
        return fail(EBADF);
    }
    request_point::<Aio>(me, EventKind::Request);
    // SAFETY: the program's control block; `me` holds the baton whenever it runs.
    unsafe {
        if control == 0 {
            return cancel_all(me, fd);
        }
        if block(control).fd != fd {
            return fail(EINVAL);
        }
        if !Aio::is_in_progress(control) {
            return ALL_DONE;
        }
        match Aio::requests().is_running(control) {
            None => fail(EINVAL),
            Some(true) => NOT_CANCELED,
            Some(false) => {
                withdraw::<Aio>(me, control, -(ECANCELED as isize));
                CANCELED
            }
        }
    }
}

/// Cancels the requests of a descriptor that have not begun.
unsafe fn cancel_all(me: ThreadId, fd: c_int) -> c_int {
    let line = fd as u32 as u64;
    // SAFETY: as above.
    unsafe {
        let up_to = Aio::requests().last_arrival();
        let mut answer = if Aio::requests().is_busy(line) { NOT_CANCELED } else { ALL_DONE };
        while let Some(control) = Aio::requests().waiting(line, up_to) {
            withdraw::<Aio>(me, control, -(ECANCELED as isize));
            if answer == ALL_DONE {
                answer = CANCELED;
            }
        }
        answer
    }
}

unsafe fn suspend(me: ThreadId, list: *const usize, count: c_int, time: *const timespec) -> CallResult {
    if count < 0 {
        return Ok(-(EINVAL as isize));
    }
    request_point::<Aio>(me, EventKind::RequestWait);
    // SAFETY: the program's list, control blocks and time; `me` holds the baton whenever it runs.
    unsafe {
        let under_way = |control| Aio::is_in_progress(control) && Aio::requests().is_running(control).is_some();
        let mut blocks = blocks_in(list, count);
        if blocks.clone().next().is_none() || !blocks.all(under_way) {
            blocks_in(list, count).for_each(|control| learn::<Aio>(me, control));
            return Ok(0);
        }
        let Some(deadline) = deadline_after(time) else {
            scheduler().made_no_progress(me);
            return Ok(AGAIN);
        };
        Ok(match wait_for_one::<Aio>(me, list, count, deadline)? {
            Wake::TimedOut => AGAIN,
            Wake::Interrupted => INTERRUPTED,
            _ => 0,
        })
    }
}

/// lio_listio.
unsafe fn submit_all(
    me: ThreadId,
    mode: c_int,
    list: *const usize,
    count: c_int,
    event: *const SignalEvent,
) -> CallResult {
    if mode != LIO_WAIT && mode != LIO_NOWAIT {
        return Ok(-(EINVAL as isize));
    }
    request_point::<Aio>(me, EventKind::Request);
    // SAFETY: the program's list, control blocks and event; `me` holds the baton whenever it runs.
    unsafe {
        let event = event.as_ref().copied().unwrap_or(SignalEvent::NONE);
        let Some(group) = Aio::requests().open_group((mode == LIO_NOWAIT).then_some(event)) else { return Ok(AGAIN) };
        let mut error = 0;
        // All are added before a worker can take one.
        for control in blocks_in(list, count).filter(|&control| block(control).operation != LIO_NOP) {
            if let Err(refused) = add(me, control, block(control).operation, Some(group)) {
                error = refused;
            }
        }
        let none = Aio::requests().left(group) == 0;
        if none {
            Aio::requests().close_group(group);
            if mode == LIO_NOWAIT {
                tell(me, &[event], Aio::CODE);
            }
            return Ok(-error as isize);
        }
        if let Err(error) = start_workers::<Aio>(me) {
            let waits = |&control: &usize| Aio::requests().is_running(control) == Some(false);
            for control in blocks_in(list, count).filter(waits) {
                withdraw::<Aio>(me, control, -(error as isize));
            }
        }
        if mode == LIO_NOWAIT {
            return Ok(-error as isize);
        }
        let (wake, failed) = wait_for_all::<Aio>(me, group)?;
        blocks_in(list, count).for_each(|control| learn::<Aio>(me, control));
        Ok(match wake {
            Wake::Interrupted => INTERRUPTED,
            _ if failed || error != 0 => -(EIO as isize),
            _ => 0,
        })
    }
}

/// Interposes the functions that exist twice, for offsets of 64 bits too: here all have that.
macro_rules! interpose_both {
    ($($(#[$doc:meta])* fn $name:ident, $name64:ident $arguments:tt -> $ret:ty |$me:ident| $body:block)*) => {
        $(
            interpose! {
                $(#[$doc])*
                fn $name $arguments -> $ret |$me| $body

                $(#[$doc])*
                fn $name64 $arguments -> $ret |$me| $body
            }
        )*
    };
}

interpose_both! {
    fn aio_read, aio_read64(control: usize) -> c_int |me| {
        submit(me, control, LIO_READ)
    }

    fn aio_write, aio_write64(control: usize) -> c_int |me| {
        submit(me, control, LIO_WRITE)
    }

    fn aio_fsync, aio_fsync64(operation: c_int, control: usize) -> c_int |me| {
        synchronise_later(me, operation, control)
    }

    /// Whether a request is done, and how it went.
    fn aio_error, aio_error64(control: usize) -> c_int |me| {
        error_of(me, control)
    }

    fn aio_return, aio_return64(control: usize) -> isize |me| {
        result_of(me, control)
    }

    /// Cancels a request, or all of a descriptor.
    fn aio_cancel, aio_cancel64(fd: c_int, control: usize) -> c_int |me| {
        cancel(me, fd, control)
    }

    /// Waits until one of a list of requests is done.
    fn aio_suspend, aio_suspend64(list: *const usize, count: c_int, time: *const timespec) -> c_int |me| {
        conclude!(me, suspend(me, list, count, time))
    }

    /// Makes a list of requests.
    fn lio_listio, lio_listio64(mode: c_int, list: *const usize, count: c_int, event: *const SignalEvent) -> c_int |me| {
        conclude!(me, submit_all(me, mode, list, count, event))
    }
}

interpose! {
    /// Limits the number of workers. All else that it says is about libc's own tables.
    fn aio_init(limits: *const Limits) |_| {
        Aio::requests().limit_workers((*limits).workers.max(1) as u32);
    }
}

const _: () = {
    use core::mem::offset_of;
    assert!(
        offset_of!(Control, event) == 32 && offset_of!(Control, error) == 112 && offset_of!(Control, offset) == 128
    );
};
