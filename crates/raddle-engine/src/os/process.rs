//! A process that the engine has started, known by its pidfd: its number may be used again, the descriptor is its own.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;

use libc::pid_t;

use super::sys::{self, Ending};

/// A child that has not been waited for. Dropping it kills and reaps it.
#[derive(Debug)]
pub struct Process {
    pid: pid_t,
    pidfd: OwnedFd,
    ending: Option<Ending>,
}

impl Process {
    /// A child of the calling process.
    ///
    /// # Safety
    /// The descriptor is the child's pidfd, and nothing else owns it.
    pub unsafe fn from_raw(pid: pid_t, pidfd: RawFd) -> Process {
        // SAFETY: the caller's promise.
        Process { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) }, ending: None }
    }

    /// Its number, which is valid until it has been reaped.
    pub fn pid(&self) -> pid_t {
        self.pid
    }

    /// Another descriptor for the same process, to wait for its end elsewhere.
    pub fn pidfd(&self) -> io::Result<OwnedFd> {
        self.pidfd.try_clone()
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> io::Result<Ending> {
        loop {
            if let Some(ending) = self.reap(0)? {
                return Ok(ending);
            }
        }
    }

    /// Whether it has ended, though it has not been reaped: its number is still its own.
    pub fn has_ended(&self) -> bool {
        self.ending.is_some() || ended(&self.pidfd, 0)
    }

    /// Kills it. A process that is gone already needs no killing.
    pub fn kill(&self) {
        signal(&self.pidfd, libc::SIGKILL);
    }

    /// Kills the process group that it leads, if it does, while its number cannot be used again.
    pub fn kill_group(&self) {
        if self.ending.is_none() && self.pid > 1 {
            // SAFETY: sends a signal to a group that has our child's number; the child has not been reaped.
            unsafe { libc::kill(-self.pid, libc::SIGKILL) };
        }
    }

    fn reap(&mut self, flags: i32) -> io::Result<Option<Ending>> {
        if self.ending.is_some() {
            return Ok(self.ending);
        }
        // SAFETY: the kernel fills the structure, which is valid when zeroed.
        let info = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let pidfd = self.pidfd.as_raw_fd() as libc::id_t;
            if libc::waitid(libc::P_PIDFD, pidfd, &mut info, libc::WEXITED | libc::__WALL | flags) == -1 {
                return match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
                    error if error.raw_os_error() == Some(libc::ECHILD) => Err(io::Error::other(REAPED_ELSEWHERE)),
                    error => Err(error),
                };
            }
            info
        };
        // SAFETY: waitid has filled it in, or left the process id zero.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        if pid == 0 {
            return Ok(None);
        }
        self.ending =
            Some(if info.si_code == libc::CLD_EXITED { Ending::Exit(status) } else { Ending::Signal(status) });
        Ok(self.ending)
    }
}

/// What only the host process can cause.
const REAPED_ELSEWHERE: &str = "the process that runs raddle has waited for a child that it did not start, or ignores \
                                SIGCHLD, so raddle cannot know how the program ended";

impl Drop for Process {
    fn drop(&mut self) {
        if self.ending.is_none() {
            self.kill();
            // It is gone, or was never ours to wait for.
            let _ = self.wait();
        }
    }
}

/// A process that is not a child, by its number: a daemon that a run has left behind.
pub fn open(pid: pid_t) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is new and ours.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as RawFd;
        Ok(OwnedFd::from_raw_fd(sys::errno(fd)?))
    }
}

/// Whether the numbers in /proc are those of this process's own PID namespace: elsewhere they name other processes.
pub fn proc_is_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.is_some_and(|numbers| numbers.trim() == std::process::id().to_string())
    })
}

/// The child of a process, by a number that may be wrong: what a program has written into a block can be anything.
pub fn child(pid: pid_t, parent: pid_t) -> Option<OwnedFd> {
    let pidfd = Some(pid).filter(|&pid| pid > 1 && proc_is_ours()).and_then(|pid| open(pid).ok())?;
    // The number is that of the descriptor's process as long as that has not ended.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    let found: pid_t = after_name.split(' ').nth(1)?.parse().ok()?;
    (found == parent && !ended(&pidfd, 0)).then_some(pidfd)
}

/// Sends a signal; a process that is gone does not need it.
pub fn signal(pidfd: &OwnedFd, signal: i32) {
    // SAFETY: sends a signal.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, 0, 0) };
}

/// Whether a process has ended, or ends within this time; −1 waits as long as it takes.
pub fn ended(pidfd: &OwnedFd, milliseconds: i32) -> bool {
    let mut poll = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, as passed.
    unsafe { libc::poll(&mut poll, 1, milliseconds) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_a_child_is_taken_for_one() {
        let us = std::process::id() as pid_t;
        let mut sleeps = Command::new("sleep").arg("1000").spawn().expect("sleep starts");
        let pid = sleeps.id() as pid_t;
        assert!(child(pid, us).is_some());
        assert!(child(pid, pid).is_none());
        assert!([us, 1, 0, -1, -pid, pid_t::MAX, pid_t::MIN].into_iter().all(|pid| child(pid, us).is_none()));
        sleeps.kill().expect("killed");
        sleeps.wait().expect("has ended");
        assert!(child(pid, us).is_none());
    }
}
