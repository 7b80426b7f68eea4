//! pthread_spin_*: a spinning thread is a waiting one.

use core::ffi::c_int;

use raddle_core::{Event, EventKind};

use crate::control::{point, scheduler, wait_through};
use crate::model::spin_lock::SpinLock;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::{interpose, race};

interpose! {
    fn pthread_spin_lock(spin: *mut SpinLock) -> c_int |me| {
        wait_through(me, Event::new(EventKind::SpinLock, spin as usize), Wait::SpinLock(spin), NEVER);
        let result = (*spin).try_lock();
        race::acquire(me, spin as usize);
        scheduler().changed(spin as usize);
        result
    }

    fn pthread_spin_trylock(spin: *mut SpinLock) -> c_int |me| {
        point(me, EventKind::SpinTry, spin as usize);
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
        race::release(me, spin as usize);
        (*spin).unlock();
        scheduler().changed(spin as usize);
        0
    }
}
