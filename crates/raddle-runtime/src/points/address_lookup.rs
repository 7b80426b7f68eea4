//! Asynchronous lookups of addresses: getaddrinfo_a(3) and its relatives.
//!
//! The lookup itself is libc's getaddrinfo, called by a thread under control. As in glibc, and unlike what its manual says,
//! a cancelled lookup stays in progress for gai_error, nothing tells the program of it, and threads that wait for it go on
//! waiting.

use core::ffi::{c_int, CStr};

use libc::{timespec, EAGAIN, EINVAL};
use raddle_core::{EventKind, ThreadId};

use super::asynchronous::{
    blocks_in, deadline_after, learn, request_point, start_workers, wait_for_all, wait_for_one, withdraw, Kind,
};
use super::callback::tell;
use super::cancel::act_on_cancel;
use super::kernel_wait::Cancelled;
use super::set_errno;
use crate::control::{scheduler, state, unlocked};
use crate::model::requests::Requests;
use crate::model::signal_event::SignalEvent;
use crate::scheduler::thread::Wake;
use crate::{interpose, race, real};

/// glibc's `struct gaicb`.
#[repr(C)]
pub struct Control {
    name: usize,
    service: usize,
    hints: usize,
    found: usize,
    result: c_int,
}

const EAI_AGAIN: c_int = -3;
const EAI_SYSTEM: c_int = -11;
const EAI_INPROGRESS: c_int = -100;
const EAI_CANCELED: c_int = -101;
const EAI_NOTCANCELED: c_int = -102;
const EAI_ALLDONE: c_int = -103;
const EAI_INTR: c_int = -104;

/// The modes of getaddrinfo_a.
const GAI_WAIT: c_int = 0;
const GAI_NOWAIT: c_int = 1;

/// Lookups of addresses.
struct Lookup;

impl Kind for Lookup {
    const NAME: &'static CStr = c"getaddrinfo_a";
    const OBJECT: usize = 0x3000_0001;
    /// SI_ASYNCNL.
    const CODE: c_int = -60;

    unsafe fn requests() -> &'static mut Requests {
        // SAFETY: the caller holds the baton.
        unsafe { &mut state().lookups }
    }

    unsafe fn perform(me: ThreadId, control: usize) -> isize {
        // SAFETY: the program's control block, which is the worker's until the request is done.
        unsafe {
            let it = control as *mut Control;
            let (name, service, hints) = ((*it).name, (*it).service, (*it).hints);
            let found = &raw mut (*it).found;
            let look_up = real!(getaddrinfo: fn(usize, usize, usize, *mut usize) -> c_int);
            unlocked(me, || look_up(name, service, hints, found)) as isize
        }
    }

    unsafe fn is_in_progress(control: usize) -> bool {
        // SAFETY: the program's control block.
        unsafe { (*(control as *const Control)).result == EAI_INPROGRESS }
    }

    unsafe fn conclude(control: usize, result: isize) -> (bool, SignalEvent) {
        // SAFETY: as above.
        unsafe { (*(control as *mut Control)).result = result as c_int };
        (false, SignalEvent::NONE)
    }
}

/// What the functions return together with errno.
fn fail(error: c_int) -> c_int {
    set_errno(error);
    EAI_SYSTEM
}

/// getaddrinfo_a.
unsafe fn look_up_all(
    me: ThreadId,
    mode: c_int,
    list: *const usize,
    count: c_int,
    event: *const SignalEvent,
) -> Result<c_int, Cancelled> {
    if mode != GAI_WAIT && mode != GAI_NOWAIT {
        return Ok(fail(EINVAL));
    }
    request_point::<Lookup>(me, EventKind::Request);
    // SAFETY: the program's list, control blocks and event; `me` holds the baton whenever it runs.
    unsafe {
        let event = event.as_ref().copied().unwrap_or(SignalEvent::NONE);
        let requests = Lookup::requests();
        let Some(group) = requests.open_group((mode == GAI_NOWAIT).then_some(event)) else { return Ok(fail(EAGAIN)) };
        let mut answer = 0;
        // All are added before a worker can take one.
        for control in blocks_in(list, count) {
            // Each stands in a line of its own.
            if requests.add(control, control as u64, 0, Some(group)) {
                (*(control as *mut Control)).result = EAI_INPROGRESS;
                race::release(me, control);
            } else {
                answer = fail(EAGAIN);
            }
        }
        if requests.left(group) == 0 {
            requests.close_group(group);
            if mode == GAI_NOWAIT {
                tell(me, &[event], Lookup::CODE);
            }
            return Ok(answer);
        }
        if start_workers::<Lookup>(me).is_err() {
            let waits = |&control: &usize| Lookup::requests().is_running(control) == Some(false);
            for control in blocks_in(list, count).filter(waits) {
                withdraw::<Lookup>(me, control, EAI_AGAIN as isize);
            }
        }
        if mode == GAI_NOWAIT {
            return Ok(answer);
        }
        let (wake, _) = wait_for_all::<Lookup>(me, group)?;
        blocks_in(list, count).for_each(|control| learn::<Lookup>(me, control));
        Ok(if wake == Wake::Interrupted { EAI_INTR } else { answer })
    }
}

unsafe fn suspend(me: ThreadId, list: *const usize, count: c_int, time: *const timespec) -> Result<c_int, Cancelled> {
    request_point::<Lookup>(me, EventKind::RequestWait);
    // SAFETY: as above.
    unsafe {
        let under_way = |control| Lookup::is_in_progress(control) && Lookup::requests().is_running(control).is_some();
        if !blocks_in(list, count).any(under_way) {
            blocks_in(list, count).for_each(|control| learn::<Lookup>(me, control));
            return Ok(EAI_ALLDONE);
        }
        let Some(deadline) = deadline_after(time) else {
            scheduler().made_no_progress(me);
            return Ok(EAI_AGAIN);
        };
        Ok(match wait_for_one::<Lookup>(me, list, count, deadline)? {
            Wake::TimedOut => EAI_AGAIN,
            Wake::Interrupted => EAI_INTR,
            _ => 0,
        })
    }
}

interpose! {
    /// Looks up a list of addresses.
    fn getaddrinfo_a(mode: c_int, list: *const usize, count: c_int, event: *const SignalEvent) -> c_int |me| {
        match look_up_all(me, mode, list, count, event) {
            Ok(answer) => answer,
            Err(Cancelled) => { act_on_cancel(me); EAI_INTR }
        }
    }

    /// Waits until one of a list of lookups is done.
    fn gai_suspend(list: *const usize, count: c_int, time: *const timespec) -> c_int |me| {
        match suspend(me, list, count, time) {
            Ok(answer) => answer,
            Err(Cancelled) => { act_on_cancel(me); EAI_INTR }
        }
    }

    /// Whether a lookup is done, and how it went.
    fn gai_error(control: *const Control) -> c_int |me| {
        request_point::<Lookup>(me, EventKind::RequestCheck);
        learn::<Lookup>(me, control as usize);
        if Lookup::is_in_progress(control as usize) {
            scheduler().made_no_progress(me);
        }
        (*control).result
    }

    /// Cancels a lookup that has not begun.
    fn gai_cancel(control: usize) -> c_int |me| {
        request_point::<Lookup>(me, EventKind::Request);
        match Lookup::requests().is_running(control) {
            None => EAI_ALLDONE,
            Some(true) => EAI_NOTCANCELED,
            Some(false) => {
                Lookup::requests().forget(control);
                EAI_CANCELED
            }
        }
    }
}

const _: () = assert!(core::mem::offset_of!(Control, result) == 32);
