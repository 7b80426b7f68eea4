//! Thin wrappers around the system calls that the standard library does not have.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicU32;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use libc::{c_int, pid_t, sigset_t};

/// Turns the −1 of a system call into its error.
pub fn errno(result: c_int) -> io::Result<c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// An unnamed file in memory, closed on exec.
pub fn memfd(name: &CStr) -> io::Result<File> {
    // SAFETY: the name is a valid C string; the descriptor is new and ours.
    unsafe {
        let fd = errno(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC))?;
        Ok(File::from(OwnedFd::from_raw_fd(fd)))
    }
}

/// Makes every write to this open file go to its end.
pub fn append_only(file: &File) -> io::Result<()> {
    // SAFETY: changes flags of an open descriptor only.
    errno(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) }).map(drop)
}

/// The open descriptors of this process that are not closed on exec.
pub fn descriptors_kept_on_exec() -> Vec<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let descriptors = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // SAFETY: asks about a descriptor, which may be closed by now.
    descriptors.filter(|&fd| unsafe { libc::fcntl(fd, libc::F_GETFD) } == 0).collect()
}

/// Signals that a thread causes itself: blocking them would hide them from the host's crash handler.
const FAULTS: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];

/// Starts a thread of the engine. The host's signals go to the host's threads: none of its handlers runs on this one,
/// and no signal is taken from a thread of the host that waits for it.
pub fn spawn(name: String, life: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    // SAFETY: the set is plain data.
    let blocked = unsafe {
        let mut set: sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        FAULTS.iter().for_each(|&fault| _ = libc::sigdelset(&mut set, fault));
        set
    };
    with_mask(&blocked, || thread::Builder::new().name(name).spawn(life))
}

/// Does something while the calling thread blocks no signal: a child that is started now can be sent all of them.
pub fn with_all_signals<T>(action: impl FnOnce() -> T) -> T {
    // SAFETY: the set is plain data.
    let none = unsafe {
        let mut set: sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        set
    };
    with_mask(&none, action)
}

/// Does something while the calling thread blocks these signals, and then those that it blocked before.
fn with_mask<T>(mask: &sigset_t, action: impl FnOnce() -> T) -> T {
    struct Before(sigset_t);
    impl Drop for Before {
        fn drop(&mut self) {
            // SAFETY: changes the mask of this thread only.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
        }
    }
    // SAFETY: as above; the kernel fills the structure.
    let _before = unsafe {
        let mut before: sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &mut before);
        Before(before)
    };
    action()
}

/// Waits on a futex word that is shared between processes, while it has this value, at most so long.
pub fn futex_wait(word: &AtomicU32, value: u32, at_most: Duration) {
    let timeout =
        libc::timespec { tv_sec: at_most.as_secs() as libc::time_t, tv_nsec: at_most.subsec_nanos() as libc::c_long };
    // SAFETY: the word lives as long as the reference. Every way of returning is a reason to look
    // again, so the result does not matter.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &timeout, 0, 0);
    }
}

/// Wakes all threads that wait on a futex word.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: the word lives as long as the reference.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, c_int::MAX, 0, 0, 0);
    }
}

/// The cores that the calling thread may use.
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: the set is plain data of the size that is passed.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) == -1 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&core| libc::CPU_ISSET(core, &set)).collect()
    }
}

/// The cores that the calling thread may use, starting with the one that it is on: the kernel has put it where
/// there was room, and several campaigns at once should not all use the same core.
pub fn cores_from_here() -> Vec<usize> {
    let mut cores = allowed_cores();
    // SAFETY: asks where this thread is.
    let here = usize::try_from(unsafe { libc::sched_getcpu() }).ok();
    if let Some(at) = cores.iter().position(|&core| Some(core) == here) {
        cores.rotate_left(at);
    }
    cores
}

/// A fixed layout of the address space (linux/personality.h).
pub(crate) const ADDR_NO_RANDOMIZE: libc::c_ulong = 0x0040000;

/// Whether programs can be started with a fixed layout of their address space. Containers may
/// forbid it.
pub fn can_fix_addresses() -> bool {
    // SAFETY: changes an attribute of this process, and changes it back.
    unsafe {
        let before = libc::personality(0xffff_ffff);
        let fixed = libc::personality(before as libc::c_ulong | ADDR_NO_RANDOMIZE) != -1;
        libc::personality(before as libc::c_ulong);
        before != -1 && fixed
    }
}

/// The machine in a few words: its processor, its cores, its kernel.
pub fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    // What follows the version names a build of it.
    let version = kernel.trim().split('-').next().unwrap_or_default().to_string();
    format!("{}, {} cores, Linux {version}", model.unwrap_or("an unknown processor"), allowed_cores().len())
}

/// Keeps the calling thread on these cores from now on, and the children that it starts.
pub fn pin_to(cores: &[usize]) -> io::Result<()> {
    // SAFETY: the set is plain data of the size that is passed.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cores.iter().for_each(|&core| libc::CPU_SET(core, &mut set));
        errno(libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set)).map(drop)
    }
}

/// Makes the calling process die with its parent; says no when the parent is dead already.
pub fn die_with(parent: pid_t) -> bool {
    // SAFETY: sets an attribute of this process.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::getppid() == parent
    }
}

/// Kills one process that is known by its number only; never a process group, or every process, if starting it has failed.
pub fn kill(pid: pid_t) {
    if pid > 1 {
        // SAFETY: sends a signal.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
        }
    }
}

/// The name of a signal, `SIGSEGV` and so on.
pub fn signal_name(signal: c_int) -> String {
    const NAMES: &[(c_int, &str)] = &[
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGSTKFLT, "SIGSTKFLT"),
        (libc::SIGCHLD, "SIGCHLD"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGVTALRM, "SIGVTALRM"),
        (libc::SIGPROF, "SIGPROF"),
        (libc::SIGIO, "SIGIO"),
        (libc::SIGPWR, "SIGPWR"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => (*name).to_string(),
        None => format!("signal {signal}"),
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this status.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
}

impl Ending {
    /// Reads a status as the fork server's wait gave it.
    pub fn from_status(status: c_int) -> Ending {
        if libc::WIFSIGNALED(status) {
            Ending::Signal(libc::WTERMSIG(status))
        } else {
            Ending::Exit(libc::WEXITSTATUS(status))
        }
    }

    /// As a shell shows it in `$?`.
    pub fn shell_status(self) -> i32 {
        match self {
            Ending::Exit(code) => code,
            Ending::Signal(signal) => 128 + signal,
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Exit(code) => write!(f, "exit status {code}"),
            Ending::Signal(signal) => write!(f, "killed by {}", signal_name(*signal)),
        }
    }
}
/// Locks a file until it is closed; an error if another process has locked it.
pub fn lock(file: &std::fs::File) -> io::Result<()> {
    // SAFETY: a system call on a descriptor that is open.
    errno(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }).map(drop)
}
