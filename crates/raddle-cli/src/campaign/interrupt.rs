//! Ctrl-C: the first one ends the campaign with its summary, the second one leaves at once.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// What a shell shows for a program that Ctrl-C ended.
const STATUS: i32 = 130;

/// Listens from now on.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        sys::on_signal(signal, heard);
    }
}

/// Whether the user wants to stop.
pub fn requested() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

extern "C" fn heard(_: libc::c_int) {
    if COUNT.fetch_add(1, Ordering::Relaxed) > 0 {
        // SAFETY: _exit may be called in a signal handler; the jobs die with us.
        unsafe { libc::_exit(STATUS) }
    }
}
