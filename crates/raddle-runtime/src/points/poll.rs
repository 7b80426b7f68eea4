//! poll, select and epoll_wait: the descriptors are asked without waiting, and asked again when
//! something may have changed. Time-outs go by the virtual clock; without descriptors they sleep.

use core::ffi::{c_int, c_void};

use libc::{nfds_t, pollfd, timespec, timeval, EINVAL};
use raddle_core::{Event, EventKind, ThreadId};

use super::descriptor_table::TABLE;
use super::outside::{conclude, touched, After, Caller, Cancelled, Outcome, Watched, INTERRUPTED};
use super::signal::set_mask;
use super::time::{from_now, nanoseconds, valid};
use crate::control::{scheduler, state};
use crate::model::descriptor::key;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::{interpose, real, sys, syscall};

/// The deadline of a call that does not wait.
const AT_ONCE: u64 = 0;
/// Descriptors that select is told about, at most.
const MOST: usize = 4096;
/// Descriptors of a select that the process sleeps on while nobody can run; more are asked now and
/// then.
const SLEPT_ON: usize = 64;

/// Milliseconds, negative for ever.
pub(super) fn milliseconds(time: c_int) -> u64 {
    match time {
        0 => AT_ONCE,
        _ if time < 0 => NEVER,
        _ => from_now(time as u64 * 1_000_000),
    }
}

/// A timespec, null for ever; `None` when it is none.
unsafe fn duration(time: *const timespec) -> Option<u64> {
    // SAFETY: the caller's pointer.
    unsafe {
        if time.is_null() {
            return Some(NEVER);
        }
        if !valid(time) || (*time).tv_sec < 0 {
            return None;
        }
        Some(match nanoseconds(time) {
            0 => AT_ONCE,
            time => from_now(time),
        })
    }
}

/// What is left of a time-out.
fn left(deadline: u64) -> u64 {
    // SAFETY: the caller holds the baton.
    deadline.saturating_sub(unsafe { scheduler() }.clock.now())
}

/// The signal mask of the calling thread, changed for one call.
struct Masked {
    me: ThreadId,
    before: Option<u64>,
}

impl Masked {
    /// Sets the mask, if there is one; handlers of what it lets through run at once.
    unsafe fn set(me: ThreadId, mask: *const u64) -> Masked {
        if mask.is_null() {
            return Masked { me, before: None };
        }
        // SAFETY: the caller's mask; the baton.
        unsafe {
            let before = scheduler().threads[me.index()].signal_mask;
            set_mask(me, *mask);
            Masked { me, before: Some(before) }
        }
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the caller holds the baton.
            unsafe { set_mask(self.me, before) };
        }
    }
}

/// Asks, waits and asks again: how all of these calls work. `ask` says what the call returns, 0 when
/// nothing is ready; `wait` waits until that may have changed.
unsafe fn until_ready<T>(
    caller: Caller,
    object: usize,
    deadline: u64,
    mask: *const u64,
    asked: &mut T,
    ask: impl Fn(&mut T) -> isize,
    wait: impl Fn(&mut T, Caller) -> Result<Wake, Cancelled>,
) -> Outcome {
    let caller = caller.point(EventKind::Poll, object)?;
    // SAFETY: the caller's mask.
    let _masked = unsafe { Masked::set(caller.me, mask) };
    loop {
        let result = ask(asked);
        if result != 0 {
            return Ok(result);
        }
        if deadline == AT_ONCE {
            caller.made_no_progress();
            return Ok(if caller.is_interrupted(After::Fail) { INTERRUPTED } else { 0 });
        }
        match wait(asked, caller)? {
            Wake::TimedOut => return Ok(ask(asked)),
            Wake::Interrupted => return Ok(INTERRUPTED),
            _ => {}
        }
    }
}

/// Descriptors to wait for; without any, only time and signals end the wait.
fn any_of(descriptors: &[pollfd], test: unsafe fn(*mut c_void) -> bool, context: *mut c_void, sleep: bool) -> Wait {
    let mut watched = descriptors.iter().filter(|d| d.fd >= 0);
    if sleep && watched.clone().next().is_none() {
        return Wait::Event;
    }
    // SAFETY: the caller holds the baton.
    let closed = sleep && watched.all(|d| unsafe { state() }.closed_descriptors.contains(d.fd));
    let pointer = if sleep { descriptors.as_ptr().cast_mut() } else { core::ptr::null_mut() };
    Wait::Polled(Polled { test, context, descriptors: pointer, count: descriptors.len() as u32, closed })
}

