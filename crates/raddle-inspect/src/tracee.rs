//! Threads of another process, held still while they are looked at.
//!
//! `PTRACE_SEIZE` and `PTRACE_INTERRUPT` stop a thread without a signal that the program could see,
//! and a system call that was interrupted goes on afterwards. What else is needed so that the
//! program notices nothing:
//!
//! - a signal that arrives first is handed on when the thread is let go;
//! - the few system calls that the kernel does not take up again are started again by hand;
//! - nobody's exit status is taken: waiting only looks (`WNOWAIT`), and the thread that does all of
//!   this must end soon after, because its end is what detaches whatever could not be let go.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use std::{mem, ptr};

use super::cfi::Registers;

/// How long a thread may take to stop. It stops at once unless it is in an uninterruptible system
/// call.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait for the stop with short pauses only; nearly all stops are seen by then.
const SOON: Duration = Duration::from_millis(2);

/// Why there is no backtrace of a thread.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StackError {
    /// The thread, or its whole process, is gone.
    #[error("thread {tid} has ended, so it has no stack")]
    Ended {
        /// The thread, as the kernel numbers it.
        tid: i32,
    },
    /// A debugger is attached, and there can be only one.
    #[error("thread {tid} is being debugged by process {tracer}; detach the debugger to get stacks")]
    Traced {
        /// The thread, as the kernel numbers it.
        tid: i32,
        /// The debugger: its process, or the thread of it that does the tracing.
        tracer: i32,
    },
    /// The system does not let this process look at that one.
    #[error("the system does not allow a look at the stack of thread {tid}: {hint}")]
    NotPermitted {
        /// The thread, as the kernel numbers it.
        tid: i32,
        /// What probably forbids it, and what to do.
        hint: &'static str,
    },
    /// The thread is stuck in the kernel.
    #[error("thread {tid} did not stop to be looked at: it is in an uninterruptible system call")]
    DidNotStop {
        /// The thread, as the kernel numbers it.
        tid: i32,
    },
    /// What is mapped into the process cannot be read.
    #[error("the memory map of process {pid} cannot be read: {source}")]
    NoMap {
        /// The process.
        pid: i32,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A system call failed that should not.
    #[error("thread {tid} cannot be looked at: {source}")]
    System {
        /// The thread, as the kernel numbers it.
        tid: i32,
        /// What the system said.
        source: Arc<io::Error>,
    },
}

/// A thread that holds still. Dropped, it runs on.
pub(super) struct Held {
    tid: i32,
    registers: Registers,
    /// The signal that was about to be delivered, or 0.
    signal: i32,
}

impl Held {
    /// The thread, as the kernel numbers it.
    pub(super) fn tid(&self) -> i32 {
        self.tid
    }

    /// The registers, as they were when the thread stopped.
    pub(super) fn registers(&self) -> &Registers {
        &self.registers
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It fails only if the thread has been killed meanwhile, and then there is nothing to do.
        let _ = ptrace(libc::PTRACE_DETACH, self.tid, self.signal as usize);
    }
}

/// Stops threads, all of them before any is looked at, so that they are seen at one moment.
///
/// Must be called on a thread that ends soon (see the top of this file), and no other thread may
/// wait for the process at the same time.
pub(super) fn hold(pid: i32, tids: &[i32]) -> Vec<Result<Held, StackError>> {
    let seized: Vec<_> = tids.iter().map(|&tid| seize(pid, tid)).collect();
    let deadline = Instant::now() + PATIENCE;
    tids.iter().zip(seized).map(|(&tid, seized)| seized.and_then(|()| stopped(tid, deadline))).collect()
}

/// Attaches to a thread and makes it stop. The ids may come from the process itself, which may be wrong about them: no
/// thread of another process is stopped. A thread that has been seized keeps its id; one that turns out to be a
/// stranger's runs on, and is let go when the calling thread ends.
fn seize(pid: i32, tid: i32) -> Result<(), StackError> {
    let of_process = || if is_thread_of(pid, tid) { Ok(()) } else { Err(StackError::Ended { tid }) };
    of_process()?;
    ptrace(libc::PTRACE_SEIZE, tid, 0).map_err(|error| refusal(pid, tid, error))?;
    of_process()?;
    ptrace(libc::PTRACE_INTERRUPT, tid, 0).map_err(|error| refusal(pid, tid, error))
}

fn is_thread_of(pid: i32, tid: i32) -> bool {
    pid > 0 && tid > 0 && Path::new(&format!("/proc/{pid}/task/{tid}")).exists()
}

/// Why a thread could not be stopped. The kernel has one number for many reasons.
fn refusal(pid: i32, tid: i32, error: io::Error) -> StackError {
    let status = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next()
    };
    let tracer = field("TracerPid").and_then(|tracer| tracer.parse().ok()).unwrap_or(0);
    match error.raw_os_error() {
        Some(libc::ESRCH) => StackError::Ended { tid },
        _ if matches!(field("State"), None | Some("Z" | "X")) => StackError::Ended { tid },
        Some(libc::EPERM) if tracer != 0 => StackError::Traced { tid, tracer },
        Some(libc::EPERM) => StackError::NotPermitted { tid, hint: hint() },
        _ => StackError::System { tid, source: error.into() },
    }
}

