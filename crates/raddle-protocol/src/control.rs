//! Turn-taking between raddle and the runtime.

use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

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

macro_rules! reasons {
    ($(#[$about:meta])* $reason:ident: $($(#[$doc:meta])* $name:ident = $number:literal $text:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum $reason { $($(#[$doc])* $name = $number,)* }

        impl $reason {
            /// All of them.
            pub const ALL: &'static [$reason] = &[$($reason::$name,)*];

            /// In words, for people.
            pub fn text(self) -> &'static str {
                match self { $($reason::$name => $text,)* }
            }

            /// The reason with this number.
            pub fn from_u32(number: u32) -> Option<$reason> {
                $reason::ALL.iter().copied().find(|r| *r as u32 == number)
            }
        }
    };
}

reasons! {
    /// Why each run starts the program anew although a fork server was wanted: the program has something that a fork
    /// does not copy, or that parent and child share; see [`Control::fallback`].
    Fallback:
    Threads = 1 "it starts threads before main",
    /// Pipes are made anew for each run.
    Descriptors = 2 "it opens files, sockets or the like before main",
    SharedMemory = 3 "it maps shared memory before main",
    Timers = 4 "it starts timers before main",
    /// Locked memory, and memory that children do not get.
    SpecialMemory = 5 "it locks memory, or withholds memory from its children, before main",
    PendingSignals = 6 "signals are waiting for it before main",
    Children = 7 "it starts other processes before main",
    Output = 8 "it prints before main",
    Streams = 9 "it replaces a standard stream before main",
    Directory = 10 "it changes its working directory before main",
    /// Of System V.
    Objects = 11 "it asks for System V semaphores, message queues or shared memory before main",
    ProcessId = 12 "it asks for its process id before main",
    /// In any of its runs, and the runtime goes along.
    Exec = 13 "it replaces itself with another program (exec)",
}

reasons! {
    /// Why threads are switched as OS threads although fibers were wanted; see [`Control::os_reason`].
    OsReason:
    /// The wrfsbase instruction is not there.
    NoFsgsbase = 1 "the processor or the kernel does not let programs set the FS base",
    /// Syscall user dispatch is not there.
    NoDispatch = 2 "syscall user dispatch is not available",
    /// glibc's thread control block could not be read.
    UnknownLibc = 3 "the layout of this C library's threads is not known",
    /// AddressSanitizer and its relatives keep books on threads and stacks.
    Sanitizer = 4 "the program is built with a sanitizer, which keeps its own records of stacks",
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
    Waits = 12 "the program makes calls that may wait in the kernel for something that raddle does not model",
    /// Mutexes of which the kernel, or libc by way of it, keeps who holds them.
    KernelLocks = 13 "the program uses priority-ceiling mutexes, or process-shared mutexes that are robust or inherit \
                      priorities",
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
        /// Why the program could not become a fork server: see [`Fallback`]; 0 for no reason.
        pub fallback: AtomicU32,
        /// Runs of the current series that have ended.
        pub completed: AtomicU32,
        /// Processes that outlived a run and were ended by the fork server.
        pub strays: AtomicU32,
        /// Points of the run that are none of the program's: a timer preempted a thread there.
        pub preemptions: AtomicU32,
        /// Programs that have started another one in their place, and those of them whose successor has mapped the block.
        pub execs: AtomicU32,
        /// See `execs`.
        pub followed: AtomicU32,
        /// What is left of the alarm for the next program, in nanoseconds; 0: there is none.
        pub alarm: AtomicU64,
        pub alarm_interval: AtomicU64,
        /// The virtual clock when the next program was started.
        pub clock: AtomicU64,
        /// How threads are switched: see [`switch`].
        pub switch: AtomicU32,
        /// Why threads are not switched as fibers: see [`OsReason`]; 0 for no reason.
        pub os_reason: AtomicU32,
    }
}
