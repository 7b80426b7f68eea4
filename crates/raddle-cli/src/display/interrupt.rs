//! Signals that ask to stop: the first one ends the campaign with its summary. Only a further Ctrl-C, from a person who
//! has waited for that, leaves at once: `timeout` and terminals send the same signal twice.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use raddle_report::exit_code;

/// What a terminal, a shell or a supervisor sends to stop a command.
const STOPPING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A Ctrl-C that comes sooner after the first signal is the same wish.
const PATIENCE: u64 = 1_000;

/// The first signal that came; 0 for none.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// When it came, in milliseconds; until that is known, later than any time.
static SINCE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Listens from now on. What is ignored, as SIGHUP is below `nohup`, stays ignored.
pub fn listen() {
    for signal in STOPPING.into_iter().filter(|signal| !is_ignored(*signal)) {
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

/// Whether this process was started to ignore a signal.
pub fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: only reads the action, into a local.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Whether a signal asked to stop.
pub fn requested() -> bool {
    FIRST.load(Ordering::Relaxed) != 0
}

/// The exit status of a command that a signal asked to stop, as a shell shows it for one that the signal has ended.
pub fn status() -> Option<u8> {
    match FIRST.load(Ordering::Relaxed) {
        0 => None,
        signal => Some(status_of(signal)),
    }
}

fn status_of(signal: libc::c_int) -> u8 {
    exit_code::SIGNAL + signal as u8
}

extern "C" fn heard(signal: libc::c_int) {
    if FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        SINCE.store(now(), Ordering::Relaxed);
    } else if signal == libc::SIGINT && now().saturating_sub(SINCE.load(Ordering::Relaxed)) > PATIENCE {
        // SAFETY: _exit may be called in a signal handler; what the jobs have started dies with us.
        unsafe { libc::_exit(i32::from(status_of(signal))) }
    }
}

/// Milliseconds since some time in the past. It may be called in a signal handler.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is a local, filled by the call, which a signal handler may make.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}
