//! pthread_spin_*: a spinning thread is a waiting one. A lock may lie in memory that other processes share, which it
//! does not say: see `scheduler::idle`.

use core::ffi::c_int;

use raddle_core::{Event, EventKind, ThreadId};

use super::cancel::must_stop_now;
use super::misuse::{self, destroys};
use crate::control::{point, scheduler, wait_through};
use crate::model::mutex::Damage;
use crate::model::spin_lock::SpinLock;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Wait, Wake};
use crate::{interpose, race, real};

/// Ends the run if the lock is destroyed.
unsafe fn inspect(me: ThreadId, spin: *mut SpinLock, kind: EventKind) {
    // SAFETY: the caller's lock.
    if unsafe { (*spin).destroyed() } {
        misuse::report(me, spin as usize, "spin lock", kind, Damage::Destroyed);
    }
}

/// pthread_spin_destroy, which is called from `place`.
unsafe extern "C-unwind" fn destroy(spin: *mut SpinLock, place: usize) -> c_int {
    // SAFETY: the caller's lock. The real function does nothing.
    unsafe {
        misuse::destroy(spin as usize, place, |me| {
            if me.is_some() {
                (*spin).destroy();
            }
            real!(pthread_spin_destroy: fn(*mut SpinLock) -> c_int)(spin)
        })
    }
}

destroys! {
    pthread_spin_destroy(SpinLock) => destroy;
}

interpose! {
    fn pthread_spin_lock(spin: *mut SpinLock) -> c_int |me| {
        let event = Event::new(EventKind::SpinLock, spin as usize);
        while wait_through(me, event, Wait::SpinLock(spin), NEVER) != Wake::Cancelled {
            inspect(me, spin, EventKind::SpinLock);
            // Another process may have been faster.
            if (*spin).try_lock() == 0 {
                race::acquire(me, spin as usize);
                scheduler().changed(spin as usize);
                break;
            }
            if must_stop_now(me) {
                break;
            }
        }
        0
    }

    fn pthread_spin_trylock(spin: *mut SpinLock) -> c_int |me| {
        point(me, EventKind::SpinTry, spin as usize);
        inspect(me, spin, EventKind::SpinTry);
        let result = (*spin).try_lock();
        if result == 0 {
            race::acquire(me, spin as usize);
            scheduler().changed(spin as usize);
        } else {
            scheduler().made_no_progress(me);
        }
        result
    }

    fn pthread_spin_unlock(spin: *mut SpinLock) -> c_int |me| {
        point(me, EventKind::SpinUnlock, spin as usize);
        inspect(me, spin, EventKind::SpinUnlock);
        race::release(me, spin as usize);
        (*spin).unlock();
        scheduler().changed(spin as usize);
        0
    }
}
