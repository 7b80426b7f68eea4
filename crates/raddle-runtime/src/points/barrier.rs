//! pthread_barrier_wait.

use core::ffi::c_int;

use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use super::cancel::must_stop_now;
use super::misuse::{self, destroys};
use crate::control::{call_real, point, scheduler, wait};
use crate::model::barrier::{Arrival, Barrier};
use crate::model::mutex::Damage;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Wait, Wake};
use crate::switch::uncontrolled_call;
use crate::{interpose, race, real};

/// pthread_barrier_destroy, which is called from `place`.
unsafe extern "C-unwind" fn destroy(barrier: *mut Barrier, place: usize) -> c_int {
    // SAFETY: the caller's barrier. The real function waits for threads that are on their way out of it: the model
    // leaves none.
    unsafe {
        misuse::destroy(barrier as usize, place, |_| real!(pthread_barrier_destroy: fn(*mut Barrier) -> c_int)(barrier))
    }
}

destroys! {
    pthread_barrier_destroy(Barrier) => destroy;
}

interpose! {
    fn pthread_barrier_wait(barrier: *mut Barrier) -> c_int |me| {
        let key = barrier as usize;
        point(me, EventKind::Barrier, key);
        race::release(me, key);
        if (*barrier).shared() {
            scheduler().escaped(Escape::SharedObject);
            scheduler().escaped(Escape::UncontrolledCall);
            let result =
                call_real(me, || uncontrolled_call::make(me, || real!(pthread_barrier_wait: fn(*mut Barrier) -> c_int)(barrier)));
            race::acquire(me, key);
            return result;
        }
        // Other versions of libc keep other things there.
        if (*barrier).destroyed() && misuse::was_destroyed(key) {
            misuse::report(me, key, "barrier", EventKind::Barrier, Damage::Destroyed);
        }
        match (*barrier).arrive() {
            Arrival::Opens => {
                // Including threads that have left the queue to run a signal handler.
                let s = scheduler();
                for i in 0..s.created {
                    if s.threads[i].barrier == key {
                        s.threads[i].barrier = 0;
                        if s.waiters.of(key).any(|t| t.index() == i) {
                            s.wake(ThreadId(i as u16));
                        }
                    }
                }
                race::acquire(me, key);
                libc::PTHREAD_BARRIER_SERIAL_THREAD
            }
            Arrival::Waits => {
                scheduler().thread(me).barrier = key;
                while scheduler().threads[me.index()].barrier == key {
                    let event = Event::new(EventKind::BarrierLeave, key);
                    scheduler().waiters.insert(me, key);
                    if must_stop_now(me) || wait(me, event, Wait::Event, NEVER) == Wake::Cancelled {
                        // It has arrived, and is cancelled when the call returns.
                        scheduler().waiters.remove(me);
                        scheduler().thread(me).barrier = 0;
                    }
                }
                race::acquire(me, key);
                0
            }
        }
    }
}
