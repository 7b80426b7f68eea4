//! select and pselect.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

use libc::{pollfd, timespec, timeval, EINVAL};
use raddle_core::{Event, EventKind};

use super::kernel_wait::{conclude, AfterHandler, CallResult, Caller};
use super::poll::{any_of, left, until_ready, with_time, AT_ONCE};
use super::time::from_now;
use crate::model::descriptor::{entries_of, key, Bits, MOST_IN_SET, WORDS};
use crate::os::sys;
use crate::scheduler::clock::NEVER;
use crate::{interpose, syscall};

/// Descriptors that the process sleeps on while no thread can run; more are polled from time to time.
const SLEPT_ON: usize = 64;

/// The three sets of a select.
#[derive(Clone, Copy)]
struct Sets {
    highest: usize,
    given: [bool; 3],
    bits: [Bits; 3],
}

impl Sets {
    unsafe fn from_caller(highest: usize, sets: [*mut u64; 3]) -> Sets {
        let mut copy = Sets { highest, given: sets.map(|s| !s.is_null()), bits: [[0; WORDS]; 3] };
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
}

unsafe fn sets_are_ready(context: *mut c_void) -> bool {
    // SAFETY: the context of this wait.
    unsafe {
        let mut sets = *context.cast::<Sets>();
        sets.ask() != 0
    }
}

/// pselect(2).
pub(super) unsafe fn select_until(
    caller: Caller,
    highest: c_int,
    sets: [*mut u64; 3],
    deadline: u64,
    mask: *const u64,
) -> CallResult {
    if highest < 0 {
        return Ok(-(EINVAL as isize));
    }
    // SAFETY: the caller's sets.
    unsafe {
        let mut wanted = Sets::from_caller((highest as usize).min(MOST_IN_SET), sets);
        let mut entries = [pollfd { fd: -1, events: 0, revents: 0 }; SLEPT_ON];
        let count = entries_of(&wanted.bits, wanted.highest, &mut entries);
        let slept_on = &entries[..count.unwrap_or(0)];
        let wanted = &raw mut wanted;
        let object = slept_on.first().map_or(0, |entry| key(entry.fd));
        let mut ready = *wanted;
        let ask = |ready: &mut Sets| {
            *ready = *wanted;
            ready.ask()
        };
        let wait = |_: &mut Sets, caller: Caller| {
            let mut polled = MaybeUninit::uninit();
            let until = any_of(slept_on, sets_are_ready, wanted.cast(), count.is_some(), &mut polled);
            caller.wait(Event::new(EventKind::Poll, object), until, deadline, AfterHandler::Fail)
        };
        let result = until_ready(caller, object, deadline, mask, &mut ready, ask, wait)?;
        if result >= 0 {
            ready.give_back(sets);
        }
        Ok(result)
    }
}

/// select(2): the caller gets the time that is left.
pub(super) unsafe fn select_for(caller: Caller, highest: c_int, sets: [*mut u64; 3], time: *mut timeval) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe {
        let deadline = if time.is_null() {
            NEVER
        } else if (*time).tv_sec < 0 || (*time).tv_usec < 0 {
            return Ok(-(EINVAL as isize));
        } else {
            let time =
                ((*time).tv_sec as u64).saturating_mul(1_000_000_000).saturating_add((*time).tv_usec as u64 * 1000);
            if time == 0 {
                AT_ONCE
            } else {
                from_now(time)
            }
        };
        let result = select_until(caller, highest, sets, deadline, core::ptr::null())?;
        if !time.is_null() {
            let left = left(deadline);
            *time = timeval { tv_sec: (left / 1_000_000_000) as i64, tv_usec: (left % 1_000_000_000 / 1000) as i64 };
        }
        Ok(result)
    }
}

/// pselect(2) with its time-out.
pub(super) unsafe fn select_pointers(
    caller: Caller,
    highest: c_int,
    sets: [*mut u64; 3],
    time: *mut timespec,
    mask: *const u64,
    update: bool,
) -> CallResult {
    // SAFETY: the caller's pointers.
    unsafe { with_time(time, update, |deadline| select_until(caller, highest, sets, deadline, mask)) }
}

/// The mask of a trapped pselect6, which is behind one more pointer.
pub(super) unsafe fn mask_of(pointer: *const *const u64) -> *const u64 {
    if pointer.is_null() {
        return core::ptr::null();
    }
    // SAFETY: the caller's structure of the mask's address and its size.
    unsafe { *pointer }
}

interpose! {
    fn select(highest: c_int, read: *mut u64, write: *mut u64, except: *mut u64, time: *mut timeval) -> c_int |me| {
        conclude!(me, select_for(Caller::function(me), highest, [read, write, except], time))
    }

    fn pselect(highest: c_int, read: *mut u64, write: *mut u64, except: *mut u64, time: *mut timespec, mask: *const u64) -> c_int |me| {
        conclude!(me, select_pointers(Caller::function(me), highest, [read, write, except], time, mask, false))
    }
}
