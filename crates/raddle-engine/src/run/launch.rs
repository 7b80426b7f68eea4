//! Starting the target: one child, and an exec of the program itself, never through a shell.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::{c_int, pid_t};
use raddle_protocol::block::{FD_VARIABLE, LATE_BINDING, ROOM, ROOMS, USERS_PRELOAD};

use crate::os::process::Process;
use crate::os::scratch::JobScratch;
use crate::os::sys;
use crate::plan::environment;
use crate::plan::stdin;
use crate::plan::Target;

/// The number under which the target inherits the block: always the same, so that the environment
/// is; high, so that it is out of the program's way.
const BLOCK_DESCRIPTOR: RawFd = 900;

/// Why the target could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A name, an argument or a variable has a zero byte in it.
    #[error("{0:?} contains a zero byte, which cannot be passed to a program")]
    ZeroByte(OsString),
    /// No more processes or descriptors.
    #[error("cannot start a process: {0}")]
    Fork(#[source] io::Error),
    /// Something between fork and exec went wrong.
    #[error("cannot start {program}: {step} failed: {source}")]
    Step { program: PathBuf, step: &'static str, source: io::Error },
}

/// Everything that starts the target, made once and used for each start.
pub struct Launch {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    stdin_path: CString,
    stdin_inherited: Option<RawFd>,
    directory: CString,
    bound: bool,
    core_dumps: bool,
}

/// The descriptors of one start.
#[derive(Clone, Copy)]
pub struct Descriptors {
    pub block: RawFd,
    /// Where standard output goes.
    pub stdout: RawFd,
    /// Where standard error goes.
    pub stderr: RawFd,
}

const BIND_NOW: &str = "LD_BIND_NOW";

/// What happens between fork and exec.
const STEPS: &[&str] = &[
    "passing the captured standard input",
    "opening standard input",
    "redirecting standard input",
    "redirecting standard output",
    "redirecting standard error",
    "passing the shared block (the limit of open files, ulimit -n, must be above 1000)",
    "changing the directory",
    "exec",
];

impl Launch {
    /// Prepares to start a target with a job's directories. The runtime's path must be one that
    /// LD_PRELOAD can name.
    pub fn new(target: &Target, runtime: &Path, scratch: &JobScratch) -> Result<Launch, LaunchError> {
        let mut variables = target.environment.clone();
        let users = variables.iter().find(|(name, _)| name == "LD_PRELOAD").map(|(_, v)| v.clone());
        let preload = environment::preload(&target.program.preload_first, runtime, users.as_deref());
        environment::set(&mut variables, OsStr::new("LD_PRELOAD"), preload);
        if let Some(users) = users {
            environment::set(&mut variables, OsStr::new(USERS_PRELOAD), users);
        }
        environment::set(&mut variables, OsStr::new("TMPDIR"), scratch.tmp.clone().into());
        // libgomp's threads spin for milliseconds before they sleep, on a core where nobody else runs.
        let spins = variables.iter().any(|(name, _)| name == "GOMP_SPINCOUNT" || name == "OMP_WAIT_POLICY");
        if !spins && target.program.needed.iter().any(|library| library.starts_with("libgomp")) {
            environment::set(&mut variables, OsStr::new("GOMP_SPINCOUNT"), "0".into());
        }
        // A fork server finds all functions before it forks, or else every run looks for them anew.
        let users_own = variables.iter().any(|(name, _)| name == "LD_BIND_NOW");
        if !users_own {
            environment::set(&mut variables, OsStr::new(BIND_NOW), "1".into());
        }
        let block = BLOCK_DESCRIPTOR.to_string();
        environment::set(&mut variables, OsStr::new(FD_VARIABLE), block.into());
        let directory = if target.own_directory { &scratch.cwd } else { &target.directory };
        let program = std::path::absolute(&target.executable).unwrap_or(target.executable.clone());
        Ok(Launch {
            program: c_string(program.as_os_str())?,
            arguments: target.command.iter().map(|a| c_string(a)).collect::<Result<_, _>>()?,
            environment: variables
                .iter()
                .map(variable)
                .chain((0..ROOMS).map(|_| c_string(OsStr::new(ROOM))))
                .collect::<Result<_, _>>()?,
            stdin_path: c_string(target.stdin.path().as_os_str())?,
            stdin_inherited: target.stdin.inherited(),
            directory: c_string(directory.as_os_str())?,
            bound: !users_own,
            core_dumps: false,
        })
    }

    /// Leaves the program's limit of core files as it is.
    pub fn allow_core_dumps(&mut self) {
        self.core_dumps = true;
    }

    /// Lets the loader find functions when they are called: a program may name functions that are nowhere, as
    /// long as it does not call them.
    pub fn bind_late(&mut self) -> bool {
        let was = std::mem::take(&mut self.bound);
        let late = self.environment.iter_mut().find(|entry| was && entry.as_bytes() == b"LD_BIND_NOW=1");
        if let (Some(entry), Ok(text)) = (late, CString::new(LATE_BINDING)) {
            *entry = text;
        }
        was
    }

    /// Whether functions are found early because raddle says so.
    pub fn is_bound(&self) -> bool {
        self.bound
    }

    /// Starts the target.
    ///
    /// The host may have many threads and much memory: the child shares its memory, as that of a vfork does, and calls
    /// nothing but system calls until it becomes the target.
    pub fn start(&self, descriptors: Descriptors) -> Result<Process, LaunchError> {
        let arguments = pointers(&self.arguments);
        let environment = pointers(&self.environment);
        let mut start = Start {
            launch: self,
            host: std::process::id() as pid_t,
            descriptors,
            arguments: &arguments,
            environment: &environment,
            failed: None,
        };
        let mut stack = vec![0u128; STACK / size_of::<u128>()];
        let top = stack.as_mut_ptr_range().end;
        let mut pidfd: c_int = -1;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        // SAFETY: this thread stands still until the child has become another program or is gone, so that the child may
        // use its memory; the stack is large enough. No signal handler of the host runs in the child, because all
        // signals are blocked until it has none.
        let pid = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let pid = libc::clone(become_target, top.cast(), flags, (&raw mut start).cast(), &raw mut pidfd);
            let error = io::Error::last_os_error();
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
            if pid == -1 {
                return Err(LaunchError::Fork(error));
            }
            pid
        };
        // SAFETY: the kernel has made both for this child.
        let process = unsafe { Process::from_raw(pid, pidfd) };
        match start.failed {
            None => Ok(process),
            Some((step, error)) => Err(LaunchError::Step {
                program: PathBuf::from(OsStr::from_bytes(self.program.as_bytes())),
                step: STEPS.get(step).copied().unwrap_or("exec"),
                source: io::Error::from_raw_os_error(error),
            }),
        }
    }
}

