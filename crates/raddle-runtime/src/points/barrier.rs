//! pthread_barrier_wait.

use core::ffi::c_int;

use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use crate::control::{call_real, point, scheduler, wait};
use crate::model::barrier::{Arrival, Barrier};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::switch::uncontrolled_call;
use crate::{interpose, race, real};

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
                    scheduler().waiters.insert(me, key);
                    wait(me, Event::new(EventKind::BarrierLeave, key), Wait::Event, NEVER);
                }
                race::acquire(me, key);
                0
            }
        }
    }
}
