//! pthread_once.

use core::ffi::c_int;

use raddle_core::{Event, EventKind};

use crate::control::{scheduler, wait_through};
use crate::model::once::Once;
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::{interpose, real};

interpose! {
    /// Runs a routine once.
    fn pthread_once(control: *mut Once, routine: unsafe extern "C-unwind" fn()) -> c_int |me| {
        wait_through(me, Event::new(EventKind::Once, control as usize), Wait::Once(control), NEVER);
        // The routine is the program's own code and runs under control; the real function copes with
        // exceptions and cancellation in it. It never blocks, since nobody else is inside.
        let result = real!(pthread_once: fn(*mut Once, unsafe extern "C-unwind" fn()) -> c_int)(control, routine);
        scheduler().changed(control as usize);
        result
    }
}
