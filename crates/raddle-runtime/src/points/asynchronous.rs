//! Asynchronous requests: what input and output (`aio`) and lookups of addresses (`address_lookup`) share.
//!
//! libc makes its threads for them by a call that cannot be interposed, so raddle performs the requests itself, in threads
//! of the schedule. `model/requests.rs` knows which request is next. A worker is created when a request has none, and
//! ends when there is nothing left to do; libc's ends after a second without work. Nothing is kept for requests of a
//! forked child: it has no workers, and goes on with libc's functions.

use core::ffi::{c_int, c_void, CStr};

use libc::timespec;
use raddle_core::{Event, EventKind, ThreadId};

use super::callback::{repeat, start_helper, tell, HelperName};
use super::kernel_wait::{touched, AfterHandler, Caller, Cancelled};
use super::time::from_now;
use crate::control::point;
use crate::model::requests::{Group, Requests};
use crate::model::signal_event::SignalEvent;
use crate::race;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};

/// A kind of request. Control blocks are the program's, and known by their addresses.
pub(super) trait Kind {
    /// The name of its workers.
    const NAME: &'static CStr;
    /// The object of all events on such requests: no address lies there.
    const OBJECT: usize;
    /// What a signal says that tells of a request.
    const CODE: c_int;

    /// All requests of the kind. The caller holds the baton.
    unsafe fn requests() -> &'static mut Requests;

    /// Performs a request. Returns what the control block is to say.
    unsafe fn perform(me: ThreadId, control: usize) -> isize;

    /// Whether the control block says that the request is not done.
    unsafe fn is_in_progress(control: usize) -> bool;

    /// Writes into the control block that the request is done. Returns whether it has failed, and how the program is told.
    unsafe fn conclude(control: usize, result: isize) -> (bool, SignalEvent);
}

/// A schedule point before an operation on requests of a kind.
pub(super) fn request_point<K: Kind>(me: ThreadId, kind: EventKind) {
    point(me, kind, K::OBJECT);
}

/// What the calling thread knows of a request from now on: all that was done for it.
pub(super) unsafe fn learn<K: Kind>(me: ThreadId, control: usize) {
    // SAFETY: the program's control block; `me` holds the baton.
    unsafe {
        if !K::is_in_progress(control) {
            race::acquire(me, control);
        }
    }
}

/// Creates workers as long as they are needed. An error means that there is not one.
pub(super) unsafe fn start_workers<K: Kind>(me: ThreadId) -> Result<(), c_int> {
    // SAFETY: `me` holds the baton whenever it runs; references end before a switch.
    unsafe {
        while K::requests().needs_worker() {
            if let Err(error) = start_helper(me, work::<K>) {
                return if K::requests().worker_ends() == 0 { Err(error) } else { Ok(()) };
            }
        }
    }
    Ok(())
}

/// Where a worker starts.
unsafe extern "C-unwind" fn work<K: Kind>(_: *mut c_void) -> *mut c_void {
    // SAFETY: a thread under control; the program's control blocks.
    unsafe {
        let name = HelperName::set(K::NAME);
        repeat(|me| {
            let Some(control) = K::requests().take() else {
                K::requests().worker_ends();
                return false;
            };
            race::acquire(me, control);
            let result = K::perform(me, control);
            race::release(me, control);
            request_point::<K>(me, EventKind::RequestDone);
            end::<K>(me, control, result, |events| name.put_aside(|| tell(me, events, K::CODE)));
            true
        });
    }
    core::ptr::null_mut()
}

/// Ends a request, all at once as far as other threads can see. `tell` tells the program of it.
unsafe fn end<K: Kind>(me: ThreadId, control: usize, result: isize, tell: impl FnOnce(&[SignalEvent])) {
    // SAFETY: the program's control block; `me` holds the baton.
    unsafe {
        let (failed, event) = K::conclude(control, result);
        let of_group = K::requests().remove(control, failed);
        race::release(me, control);
        touched();
        tell(&[event, of_group.unwrap_or(SignalEvent::NONE)]);
    }
}