/// The descriptors of a poll.
struct Set {
    descriptors: *mut pollfd,
    count: nfds_t,
}

unsafe fn set_is_ready(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait, and the array of the waiting call.
    unsafe {
        let set = &*context.cast::<Set>();
        syscall!(libc::SYS_poll, set.descriptors, set.count, 0) != 0
    }
}

/// ppoll(2).
pub(super) unsafe fn poll_until(caller: Caller, descriptors: *mut pollfd, count: nfds_t, deadline: u64, mask: *const u64) -> Outcome {
    let mut set = Set { descriptors, count };
    let context = (&raw mut set).cast();
    // SAFETY: the caller's array, as long as the kernel accepts the number.
    let entries = match count {
        0 => &[],
        _ if count > 1 << 20 => return Ok(-(EINVAL as isize)),
        _ => unsafe { core::slice::from_raw_parts(descriptors, count as usize) },
    };
    let mut until = any_of(entries, set_is_ready, context, true);
    let object = entries.first().map_or(0, |d| key(d.fd));
    // SAFETY: the caller's array and mask.
    unsafe {
        until_ready(
            caller,
            object,
            deadline,
            mask,
            &mut until,
            |_| syscall!(libc::SYS_poll, descriptors, count, 0),
            |&mut until, caller| caller.wait(Event::new(EventKind::Poll, object), until, deadline, After::Fail),
        )
    }
}

/// ppoll(2) with its time-out, which the kernel's own call updates.
pub(super) unsafe fn poll_for(caller: Caller, descriptors: *mut pollfd, count: nfds_t, time: *mut timespec, mask: *const u64, update: bool) -> Outcome {
    // SAFETY: the caller's pointers.
    unsafe {
        let Some(deadline) = duration(time) else { return Ok(-(EINVAL as isize)) };
        let result = poll_until(caller, descriptors, count, deadline, mask)?;
        if update && !time.is_null() {
            *time = sys::timespec(left(deadline));
        }
        Ok(result)
    }
}

type Bits = [u64; MOST / 64];

/// The three sets of a select.
#[derive(Clone, Copy)]
struct Sets {
    highest: usize,
    given: [bool; 3],
    bits: [Bits; 3],
}

impl Sets {
    unsafe fn from_caller(highest: usize, sets: [*mut u64; 3]) -> Sets {
        let mut copy = Sets { highest, given: sets.map(|s| !s.is_null()), bits: [[0; MOST / 64]; 3] };
        for (bits, set) in copy.bits.iter_mut().zip(sets).filter(|(_, set)| !set.is_null()) {
            // SAFETY: the caller's sets have room for `highest` bits.
            unsafe { set.copy_to_nonoverlapping(bits.as_mut_ptr(), highest.div_ceil(64)) };
        }
        copy
    }

    unsafe fn give_back(&self, sets: [*mut u64; 3]) {
        for (bits, set) in self.bits.iter().zip(sets).filter(|(_, set)| !set.is_null()) {
            // SAFETY: as above.
            unsafe { set.copy_from_nonoverlapping(bits.as_ptr(), self.highest.div_ceil(64)) };
        }
    }

    /// Asks the kernel, which leaves in the sets what is ready.
    unsafe fn ask(&mut self) -> isize {
        let zero = sys::timespec(0);
        let given = self.given;
        let [read, write, except] = &mut self.bits;
        let pointer = |bits: &mut Bits, given: bool| if given { bits.as_mut_ptr() } else { core::ptr::null_mut() };
        // SAFETY: sets of the runtime's own.
        unsafe {
            syscall!(
                libc::SYS_pselect6,
                self.highest,
                pointer(read, given[0]),
                pointer(write, given[1]),
                pointer(except, given[2]),
                &zero as *const _,
                0
            )
        }
    }

