//! Calls that may wait in the kernel for something that is not modelled, where OS threads take turns.
//!
//! The caller keeps the baton, and another thread, which waits for the baton, watches it. After N polls in a row that
//! find the caller asleep in the kernel, it counts as blocked (NeedlePoint section 3.1.2, where N is the number of
//! yields of the waiting threads): from then on it waits outside, as for a descriptor, and the watcher decides which
//! thread goes on. When its call returns the caller can go on like any other thread, and waits for its turn. A call
//! that does not wait costs one poll, and changes nothing.
//!
//! Fibers have one OS thread, which must not wait: the run is repeated with OS threads.

use core::ffi::c_void;
use core::ptr::{self, addr_of_mut};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::{Escape, OsReason};

use crate::control::{self, baton, scheduler};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Life, Polled, Wait};
use crate::switch;

/// The call that is watched, by its number; [`NO_CALL`] when there is none. The one that sets it back decides: the
/// caller that it has returned, or the watcher that it is blocked.
static CALL: AtomicU32 = AtomicU32::new(NO_CALL);
const NO_CALL: u32 = 0;

/// The number of the last call.
static NUMBER: AtomicU32 = AtomicU32::new(NO_CALL);
/// The caller, by the kernel's id and by ours, and how its wait ends.
static CALLER_TID: AtomicI32 = AtomicI32::new(0);
static CALLER: AtomicU32 = AtomicU32::new(0);
static WAIT: AtomicPtr<Polled> = AtomicPtr::new(ptr::null_mut());

/// Nanoseconds between two polls.
const POLL: u64 = 200_000;

/// Makes a call that may wait in the kernel.
pub fn make<R>(me: ThreadId, call: impl FnOnce() -> R) -> R {
    if control::parallel() {
        return control::unlocked(me, call);
    }
    // SAFETY: `me` holds the baton; the reference ends before the call.
    let s = unsafe { scheduler() };
    if s.alive == 1 {
        return call();
    }
    if switch::fibers() {
        failure::needs_os_threads(OsReason::Waits);
        return call();
    }
    let waits = |t: &ThreadId| {
        let thread = &s.threads[t.index()];
        *t != me && thread.life == Life::Alive && !thread.blocked_outside
    };
    let Some(watcher) = (0..s.created).map(|i| ThreadId(i as u16)).find(waits) else { return call() };

    let mut back = AtomicBool::new(false);
    let mut wait = Polled {
        test: is_back,
        context: addr_of_mut!(back).cast(),
        descriptors: ptr::null_mut(),
        count: 0,
        closed: false,
    };
    CALLER.store(u32::from(me.0), Ordering::Relaxed);
    CALLER_TID.store(s.threads[me.index()].tid, Ordering::Relaxed);
    WAIT.store(addr_of_mut!(wait), Ordering::Relaxed);
    let number = NUMBER.load(Ordering::Relaxed).wrapping_add(1).max(1);
    NUMBER.store(number, Ordering::Relaxed);
    CALL.store(number, Ordering::Release);
    baton(watcher).ask_to_watch();
    let result = call();
    if CALL.compare_exchange(number, NO_CALL, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        sys::futex_wake(&CALL);
        return result;
    }
    // Another thread has the baton.
    back.store(true, Ordering::Release);
    baton(me).take();
    // SAFETY: `me` holds the baton again.
    let s = unsafe { scheduler() };
    s.thread(me).blocked_outside = false;
    s.depart(me);
    if s.instrumented {
        s.spin_sampler.reset();
    }
    result
}

/// # Safety
/// The context of a wait that goes on.
unsafe fn is_back(context: *mut c_void) -> bool {
    // SAFETY: an atomic on the stack of the caller, which waits until it is seen.
    unsafe { &*context.cast::<AtomicBool>() }.load(Ordering::Acquire)
}

/// Polls the caller until its call has returned, or until it counts as blocked: then the scheduler hands the baton on.
#[cold]
pub fn watch_caller() {
    let number = CALL.load(Ordering::Acquire);
    if number == NO_CALL {
        return;
    }
    let tid = CALLER_TID.load(Ordering::Relaxed);
    let caller = ThreadId(CALLER.load(Ordering::Relaxed) as u16);
    let wait = WAIT.load(Ordering::Relaxed);
    let mut asleep = 0;
    let yields = control::block().map_or(0, |block| block.settings.run.yields);
    while asleep <= yields {
        sys::futex_wait_for(&CALL, number, Some(POLL));
        if CALL.load(Ordering::Relaxed) != number {
            return;
        }
        asleep = if sys::thread_sleeps(tid) { asleep + 1 } else { 0 };
    }
    if CALL.compare_exchange(number, NO_CALL, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: the caller had the baton, is in the kernel, and finds there that it has it no more; so it is ours.
    let s = unsafe { scheduler() };
    s.escaped(Escape::UncontrolledCall);
    s.thread(caller).blocked_outside = true;
    let next = s.arrive(caller, Event::new(EventKind::Outside, 0), Wait::Polled(wait).pack(), NEVER);
    baton(next).give();
}
