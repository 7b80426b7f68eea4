//! The guards of C++ variables that are initialised at their first use: the library that keeps them is not
//! instrumented, so the order that they make is told to the detector here. The rest is left to the library, whose
//! futexes are visible.

use core::ffi::{c_int, c_void};

use crate::{interpose, race, real};

interpose! {
    /// Whether the caller is to initialise the variable.
    fn __cxa_guard_acquire(guard: *mut c_void) -> c_int |me| {
        let first = real!(__cxa_guard_acquire: fn(*mut c_void) -> c_int)(guard);
        race::acquire(me, guard as usize);
        first
    }

    fn __cxa_guard_release(guard: *mut c_void) |me| {
        race::release(me, guard as usize);
        real!(__cxa_guard_release: fn(*mut c_void))(guard);
    }
}