fn hint() -> &'static str {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "2" => "kernel.yama.ptrace_scope is 2; set it to 1 or run as root",
        "3" => "kernel.yama.ptrace_scope is 3; it can only be changed by a reboot",
        _ => {
            "a sandbox forbids ptrace (in a container, add --cap-add=SYS_PTRACE), or the program \
             made itself undumpable"
        }
    }
}

fn stopped(tid: i32, deadline: Instant) -> Result<Held, StackError> {
    let start = Instant::now();
    let signal = loop {
        match look(tid) {
            Ok(Some(signal)) => break signal,
            Ok(None) if Instant::now() >= deadline => return Err(StackError::DidNotStop { tid }),
            // The thread may need this very core to get to its stop.
            Ok(None) if start.elapsed() < SOON => thread::yield_now(),
            Ok(None) => thread::sleep(SOON),
            Err(error) => return Err(error),
        }
    };
    // From here on the thread is let go whatever happens, by `drop`.
    let mut held = Held { tid, registers: Registers::default(), signal };
    let registers = read_registers(tid)?;
    if signal == 0 && must_be_restarted(&registers) {
        restart(tid, registers);
    }
    held.registers = in_dwarf_order(&registers);
    Ok(held)
}

fn read_registers(tid: i32) -> Result<libc::user_regs_struct, StackError> {
    // SAFETY: the structure consists of integers.
    let mut registers: libc::user_regs_struct = unsafe { mem::zeroed() };
    match ptrace(libc::PTRACE_GETREGS, tid, &raw mut registers as usize) {
        Ok(()) => Ok(registers),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Err(StackError::Ended { tid }),
        Err(error) => Err(StackError::System { tid, source: error.into() }),
    }
}

fn in_dwarf_order(r: &libc::user_regs_struct) -> Registers {
    Registers::new([
        r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15,
        r.rip,
    ])
}

/// Whether the thread has stopped, and with which signal to be delivered; `None` if it still runs.
fn look(tid: i32) -> Result<Option<i32>, StackError> {
    // SAFETY: the structure consists of integers.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    let flags = libc::WSTOPPED | libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the kernel fills the structure that is passed.
    let result = unsafe { libc::waitid(libc::P_PID, tid as libc::id_t, &mut info, flags) };
    if result != 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EINTR) => Ok(None),
            Some(libc::ECHILD) => Err(StackError::Ended { tid }),
            _ => Err(StackError::System { tid, source: error.into() }),
        };
    }
    // SAFETY: `waitid` filled the structure, or left the zeros that mean that nothing happened.
    match unsafe { (info.si_pid(), info.si_code, info.si_status()) } {
        (0, _, _) => Ok(None),
        (_, libc::CLD_TRAPPED | libc::CLD_STOPPED, status) => {
            // The event is in the second byte; without one, the stop is that of a signal.
            Ok(Some(if status >> 8 == 0 { status } else { 0 }))
        }
        _ => Err(StackError::Ended { tid }),
    }
}

/// Whether the stop made a system call return `EINTR` to the program. The kernel takes nearly all
/// calls up again by itself after a stop without a signal; these it does not (signal(7), the last
/// section, and calls on sockets with a time-out).
fn must_be_restarted(registers: &libc::user_regs_struct) -> bool {
    registers.rax as i64 == -i64::from(libc::EINTR)
        && matches!(
            registers.orig_rax as i64,
            libc::SYS_epoll_wait
                | libc::SYS_epoll_pwait
                | libc::SYS_epoll_pwait2
                | libc::SYS_semop
                | libc::SYS_semtimedop
                | libc::SYS_io_getevents
                | libc::SYS_rt_sigtimedwait
                | libc::SYS_read
                | libc::SYS_write
                | libc::SYS_accept
                | libc::SYS_accept4
                | libc::SYS_connect
                | libc::SYS_recvfrom
                | libc::SYS_recvmsg
                | libc::SYS_sendto
                | libc::SYS_sendmsg
        )
}

/// Sets the thread back to its `syscall` instruction.
fn restart(tid: i32, mut registers: libc::user_regs_struct) {
    const SYSCALL_LENGTH: u64 = 2;
    registers.rax = registers.orig_rax;
    registers.rip -= SYSCALL_LENGTH;
    // It fails only if the thread has been killed meanwhile.
    let _ = ptrace(libc::PTRACE_SETREGS, tid, &raw const registers as usize);
}

/// `ptrace` with the argument that the requests of this file take: nothing, a signal, or the address
/// of a register set that lives across the call.
fn ptrace(request: libc::c_uint, tid: i32, data: usize) -> io::Result<()> {
    // SAFETY: the requests of this file read or write no memory of ours but the register set whose
    // address is passed.
    let result = unsafe { libc::ptrace(request, tid, ptr::null_mut::<libc::c_void>(), data) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