    /// The same for poll; says how many there are, `None` when there is no room for all.
    fn entries(&self, into: &mut [pollfd; SLEPT_ON]) -> Option<usize> {
        let mut count = 0;
        for fd in 0..self.highest {
            let mut events = 0;
            for (bits, event) in self.bits.iter().zip([libc::POLLIN, libc::POLLOUT, libc::POLLPRI]) {
                if bits[fd / 64] >> (fd % 64) & 1 != 0 {
                    events |= event;
                }
            }
            if events != 0 {
                *into.get_mut(count)? = pollfd { fd: fd as c_int, events, revents: 0 };
                count += 1;
            }
        }
        Some(count)
    }
}

unsafe fn sets_are_ready(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait.
    unsafe { (*context.cast::<Sets>()).clone().ask() != 0 }
}

/// pselect(2).
pub(super) unsafe fn select_until(caller: Caller, highest: c_int, sets: [*mut u64; 3], deadline: u64, mask: *const u64) -> Outcome {
    if highest < 0 {
        return Ok(-(EINVAL as isize));
    }
    // SAFETY: the caller's sets.
    unsafe {
        let mut wanted = Sets::from_caller((highest as usize).min(MOST), sets);
        let mut entries = [pollfd { fd: -1, events: 0, revents: 0 }; SLEPT_ON];
        let count = wanted.entries(&mut entries);
        let context = (&raw mut wanted).cast();
        let until = any_of(&entries[..count.unwrap_or(0)], sets_are_ready, context, count.is_some());
        let object = key(entries[0].fd);
        let mut ready = wanted;
        let ask = |ready: &mut Sets| {
            *ready = *context.cast::<Sets>();
            ready.ask()
        };
        let wait = |_: &mut Sets, caller: Caller| {
            caller.wait(Event::new(EventKind::Poll, object), until, deadline, After::Fail)
        };
        let result = until_ready(caller, object, deadline, mask, &mut ready, ask, wait)?;
        if result >= 0 {
            ready.give_back(sets);
        }
        Ok(result)
    }
}

/// select(2): the time that is left is told.
pub(super) unsafe fn select_for(caller: Caller, highest: c_int, sets: [*mut u64; 3], time: *mut timeval) -> Outcome {
    // SAFETY: the caller's pointers.
    unsafe {
        let deadline = if time.is_null() {
            NEVER
        } else if (*time).tv_sec < 0 || (*time).tv_usec < 0 {
            return Ok(-(EINVAL as isize));
        } else {
            let time = ((*time).tv_sec as u64).saturating_mul(1_000_000_000).saturating_add((*time).tv_usec as u64 * 1000);
            if time == 0 { AT_ONCE } else { from_now(time) }
        };
        let result = select_until(caller, highest, sets, deadline, core::ptr::null())?;
        if !time.is_null() {
            let left = left(deadline);
            *time = timeval { tv_sec: (left / 1_000_000_000) as i64, tv_usec: (left % 1_000_000_000 / 1000) as i64 };
        }
        Ok(result)
    }
}

/// pselect(2) with its time-out, which the kernel's own call updates.
pub(super) unsafe fn select_pointers(caller: Caller, highest: c_int, sets: [*mut u64; 3], time: *mut timespec, mask: *const u64, update: bool) -> Outcome {
    // SAFETY: the caller's pointers.
    unsafe {
        let Some(deadline) = duration(time) else { return Ok(-(EINVAL as isize)) };
        let result = select_until(caller, highest, sets, deadline, mask)?;
        if update && !time.is_null() {
            *time = sys::timespec(left(deadline));
        }
        Ok(result)
    }
}

/// epoll_pwait(2).
pub(super) unsafe fn epoll_until(caller: Caller, fd: c_int, events: usize, most: c_int, deadline: u64, mask: *const u64) -> Outcome {
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
            |watched, caller| watched.wait_until(caller, EventKind::Poll, deadline, After::Fail),
        )
    }
}

/// epoll_pwait2(2).
pub(super) unsafe fn epoll_for(caller: Caller, fd: c_int, events: usize, most: c_int, time: *const timespec, mask: *const u64) -> Outcome {
    // SAFETY: the caller's pointers.
    unsafe {
        let Some(deadline) = duration(time) else { return Ok(-(EINVAL as isize)) };
        epoll_until(caller, fd, events, most, deadline, mask)
    }
}

