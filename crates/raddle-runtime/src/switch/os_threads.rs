//! OS threads: every thread parks on a futex word of its own, and the one with the baton runs.
//!
//! Two threads on one core hand over in about 2 µs, on two cores in ten times that, which is why
//! the command line pins a run to one core.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::uncontrolled_call;
use crate::os::sys;

/// The word that a thread parks on.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Baton(AtomicU32);

const EMPTY: u32 = 0;
const GIVEN: u32 = 1;
const PARKED: u32 = 2;
const WATCH: u32 = 3;

impl Baton {
    /// Gives the baton to the owner of this word.
    pub fn give(&self) {
        if self.0.swap(GIVEN, Ordering::AcqRel) == PARKED {
            sys::futex_wake(&self.0);
        }
    }

    /// Asks the owner of this word, which waits here or is about to, to [watch](uncontrolled_call::watch_caller) a
    /// caller.
    pub fn ask_to_watch(&self) {
        let ask = |from| self.0.compare_exchange(from, WATCH, Ordering::AcqRel, Ordering::Acquire);
        if ask(EMPTY) == Err(PARKED) && ask(PARKED).is_ok() {
            sys::futex_wake(&self.0);
        }
    }

    /// Waits until the baton is given to this word.
    pub fn take(&self) {
        loop {
            match self.0.compare_exchange(EMPTY, PARKED, Ordering::Acquire, Ordering::Acquire) {
                Err(GIVEN) => break,
                Err(WATCH) => self.watch(),
                _ => sys::futex_wait(&self.0, PARKED),
            }
        }
        self.0.store(EMPTY, Ordering::Relaxed);
        DYING.wait();
    }

    #[cold]
    fn watch(&self) {
        if self.0.compare_exchange(WATCH, EMPTY, Ordering::Acquire, Ordering::Acquire).is_ok() {
            uncontrolled_call::watch_caller();
        }
    }

    /// The owner is going to [rest](Baton::rest) here until it is given the baton.
    pub fn shut(&self) {
        self.0.store(PARKED, Ordering::Relaxed);
    }

    /// Waits until the baton is given, or for `at_most` nanoseconds; may also return for no reason.
    pub fn rest(&self, at_most: Option<u64>) {
        if self.0.load(Ordering::Acquire) == PARKED {
            sys::futex_wait_for(&self.0, PARKED, at_most);
        }
    }
}

/// The thread that gave the baton away for the last time, until the kernel has dropped it.
///
/// The tail of a thread's exit (malloc caches, its stack's return to the pool) would otherwise run
/// beside its successor and make addresses differ from run to run.
pub static DYING: Dying = Dying(AtomicPtr::new(ptr::null_mut()));

pub struct Dying(AtomicPtr<AtomicU32>);

impl Dying {
    /// The thread whose kernel id stands at this address has left for good.
    pub fn set(&self, tid: *mut AtomicU32) {
        self.0.store(tid, Ordering::Release);
    }

    /// Waits until the kernel has cleared the dying thread's id.
    #[inline]
    fn wait(&self) {
        if !self.0.load(Ordering::Acquire).is_null() {
            self.wait_slowly();
        }
    }

    #[cold]
    fn wait_slowly(&self) {
        let word = self.0.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: glibc keeps a thread's control block until it is joined, or in its stack cache,
        // and no thread that could free it runs now.
        let word = unsafe { &*word };
        loop {
            let tid = word.load(Ordering::Acquire);
            if tid == 0 {
                return;
            }
            // The kernel wakes this word as a shared futex. The time-out is for a control block
            // that was reused before we looked.
            sys::futex_wait_shared(word, tid, Some(20_000_000));
        }
    }
}
