//! Several tests at once, each in a process of its own, with results in the order of the tests.
//!
//! A campaign forks its jobs and needs a process with one thread for that, so tests are explored in processes and not
//! in threads. A result comes back through a file in memory.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::pid_t;

use super::outcome::Outcome;
use crate::sys;

static INTERRUPTED: AtomicU32 = AtomicU32::new(0);

/// Whether the user has pressed Ctrl-C since the pool was first used.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) > 0
}

extern "C" fn heard(_: libc::c_int) {
    if INTERRUPTED.fetch_add(1, Ordering::Relaxed) > 0 {
        // SAFETY: _exit may be called in a signal handler; the children die with us.
        unsafe { libc::_exit(130) }
    }
}

/// A test that is being explored.
struct Busy {
    pid: pid_t,
    test: usize,
    slot: usize,
    result: File,
}

/// Explores tests `0..count`, so many at once, and hands over their results in order. After Ctrl-C no further test is
/// begun; those that were not are handed over as `None`.
pub fn explore(
    count: usize,
    at_once: usize,
    explore: impl Fn(usize) -> Outcome,
    mut done: impl FnMut(usize, Option<Outcome>),
) -> io::Result<()> {
    // The terminal sends Ctrl-C to the children as well, which then end with what they have.
    sys::on_signal(libc::SIGINT, heard);
    let cores = sys::cores_from_here();
    let at_once = at_once.min(count);
    let mut busy: Vec<Busy> = Vec::new();
    let mut results: Vec<Option<Outcome>> = (0..count).map(|_| None).collect();
    let (mut next, mut handed) = (0, 0);
    while handed < count {
        while next < count && busy.len() < at_once && !interrupted() {
            let slot = (0..at_once).find(|slot| busy.iter().all(|b| b.slot != *slot)).unwrap_or(0);
            // One test alone may use the cores as it likes.
            let core = cores.get(slot % cores.len().max(1)).copied().filter(|_| at_once > 1);
            busy.push(begin(next, slot, core, &explore)?);
            next += 1;
        }
        if !busy.is_empty() {
            let mut ended = wait(&mut busy)?;
            results[ended.test] = Some(outcome(&mut ended));
        }
        while handed < count && (results[handed].is_some() || (interrupted() && handed >= next)) {
            done(handed, results[handed].take());
            handed += 1;
        }
    }
    Ok(())
}

fn begin(test: usize, slot: usize, core: Option<usize>, explore: impl Fn(usize) -> Outcome) -> io::Result<Busy> {
    let mut result = sys::memfd(c"raddle-test")?;
    let parent = std::process::id() as pid_t;
    // SAFETY: this process has one thread, so the child may do anything.
    match sys::check(unsafe { libc::fork() })? {
        0 => {
            if sys::die_with(parent) {
                if let Some(core) = core {
                    // Without a core of its own a test is slower, but not wrong.
                    let _ = sys::pin_to(&[core]);
                }
                let outcome = explore(test);
                // A result that cannot be written is missed by the parent.
                let _ = serde_json::to_vec(&outcome).map(|bytes| result.write_all(&bytes));
            }
            // SAFETY: leaves without running what the parent has registered.
            unsafe { libc::_exit(0) }
        }
        pid => Ok(Busy { pid, test, slot, result }),
    }
}

/// Waits until one of the processes has ended.
fn wait(busy: &mut Vec<Busy>) -> io::Result<Busy> {
    loop {
        let mut status = 0;
        // SAFETY: the status is a local.
        let pid = unsafe { libc::waitpid(-1, &mut status, 0) };
        if let Some(at) = busy.iter().position(|b| b.pid == pid) {
            return Ok(busy.swap_remove(at));
        }
        if pid < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

fn outcome(ended: &mut Busy) -> Outcome {
    let mut bytes = Vec::new();
    let read = ended.result.rewind().and_then(|()| ended.result.read_to_end(&mut bytes));
    match read.map(|_| serde_json::from_slice(&bytes)) {
        Ok(Ok(outcome)) => outcome,
        _ => Outcome::lost("died without a result; did the test kill it, or did memory run out?"),
    }
}
