//! How the program wants to be told of something: sigevent(3type), in glibc's layout. Pure.

use core::ffi::{c_int, c_void};

/// glibc's `struct sigevent`, as far as it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct SignalEvent {
    /// What the signal or the function gets.
    pub value: usize,
    pub signal: c_int,
    /// SIGEV_SIGNAL, SIGEV_THREAD, ….
    pub kind: c_int,
    /// The function, or the thread that gets the signal.
    pub function: usize,
    pub attributes: *const c_void,
}

impl SignalEvent {
    /// The program is not told.
    pub const NONE: SignalEvent =
        SignalEvent { value: 0, signal: 0, kind: libc::SIGEV_NONE, function: 0, attributes: core::ptr::null() };

    /// Whether a function is called.
    pub fn calls(&self) -> bool {
        self.kind == libc::SIGEV_THREAD
    }
}