/// Bytes of the stack on which a child prepares to become the target.
const STACK: usize = 64 << 10;

/// What a child needs to become the target.
struct Start<'a> {
    launch: &'a Launch,
    /// The process that starts it.
    host: pid_t,
    descriptors: Descriptors,
    arguments: &'a [*const libc::c_char],
    environment: &'a [*const libc::c_char],
    /// The index of the step that failed, and the error.
    failed: Option<(usize, c_int)>,
}

/// The whole life of a child that shares our memory.
extern "C" fn become_target(start: *mut libc::c_void) -> c_int {
    // SAFETY: `Launch::start` passes it, and stands still meanwhile.
    let start = unsafe { &mut *start.cast::<Start<'_>>() };
    // SAFETY: in the child; both arrays end with a null pointer.
    let step = unsafe { start.become_target() };
    start.failed = Some((step, io::Error::last_os_error().raw_os_error().unwrap_or(0)));
    127
}

impl Start<'_> {
    /// Turns the child into the target. Returns the index of the step that failed.
    ///
    /// # Safety
    /// Only in a child process; the pointers must be valid.
    unsafe fn become_target(&self) -> usize {
        let (launch, descriptors) = (self.launch, self.descriptors);
        // SAFETY: system calls with valid arguments, in a process of our own.
        unsafe {
            if !sys::die_with(self.host) {
                libc::_exit(127);
            }
            // A session of its own: Ctrl-C and kill(0) do not reach across, and there is no
            // terminal that the program could leave in disorder.
            libc::setsid();
            libc::personality(sys::ADDR_NO_RANDOMIZE);
            if !launch.core_dumps {
                no_core_dump();
            }
            first_to_go_when_memory_is_short();
            let limit = raise_descriptor_limit();
            let captured = launch.stdin_inherited.map(|fd| out_of_the_way(fd));
            let [stdout, stderr, block] =
                [descriptors.stdout, descriptors.stderr, descriptors.block].map(|fd| out_of_the_way(fd));
            // Before standard input is opened: that may go through this number.
            let captured = captured.map_or(0, |fd| libc::dup2(fd, stdin::DESCRIPTOR));
            let stdin = libc::open(launch.stdin_path.as_ptr(), libc::O_RDONLY);
            let done = [
                captured,
                stdin,
                libc::dup2(stdin, 0),
                libc::dup2(stdout, 1),
                libc::dup2(stderr, 2),
                libc::dup2(block, BLOCK_DESCRIPTOR),
                libc::chdir(launch.directory.as_ptr()),
            ];
            // What is open stays open, whatever the limit.
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
            if let Some(failed) = done.iter().position(|&result| result == -1) {
                return failed;
            }
            if stdin > 2 && stdin != BLOCK_DESCRIPTOR && stdin != stdin::DESCRIPTOR {
                libc::close(stdin);
            }
            reset_signals();
            libc::execve(launch.program.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr());
        }
        STEPS.len() - 1
    }
}