/// epoll_create1(2). As long as it watches closed descriptors only, it is closed too.
pub(super) unsafe fn epoll_make(caller: Caller, number: i64, argument: c_int) -> Outcome {
    caller.point(EventKind::Syscall, TABLE)?;
    // SAFETY: no memory is involved; the baton.
    unsafe {
        let fd = syscall!(number, argument);
        state().closed_descriptors.set(fd as c_int, true);
        Ok(fd)
    }
}

/// epoll_ctl(2).
pub(super) unsafe fn epoll_change(caller: Caller, set: c_int, operation: c_int, fd: c_int, event: usize) -> Outcome {
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
    /// Waits for one of several descriptors.
    fn poll(descriptors: *mut pollfd, count: nfds_t, time: c_int) -> c_int |me| {
        conclude!(me, poll_until(Caller::function(me), descriptors, count, milliseconds(time), core::ptr::null()))
    }

    /// Waits for one of several descriptors, for code compiled with _FORTIFY_SOURCE.
    fn __poll_chk(descriptors: *mut pollfd, count: nfds_t, time: c_int, room: usize) -> c_int |me| {
        if room / size_of::<pollfd>() < count as usize {
            return real!(__poll_chk: fn(*mut pollfd, nfds_t, c_int, usize) -> c_int)(descriptors, count, time, room);
        }
        conclude!(me, poll_until(Caller::function(me), descriptors, count, milliseconds(time), core::ptr::null()))
    }

    /// Waits for one of several descriptors.
    fn ppoll(descriptors: *mut pollfd, count: nfds_t, time: *mut timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, poll_for(Caller::function(me), descriptors, count, time, mask, false))
    }

    /// Waits for one of several descriptors, for code compiled with _FORTIFY_SOURCE.
    fn __ppoll_chk(descriptors: *mut pollfd, count: nfds_t, time: *mut timespec, mask: *const u64, room: usize) -> c_int |me| {
        if room / size_of::<pollfd>() < count as usize {
            return real!(__ppoll_chk: fn(*mut pollfd, nfds_t, *mut timespec, *const u64, usize) -> c_int)(descriptors, count, time, mask, room);
        }
        conclude!(me, poll_for(Caller::function(me), descriptors, count, time, mask, false))
    }

    /// Waits for descriptors in sets.
    fn select(highest: c_int, read: *mut u64, write: *mut u64, except: *mut u64, time: *mut timeval) -> c_int |me| {
        conclude!(me, select_for(Caller::function(me), highest, [read, write, except], time))
    }

    /// Waits for descriptors in sets.
    fn pselect(highest: c_int, read: *mut u64, write: *mut u64, except: *mut u64, time: *mut timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, select_pointers(Caller::function(me), highest, [read, write, except], time, mask, false))
    }

    /// Waits for events of a set.
    fn epoll_wait(fd: c_int, events: usize, most: c_int, time: c_int) -> c_int |me| {
        conclude!(me, epoll_until(Caller::function(me), fd, events, most, milliseconds(time), core::ptr::null()))
    }

    /// Waits for events of a set.
    fn epoll_pwait(fd: c_int, events: usize, most: c_int, time: c_int, mask: *const u64) -> c_int |me| {
        conclude!(me, epoll_until(Caller::function(me), fd, events, most, milliseconds(time), mask))
    }

    /// Waits for events of a set.
    fn epoll_pwait2(fd: c_int, events: usize, most: c_int, time: *const timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, epoll_for(Caller::function(me), fd, events, most, time, mask))
    }

    /// Makes a set of descriptors.
    fn epoll_create(size: c_int) -> c_int |me| {
        conclude!(me, epoll_make(Caller::plain(me), libc::SYS_epoll_create, size))
    }

    /// Makes a set of descriptors.
    fn epoll_create1(flags: c_int) -> c_int |me| {
        conclude!(me, epoll_make(Caller::plain(me), libc::SYS_epoll_create1, flags))
    }

    /// Changes a set of descriptors.
    fn epoll_ctl(set: c_int, operation: c_int, fd: c_int, event: usize) -> c_int |me| {
        conclude!(me, epoll_change(Caller::plain(me), set, operation, fd, event))
    }
}

/// The mask of a trapped pselect6, which is behind one more pointer.
pub(super) unsafe fn mask_of(pointer: *const *const u64) -> *const u64 {
    if pointer.is_null() {
        return core::ptr::null();
    }
    // SAFETY: the caller's structure of the mask's address and its size.
    unsafe { *pointer }
}
