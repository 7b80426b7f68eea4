//! pthread_once.

use core::ffi::c_int;
use core::mem::transmute;

use raddle_core::{Event, EventKind};

use super::cancel::act_on_cancel;
use crate::control::{parallel, scheduler, unlocked, wait_through};
use crate::model::once::Once;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Wait, Wake};
use crate::{interpose, race, real};

/// The calling thread is about to run the routine: others that might have been first wait for its
/// end. The real function says so in the control, but later.
unsafe fn keep_out(key: usize) {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let mut at = None;
    while let Some(t) = s.waiters.after(key, at) {
        if s.threads[t.index()].wake == Wake::Go {
            s.enabled.set(t, false);
        }
        at = Some(t);
    }
}

/// The routine of a once control in a parallel run: the real function has noted that it runs before others may look.
unsafe extern "C-unwind" fn run_outside() {
    // SAFETY: the calling thread is in our pthread_once, with the lock.
    unsafe {
        let me = scheduler().current;
        let routine = transmute::<usize, unsafe extern "C-unwind" fn()>(scheduler().threads[me.index()].once);
        unlocked(me, || routine());
    }
}

interpose! {
    fn pthread_once(control: *mut Once, routine: unsafe extern "C-unwind" fn()) -> c_int |me| {
        let event = Event::new(EventKind::Once, control as usize);
        if wait_through(me, event, Wait::Once(control), NEVER) == Wake::Cancelled {
            act_on_cancel(me);
        }
        if !(*control).done() {
            keep_out(control as usize);
        }
        // The routine is the program's own code and runs under control; the real function copes with
        // exceptions and cancellation in it. It never blocks, since no other thread is inside.
        let real = real!(pthread_once: fn(*mut Once, unsafe extern "C-unwind" fn()) -> c_int);
        let result = if parallel() {
            let before = core::mem::replace(&mut scheduler().thread(me).once, routine as *const () as usize);
            let result = real(control, run_outside);
            scheduler().thread(me).once = before;
            result
        } else {
            real(control, routine)
        };
        // The thread that ran the routine releases; threads that come later acquire.
        race::acquire(me, control as usize);
        race::release(me, control as usize);
        scheduler().changed(control as usize);
        result
    }
}