/// Ends a request that no worker has taken.
pub(super) unsafe fn withdraw<K: Kind>(me: ThreadId, control: usize, result: isize) {
    // SAFETY: as above.
    unsafe { end::<K>(me, control, result, |events| tell(me, events, K::CODE)) };
}

/// A list of control blocks, as the program gives it: entries may be null.
pub(super) unsafe fn blocks_in<'a>(list: *const usize, count: c_int) -> impl Iterator<Item = usize> + Clone + 'a {
    let list: &'a [usize] = match count {
        // SAFETY: the caller's array.
        1.. => unsafe { core::slice::from_raw_parts(list, count as usize) },
        _ => &[],
    };
    list.iter().copied().filter(|&control| control != 0)
}

/// The deadline of a wait for some time, or for ever; `None`: it does not wait. As in libc, which only adds it to the
/// time that it is, the time may be improper.
pub(super) unsafe fn deadline_after(time: *const timespec) -> Option<u64> {
    // SAFETY: the caller's time.
    let Some(time) = (unsafe { time.as_ref() }) else { return Some(NEVER) };
    let duration = time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec);
    (duration > 0).then(|| from_now(duration as u64))
}

/// What a thread waits for that waits for one request of a list.
struct Awaited {
    list: *const usize,
    count: c_int,
    /// How many were in progress when the wait started.
    before: usize,
}

unsafe fn in_progress<K: Kind>(list: *const usize, count: c_int) -> usize {
    // SAFETY: the program's list and control blocks.
    unsafe { blocks_in(list, count).filter(|&control| K::is_in_progress(control)).count() }
}

unsafe fn one_is_done<K: Kind>(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait.
    unsafe {
        let awaited = &*context.cast::<Awaited>();
        in_progress::<K>(awaited.list, awaited.count) < awaited.before
    }
}

/// Waits until one of the requests of a list is done that are in progress. A cancellation point.
pub(super) unsafe fn wait_for_one<K: Kind>(
    me: ThreadId,
    list: *const usize,
    count: c_int,
    deadline: u64,
) -> Result<Wake, Cancelled> {
    // SAFETY: the program's list and control blocks.
    unsafe {
        let mut awaited = Awaited { list, count, before: in_progress::<K>(list, count) };
        // A futex, on which libc waits, continues after a handler only if it has no deadline.
        let after = if deadline == NEVER { AfterHandler::Restart } else { AfterHandler::Fail };
        let wake = wait_until::<K>(
            Caller::function(me).begin()?,
            one_is_done::<K>,
            (&raw mut awaited).cast(),
            deadline,
            after,
        )?;
        blocks_in(list, count).for_each(|control| learn::<K>(me, control));
        Ok(wake)
    }
}

unsafe fn all_are_done<K: Kind>(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait; the caller holds the baton.
    unsafe { K::requests().left(*context.cast::<Group>()) == 0 }
}

/// Waits until all requests of a group are done, and closes it. Returns how the wait ended, and whether one of them has
/// failed. Not a cancellation point, as in libc.
pub(super) unsafe fn wait_for_all<K: Kind>(me: ThreadId, mut group: Group) -> Result<(Wake, bool), Cancelled> {
    // SAFETY: `me` holds the baton whenever it runs.
    unsafe {
        let mut wake = Wake::Go;
        if K::requests().left(group) > 0 {
            let context = (&raw mut group).cast();
            let caller = Caller::plain(me).begin()?;
            wake = wait_until::<K>(caller, all_are_done::<K>, context, NEVER, AfterHandler::Restart)?;
        }
        Ok((wake, K::requests().close_group(group)))
    }
}

unsafe fn wait_until<K: Kind>(
    caller: Caller,
    test: unsafe fn(*mut c_void) -> bool,
    context: *mut c_void,
    deadline: u64,
    after: AfterHandler,
) -> Result<Wake, Cancelled> {
    // Only a worker, which is a thread of this process, can end it.
    let polled = Polled { test, context, descriptors: core::ptr::null_mut(), count: 0, closed: true };
    caller.wait(Event::new(EventKind::RequestWait, K::OBJECT), Wait::Polled(&raw const polled), deadline, after)
}
