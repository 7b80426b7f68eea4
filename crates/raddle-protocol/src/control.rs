//! Turn-taking between raddle and the runtime.

use core::sync::atomic::{AtomicI32, AtomicU32};

use crate::shared;

/// Bits of [`Control::event`].
pub mod event {
    /// The fork server is ready for a command.
    pub const READY: u32 = 1;
    /// The run has stopped at a failure and waits for [`super::Control::release`].
    pub const FROZEN: u32 = 1 << 1;
    /// The run is over; `wait_status` is valid.
    pub const DONE: u32 = 1 << 2;
    /// The process that was started has ended (set by raddle itself).
    pub const CHILD: u32 = 1 << 3;
    /// A check in the program is reached, and waits for a command.
    pub const CHECK: u32 = 1 << 4;
    /// The job is asked to stop (set by raddle itself).
    pub const STOP: u32 = 1 << 5;
}

/// Values of [`Control::command`].
pub mod command {
    /// Nothing to do.
    pub const IDLE: u32 = 0;
    /// Start a run with the current settings.
    pub const RUN: u32 = 1;
    /// Leave.
    pub const QUIT: u32 = 2;
}

/// Values of [`Control::fallback`]: why there is no fork server.
pub mod fallback {
    /// There is one, or none was asked for.
    pub const NONE: u32 = 0;
    /// The program had started threads before main.
    pub const THREADS: u32 = 1;
    /// The program had opened pipes, sockets or the like before main.
    pub const DESCRIPTORS: u32 = 2;
}

macro_rules! os_reasons {
    ($($(#[$doc:meta])* $name:ident = $number:literal $text:literal,)*) => {
        /// Why threads are switched as OS threads although fibers were wanted; see
        /// [`Control::os_reason`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum OsReason { $($(#[$doc])* $name = $number,)* }

        impl OsReason {
            /// All of them.
            pub const ALL: &'static [OsReason] = &[$(OsReason::$name,)*];

            /// In words, for people.
            pub fn text(self) -> &'static str {
                match self { $(OsReason::$name => $text,)* }
            }

            /// The reason with this number.
            pub fn from_u32(number: u32) -> Option<OsReason> {
                OsReason::ALL.iter().copied().find(|r| *r as u32 == number)
            }
        }
    };
}

os_reasons! {
    /// The wrfsbase instruction is not there.
    NoFsgsbase = 1 "the processor or the kernel does not let programs set the FS base",
    /// Syscall user dispatch is not there.
    NoDispatch = 2 "syscall user dispatch is not available",
    /// glibc's thread control block could not be read.
    UnknownLibc = 3 "the layout of this C library's threads is not known",
    /// AddressSanitizer and its relatives keep books on threads and stacks.
    Sanitizer = 4 "the program is built with a sanitizer, which keeps its own books on stacks",
    /// PTHREAD_CANCEL_ASYNCHRONOUS.
    AsyncCancel = 5 "the program uses asynchronous cancellation",
    /// CLOCK_THREAD_CPUTIME_ID and the like.
    ThreadClock = 6 "the program asks for the CPU time of a thread",
    /// sched_setaffinity and the like.
    Affinity = 7 "the program asks for CPU affinities or scheduling classes of threads",
    /// clone with CLONE_VM.
    ForeignThread = 8 "the program makes threads without pthread_create",
    /// A system call that changes what the kernel knows of one thread.
    ThreadState = 9 "the program changes what the kernel keeps for each thread (credentials, namespaces, filters)",
    /// SYS_exit, past libc.
    RawExit = 10 "a thread ends by a system call of its own",
    /// /proc/self/task and /proc/thread-self.
    ProcTask = 11 "the program looks at its threads under /proc",
    /// A call that may wait in the kernel and cannot be tried first.
    Waits = 12 "the program makes calls that may wait in the kernel for what is not modelled",
    /// Mutexes of which the kernel, or libc by way of it, keeps who holds them.
    KernelLocks = 13 "the program uses mutexes with priority ceilings, or robust or inheriting ones that processes share",
}

/// Values of [`Control::switch`].
pub mod switch {
    /// The run has not started.
    pub const UNKNOWN: u32 = 0;
    /// OS threads.
    pub const OS: u32 = 1;
    pub const FIBER: u32 = 2;
}

shared! {
    /// Turn-taking between the command line and the runtime. All words are shared futexes.
    pub struct Control {
        /// Set by the runtime once it has mapped the block.
        pub attached: AtomicU32,
        /// What the fork server is asked to do; it sets this back to [`command::IDLE`].
        pub command: AtomicU32,
        /// What happened; the command line clears the bits that it has seen.
        pub event: AtomicU32,
        /// Set to 1 to let a frozen run continue to its end.
        pub release: AtomicU32,
        /// The process of the current run.
        pub run_pid: AtomicI32,
        /// The run's status as wait gives it.
        pub wait_status: AtomicI32,
        /// Why the program could not become a fork server.
        pub fallback: AtomicU32,
        /// Runs of the current series that have ended.
        pub completed: AtomicU32,
        /// Processes that outlived a run and were ended by the fork server.
        pub strays: AtomicU32,
        /// How threads are switched: see [`switch`].
        pub switch: AtomicU32,
        /// Why threads are not switched as fibers: see [`OsReason`]; 0 for no reason.
        pub os_reason: AtomicU32,
    }
}
