//! Runs a compiler as a child, as if it had been started itself: what would have ended it goes to it, and
//! ends this process after what has to be cleaned up.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::display::interrupt::{is_ignored, on_signal};

/// Why there is no exit status.
pub enum ProcessError {
    /// It was not started.
    Start(io::Error),
    /// A signal ended it.
    Killed(i32),
}

/// What a terminal, a shell or make sends to stop a command.
const STOPPING: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The child; 0 before there is one.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// The last signal that came; 0 for none.
static STOPPED_BY: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: libc::c_int) {
    STOPPED_BY.store(signal, Ordering::SeqCst);
    send(CHILD.load(Ordering::SeqCst), signal);
}

fn send(child: i32, signal: i32) {
    if child > 0 {
        // SAFETY: sends a signal to a child that has not been waited for.
        unsafe {
            libc::kill(child, signal);
        }
    }
}

/// Runs a command to its end and gives its exit status.
pub fn run(command: &mut Command) -> Result<u8, ProcessError> {
    let stopping: Vec<_> = STOPPING.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    for &signal in &stopping {
        on_signal(signal, pass_on);
    }
    let mut child = command.spawn().map_err(ProcessError::Start)?;
    let id = child.id() as i32;
    CHILD.store(id, Ordering::SeqCst);
    // One that came before there was a child to pass it to.
    send(id, STOPPED_BY.load(Ordering::SeqCst));
    wait_until_dead(id);
    // From here on the id may be another's.
    CHILD.store(0, Ordering::SeqCst);
    let status = child.wait().map_err(ProcessError::Start)?;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(code as u8),
        (None, signal) => Err(ProcessError::Killed(signal.unwrap_or(0))),
    }
}

/// Ends this process by the signal that ended the child, if it was passed on.
pub fn end_like_child(signal: i32) {
    if signal == STOPPED_BY.load(Ordering::SeqCst) {
        // SAFETY: sends a signal to this process, where it does again what it does by default.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// Waits without taking the status, so that the id stays the child's.
fn wait_until_dead(child: i32) {
    loop {
        // SAFETY: the structure is a local, filled by the call.
        let result = unsafe {
            let mut information: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child as libc::id_t, &mut information, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
