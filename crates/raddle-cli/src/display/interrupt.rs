//! Ctrl-C: the first one ends the campaign with its summary, the second one leaves at once.

use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// What a shell shows for a program that Ctrl-C ended.
const STATUS: i32 = 130;

/// Listens from now on.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        on_signal(signal, heard);
    }
}

/// Installs a handler that interrupts system calls. It may only touch atomics, or leave.
pub fn on_signal(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the handlers that are passed keep to that.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Whether the user wants to stop.
pub fn requested() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

extern "C" fn heard(_: libc::c_int) {
    if COUNT.fetch_add(1, Ordering::Relaxed) > 0 {
        // SAFETY: _exit may be called in a signal handler; what the jobs have started dies with us.
        unsafe { libc::_exit(STATUS) }
    }
}