/// Every signal does again what it does by default, and none is blocked.
///
/// # Safety
/// Only in a child that is about to exec.
unsafe fn reset_signals() {
    // SAFETY: plain system calls.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

/// The descriptor, or a copy of it if it has one of the numbers that the target's own descriptors get: it would be
/// replaced before it is passed on, or be closed by the exec. A host that closed its standard streams, or has hundreds of
/// files open, has such descriptors.
///
/// # Safety
/// Only in a child that is about to exec.
unsafe fn out_of_the_way(fd: RawFd) -> RawFd {
    match fd {
        0..=2 | BLOCK_DESCRIPTOR | stdin::DESCRIPTOR => {
            // SAFETY: makes a new descriptor.
            unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, stdin::DESCRIPTOR + 1) }
        }
        _ => fd,
    }
}

/// Makes room for the numbers above 900; returns the limit to go back to.
///
/// # Safety
/// Only in a child that is about to exec.
unsafe fn raise_descriptor_limit() -> libc::rlimit {
    // SAFETY: plain system calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let raised = libc::rlimit { rlim_cur: limit.rlim_cur.max(limit.rlim_max.min(1024)), ..limit };
        libc::setrlimit(libc::RLIMIT_NOFILE, &raised);
        limit
    }
}

/// In a campaign a crash is a finding, not a file. The limit of 1 is special: the kernel does not even start a
/// core dump handler for it.
///
/// # Safety
/// Only in a child that is about to exec.
unsafe fn no_core_dump() {
    // SAFETY: plain system calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_CORE, &mut limit);
        limit.rlim_cur = limit.rlim_max.min(1);
        libc::setrlimit(libc::RLIMIT_CORE, &limit);
    }
}

/// A program that exhausts memory is killed before raddle is.
///
/// # Safety
/// Only in a child that is about to exec.
unsafe fn first_to_go_when_memory_is_short() {
    // SAFETY: plain system calls.
    unsafe {
        let fd = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd != -1 {
            libc::write(fd, b"1000".as_ptr().cast(), 4);
            libc::close(fd);
        }
    }
}

fn c_string(text: &OsStr) -> Result<CString, LaunchError> {
    CString::new(text.as_bytes()).map_err(|_| LaunchError::ZeroByte(text.to_os_string()))
}

fn variable((name, value): &(OsString, OsString)) -> Result<CString, LaunchError> {
    let mut text = name.clone();
    text.push("=");
    text.push(value);
    c_string(&text)
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
}
