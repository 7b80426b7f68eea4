//! Signals.
//!
//! An asynchronous signal would run its handler on a parked thread beside the one that holds the
//! baton. So the handlers that the kernel knows are ours ([`kernel`]): they only queue. A queued
//! signal becomes pending for an eligible thread, and its handler runs at that thread's next
//! schedule point, as a decision like any other. Signals from outside are polled when no thread
//! can run, and from time to time, so that runs repeat wherever that is possible.

pub mod action;
pub mod alternate;
pub mod deliver;
pub mod fiber;
pub mod kernel;
pub mod lend;
pub mod mailbox;
mod queue;
pub mod timers;

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{Event, EventKind, ThreadId};

use crate::scheduler::thread::{Life, Wake};
use crate::scheduler::Scheduler;
pub use queue::{rank, Queue};

/// Signals are numbered from 1 to 64.
pub const SIGNALS: usize = 65;

/// What the program wants to happen on a signal.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Action {
    /// SIG_DFL, SIG_IGN or the handler.
    pub handler: usize,
    /// SA_ flags.
    pub flags: c_int,
    /// Signals blocked during the handler.
    pub mask: u64,
}

impl Action {
    /// Whether there is a handler to run.
    pub fn handled(&self) -> bool {
        self.handler != libc::SIG_DFL && self.handler != libc::SIG_IGN
    }

    /// Whether a signal that is not blocked has no effect at all.
    pub fn ignores(&self, signal: c_int) -> bool {
        self.handler == libc::SIG_IGN || self.handler == libc::SIG_DFL && IGNORED_BY_DEFAULT & bit(signal) != 0
    }

    /// What a handler that runs under this mask blocks.
    pub fn mask_on_top_of(&self, signal: c_int, mask: u64) -> u64 {
        let own = if self.flags & libc::SA_NODEFER == 0 { bit(signal) } else { 0 };
        mask | self.mask | own
    }
}

/// Signals of the process. Valid when zeroed.
#[repr(C)]
pub struct Signals {
    /// The earliest deadline of all alarms and timers, plus one; 0 when there is none.
    pub next: u64,
    /// The deadline of alarm and setitimer, plus one; 0 when there is none.
    pub alarm: u64,
    /// The interval of setitimer.
    pub alarm_interval: u64,
    /// A timer of the kernel's is armed.
    pub kernel_timer: bool,
    /// What the program wants, by signal.
    pub actions: [Action; SIGNALS],
    /// What waits for a thread.
    pub queue: Queue,
}

/// The bit of a signal in a mask.
pub const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Codes of signals that a process sends: by kill(2), and by tgkill(2).
pub const SI_USER: c_int = 0;
/// See [`SI_USER`].
pub const SI_TKILL: c_int = -6;

/// What no thread can block.
pub const UNBLOCKABLE: u64 = bit(libc::SIGKILL) | bit(libc::SIGSTOP);

/// The signals that glibc uses itself.
pub const LIBCS: u64 = bit(32) | bit(33);

/// Signals that do nothing unless they have a handler.
const IGNORED_BY_DEFAULT: u64 = bit(libc::SIGCHLD) | bit(libc::SIGCONT) | bit(libc::SIGURG) | bit(libc::SIGWINCH);

/// The signals that the kernel always lets through to a handler of the runtime's own, because it needs them itself:
/// SIGSYS, which says that a system call was trapped, and SIGVTALRM, which is the tick. What the program wants of them
/// is kept here alone.
static RESERVED: AtomicU64 = AtomicU64::new(0);

/// The runtime needs a signal from now on.
pub fn reserve(signal: c_int) {
    RESERVED.fetch_or(bit(signal), Ordering::Relaxed);
}

/// See [`reserve`].
pub fn reserved() -> u64 {
    RESERVED.load(Ordering::Relaxed)
}

/// Whether the runtime needs a signal itself.
pub fn is_reserved(signal: c_int) -> bool {
    reserved() & bit(signal) != 0
}

/// The thread that handles a signal to the process: the main thread if it can, as in the kernel.
pub fn eligible(scheduler: &Scheduler, signal: c_int) -> Option<ThreadId> {
    (0..scheduler.created).map(|i| ThreadId(i as u16)).find(|t| {
        let thread = &scheduler.threads[t.index()];
        thread.life == Life::Alive && thread.signal_mask & bit(signal) == 0
    })
}

/// A signal is to be handled by a thread: ends its wait, if it waits.
pub fn notify(scheduler: &mut Scheduler, t: ThreadId) {
    scheduler.thread(t).signals = 1;
    if !scheduler.enabled.contains(t) && scheduler.threads[t.index()].life == Life::Alive {
        scheduler.set_pending(t, Event::new(EventKind::Handler, 0));
        scheduler.end_wait(t, Wake::Interrupted);
    }
}

/// A signal sent by this process to itself or one of its threads.
pub fn own_info(signal: c_int, code: c_int) -> libc::siginfo_t {
    // SAFETY: plain numbers; the layout is the kernel's: signal, errno, code, then pid and uid.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        info.si_signo = signal;
        info.si_code = code;
        let fields = (&raw mut info).cast::<c_int>();
        fields.add(4).write(crate::os::sys::getpid());
        fields.add(5).write(crate::syscall!(libc::SYS_getuid) as c_int);
        info
    }
}

/// What a handler without SA_SIGINFO, and one with it, look like.
pub type PlainHandler = unsafe extern "C-unwind" fn(c_int);
/// See [`PlainHandler`].
pub type InfoHandler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);
