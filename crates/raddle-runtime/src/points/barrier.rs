//! pthread_barrier_wait.

use core::ffi::c_int;

use raddle_core::block::Escape;
use raddle_core::{Event, EventKind};

use crate::control::{point, really, scheduler, wait};
use crate::model::barrier::{Arrival, Barrier};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::{interpose, real};

interpose! {
    /// Waits until everybody is here.
    fn pthread_barrier_wait(barrier: *mut Barrier) -> c_int |me| {
        let key = barrier as usize;
        point(me, EventKind::Barrier, key);
        if (*barrier).shared() {
            scheduler().escaped(Escape::SharedObject);
            scheduler().escaped(Escape::UncontrolledCall);
            return really(me, || real!(pthread_barrier_wait: fn(*mut Barrier) -> c_int)(barrier));
        }
        match (*barrier).arrive() {
            Arrival::Opens => {
                while let Some(t) = scheduler().waiters.after(key, None) {
                    scheduler().wake(t);
                }
                libc::PTHREAD_BARRIER_SERIAL_THREAD
            }
            Arrival::Waits => {
                scheduler().waiters.insert(me, key);
                wait(me, Event::new(EventKind::BarrierLeave, key), Wait::Event, NEVER);
                0
            }
        }
    }
}
