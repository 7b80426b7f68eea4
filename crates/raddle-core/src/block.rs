//! The block of shared memory between the command line and the runtime: settings in, decisions and
//! results out. It outlives the target's crash, and needs no descriptor once it is mapped.
//!
//! One block serves one job, run after run. Layout: [`Block`], then `log_capacity` decisions that
//! the runtime records, then `replay_len` decisions that it is to follow, then `search_bytes` for the
//! state of a policy that outlives its runs. Both sides are built from this file; [`VERSION`] changes
//! with the layout.
//!
//! The two sides take turns: the command line writes [`Settings`] only while no run is on, the
//! runtime writes [`Results`] only during a run. [`Control`] is atomics.

use core::sync::atomic::{AtomicI32, AtomicU32};

use crate::decorators::guard;
use crate::lessons::Lessons;
use crate::policy::{Explored, Profile, MAX_PARAMETERS};
use crate::races::{Places, Races};
use crate::rng;
use crate::thread::MAX_THREADS;

/// "raddle\0" and a digit.
pub const MAGIC: u64 = u64::from_le_bytes(*b"raddle\x001");

/// The version of this layout.
pub const VERSION: u32 = 1;

/// The environment variable that carries the number of the descriptor of the block.
pub const FD_VARIABLE: &str = "RADDLE_BLOCK";

/// Where the runtime maps the block: far from where the kernel and the sanitizers put things, so
/// that the target's own addresses do not depend on it. The runtime's own memory lies below, in the same
/// gigabyte, so that both share page tables.
pub const ADDRESS: usize = 0x2000_2000_0000;

/// The whole block.
#[repr(C)]
pub struct Block {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Bytes of the whole mapping.
    pub size: u64,
    /// What the command line wants.
    pub settings: Settings,
    /// The turn-taking.
    pub control: Control,
    /// What the run did.
    pub results: Results,
    /// What a check in the program asks for.
    pub wishes: Wishes,
    /// The places that are known to race.
    pub places: Places,
    /// What the policy is told of earlier runs.
    pub lessons: Lessons,
    /// What later runs can learn from this one.
    pub trace: Trace,
    /// The races that were seen in this run.
    pub races: Races,
    /// What the runs of an order in one process did.
    pub summaries: [Summary; SUMMARIES],
    /// What the command line has to say about a failed check, ended by a zero.
    pub verdict: [u8; 1024],
    /// The state of every thread when the run failed.
    pub threads: [ThreadReport; MAX_THREADS],
}

impl Block {
    /// Where the recorded decisions start, in bytes from the start of the block.
    pub const LOG_OFFSET: usize = core::mem::size_of::<Block>().next_multiple_of(4096);

    /// Bytes that a block with these settings needs.
    pub fn size_for(settings: &Settings) -> usize {
        Self::search_offset(settings) + (settings.search_bytes as usize).next_multiple_of(4096)
    }

    /// Where the state of a policy that outlives its runs starts, in bytes from the start of the block.
    pub fn search_offset(settings: &Settings) -> usize {
        (Self::LOG_OFFSET + 4 * (settings.log_capacity + settings.replay_len) as usize).next_multiple_of(4096)
    }

    /// Where the decisions to follow start, in bytes from the start of the block.
    pub fn replay_offset(&self) -> usize {
        Self::LOG_OFFSET + 4 * self.settings.log_capacity as usize
    }
}

/// Bytes for the state of a policy that outlives its runs: [`Settings::search_bytes`] is this, or 0. What is not
/// used of them costs nothing.
pub const SEARCH_BYTES: usize = 64 << 20;

/// What a reduction of a search does not know of; bits of [`Results::notes`]. Above them lie the bits of
/// [`crate::policy::Gap`].
pub mod note {
    /// The first bit of a gap.
    pub const GAPS: u32 = 8;
    /// Time was read, or something waited for a time to come.
    pub const TIMED: u64 = 1;
    /// The model drew which of several threads was woken.
    pub const DRAWN: u64 = 1 << 1;
    /// The end of a thread gave back what it held.
    pub const ORPHANED: u64 = 1 << 2;
    /// A loop read variables without points.
    pub const SPUN: u64 = 1 << 3;
}

/// Switches in [`Settings::flags`].
pub mod flag {
    /// Become a fork server before main; without it the process is itself one run.
    pub const SERVER: u32 = 1;
    /// On a failure, stop until the command line has looked at the threads.
    pub const FREEZE: u32 = 1 << 1;
    /// Follow the recorded decisions.
    pub const REPLAY: u32 = 1 << 2;
    /// Do not trap system calls that are made outside the interposed functions.
    pub const NO_DISPATCH: u32 = 1 << 3;
    /// Do not take away scheduling from spinning code that has no schedule points.
    pub const NO_TICK: u32 = 1 << 5;
    /// Switch threads as fibers, where that is sound.
    pub const FIBERS: u32 = 1 << 6;
    /// LD_BIND_NOW in the environment is raddle's, not the user's.
    pub const BOUND: u32 = 1 << 7;
    /// Look for data races.
    pub const DETECT: u32 = 1 << 8;
    /// A data race is a failure.
    pub const RACE_FAILS: u32 = 1 << 9;
    /// Fill in the [`super::Trace`].
    pub const TRACE: u32 = 1 << 10;
    /// The main thread is that of a test harness, which waits for the test.
    pub const HARNESS: u32 = 1 << 11;
    /// Threads really run at the same time: the policy is a parallel one.
    pub const PARALLEL: u32 = 1 << 12;
    /// With [`REPLAY`]: the decisions are those of a parallel run, one for every point, and are followed as far as
    /// that is possible.
    pub const EVERY: u32 = 1 << 13;
    /// Note who passed each point, in [`super::Trace::passed`].
    pub const PASSED: u32 = 1 << 14;
}

/// Which operations of an instrumented program are schedule points, in [`Settings::points`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Points {
    /// Calls and futexes.
    Sync = 0,
    /// Atomics and volatile variables too.
    Atomic = 1,
    /// The plain accesses at places that are known to race too: see [`crate::races::Places`].
    Race = 2,
    /// Every access.
    Memory = 3,
}

impl Points {
    /// All of them, the poorest first.
    pub const ALL: [Points; 4] = [Points::Sync, Points::Atomic, Points::Race, Points::Memory];

    /// The name on the command line and in schedule files.
    pub fn name(self) -> &'static str {
        ["sync", "atomic", "race", "memory"][self as usize]
    }

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<Points> {
        Points::ALL.into_iter().find(|level| level.name() == name)
    }

    /// The level with this number.
    pub fn from_u32(number: u32) -> Option<Points> {
        Points::ALL.into_iter().find(|level| *level as u32 == number)
    }
}

/// Threads with one size of stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Stacks {
    /// Bytes of the stack as asked for; 0 for the default.
    pub size: u64,
    /// Bytes of the guard below it.
    pub guard: u32,
    /// How many.
    pub count: u32,
}

impl Stacks {
    /// One thread with such a stack.
    pub fn one(self) -> Stacks {
        Stacks { count: 1, ..self }
    }
}

/// The type of the ELF note, of the owner "raddle", in a program with checks: control starts inside the
/// checks and not at main.
pub const CHECKS: u32 = 1;

/// Runs of one order in one process, at most.
pub const SUMMARIES: usize = 4096;

/// What one run in a process of many did.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Summary {
    /// As in [`Results`].
    pub hash: u64,
    /// As in [`Results`].
    pub steps: u64,
    /// As in [`Results`].
    pub points: u64,
    /// As in [`Results`].
    pub shared_points: u64,
    /// As in [`Results`].
    pub switches: u64,
    /// As in [`Results`].
    pub escapes: u64,
    /// As in [`Results`].
    pub guard_fired: u64,
    /// As in [`Results`].
    pub threads: u32,
    /// Cut at the step limit.
    pub cut: u32,
    /// See [`Results::longest_phase`].
    pub phase: u64,
    /// As in [`Results`].
    pub member: u64,
    /// As in [`Results`].
    pub notes: u64,
}

/// Points of which it is noted who passed them.
pub const PASSED: usize = 1 << 16;

/// Steps whose objects are noted.
pub const OBJECTS: usize = 1 << 16;

/// What the decisions of a run do not tell.
#[repr(C)]
pub struct Trace {
    /// Who created each thread, by thread id.
    pub parents: [u16; MAX_THREADS],
    /// Points that each thread passed while no other one was enabled but another one was alive, by thread id.
    pub alone: [u32; MAX_THREADS],
    /// The object of each recorded decision, as far as there is room.
    pub objects: [u64; OBJECTS],
    /// How many points were passed since the second thread was created, in a serial run with [`flag::PASSED`].
    pub points: u64,
    /// Who passed them, whether there was anything to decide or not, as far as there is room.
    pub passed: [u16; PASSED],
}

impl From<&Results> for Summary {
    #[inline]
    fn from(results: &Results) -> Summary {
        Summary {
            hash: results.hash,
            steps: results.steps,
            points: results.points,
            shared_points: results.shared_points,
            switches: results.switches,
            escapes: results.escapes,
            guard_fired: results.guard_fired,
            threads: results.threads,
            cut: 0,
            phase: results.longest_phase(),
            member: results.member.into(),
            notes: results.all_notes(),
        }
    }
}

/// What a check asks for; what is zero is not said.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Wishes {
    /// The check's name, ended by a zero.
    pub name: [u8; 128],
    /// The policy with its parameters, ended by a zero.
    pub policy: [u8; 128],
    /// Runs.
    pub runs: u64,
    /// The seed.
    pub seed: u64,
    /// Whether there is one.
    pub has_seed: u32,
    /// When a run is cut.
    pub max_steps: u64,
}

/// Sizes of stacks that are told apart.
pub const STACKS: usize = 4;

/// Arguments that are passed in integer registers.
pub const ARGUMENTS: usize = 6;

/// The most functions that can be made schedule points.
pub const SYNC_FUNCTIONS: usize = 64;

/// What the command line wants of a run.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Settings {
    /// The number of this run, from 1.
    pub run: u64,
    /// The seed of this run.
    pub seed: u64,
    /// The policy's name, padded with zeros.
    pub policy: [u8; 32],
    /// The policy's parameters.
    pub parameters: [f64; MAX_PARAMETERS],
    /// The starvation guard.
    pub guard: guard::Settings,
    /// What earlier blocks of runs showed.
    pub profile: Profile,
    /// Counted steps after which a run is cut.
    pub max_steps: u64,
    /// CLOCK_REALTIME at the start of every run, in nanoseconds since 1970.
    pub realtime: u64,
    /// An OS thread that sleeps in the kernel for a reason that nobody models counts as blocked after so many looks at it
    /// by those who wait.
    pub yields: u32,
    /// How many CPUs the program is told that there are.
    pub cpus: u32,
    /// See [`flag`].
    pub flags: u32,
    /// See [`Points`].
    pub points: u32,
    /// Room for so many recorded decisions; the log stops when it is full.
    pub log_capacity: u64,
    /// Decisions to follow.
    pub replay_len: u64,
    /// Bytes at the end of the block for the state of a policy that outlives its runs; 0: it does not.
    pub search_bytes: u64,
    /// Threads that earlier blocks of runs made, by their stacks: fibers are made ready for them before
    /// the run.
    pub stacks: [Stacks; STACKS],
    /// Functions whose calls are schedule points: where they are in the program's file, counted
    /// from where it is loaded; 0 for none.
    pub sync_offsets: [u64; SYNC_FUNCTIONS],
    /// In a program with checks ([`CHECKS`]): which of them makes the runs, counted from 1.
    pub check: u32,
    /// The first and the last run that a check or a fork server is to make before it answers; 0 for a fork
    /// server that makes one run, with the seed above.
    pub first_run: u64,
    /// See `first_run`.
    pub last_run: u64,
    /// The campaign's seed, from which the runs in one process take theirs.
    pub campaign_seed: u64,
    /// The exit status of a good run.
    pub expect_exit: i32,
    /// The directory that a good run leaves empty, ended by a zero.
    pub scratch: [u8; 512],
    /// What each run opens as its standard input, ended by a zero; empty: it keeps what it has.
    pub stdin: [u8; 128],
    /// The directory that a run starts in, ended by a zero; empty: it keeps the one it has.
    pub directory: [u8; 512],
}

impl Settings {
    /// The seed of a run that is known by its number. A search gives all its runs the same, so that they differ
    /// by their schedules only.
    pub fn run_seed(&self, run: u64) -> u64 {
        rng::run_seed(self.campaign_seed, if self.search_bytes == 0 { run } else { 1 })
    }
}

/// Bits of [`Control::event`].
pub mod event {
    /// The fork server is ready for a command.
    pub const READY: u32 = 1;
    /// The run has stopped at a failure and waits for [`super::Control::release`].
    pub const FROZEN: u32 = 1 << 1;
    /// The run is over; `wait_status` is valid.
    pub const DONE: u32 = 1 << 2;
    /// A check in the program is reached, and waits for a command.
    pub const CHECK: u32 = 1 << 4;
    /// A child of the command line has ended (set by its own signal handler).
    pub const CHILD: u32 = 1 << 3;
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
}

/// Values of [`Control::switch`].
pub mod switch {
    /// The run has not started.
    pub const UNKNOWN: u32 = 0;
    /// OS threads.
    pub const OS: u32 = 1;
    /// Fibers.
    pub const FIBER: u32 = 2;
}

/// Turn-taking between the command line and the runtime. All words are shared futexes.
#[repr(C)]
pub struct Control {
    /// Set by the runtime once it has mapped the block.
    pub attached: AtomicU32,
    /// What the fork server shall do; it sets it back to [`command::IDLE`].
    pub command: AtomicU32,
    /// What happened; the command line clears the bits that it has seen.
    pub event: AtomicU32,
    /// Set to 1 to let a frozen run go on to its end.
    pub release: AtomicU32,
    /// The process of the current run.
    pub run_pid: AtomicI32,
    /// The run's status as wait gives it.
    pub wait_status: AtomicI32,
    /// Why the program could not become a fork server.
    pub fallback: AtomicU32,
    /// Runs of the order in one process that are over.
    pub completed: AtomicU32,
    /// Processes that outlived a run and were ended by the fork server.
    pub strays: AtomicU32,
    /// Counts the points of the run while it goes on, for a watchdog.
    pub heartbeat: AtomicU32,
    /// How threads are switched: see [`switch`].
    pub switch: AtomicU32,
    /// Why threads are not switched as fibers: see [`OsReason`]; 0 for no reason.
    pub os_reason: AtomicU32,
}

/// How a run ended, as far as the runtime saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Outcome {
    /// The runtime saw no end: the process was killed, or ended behind its back.
    Unknown = 0,
    /// exit, _exit or a return from main.
    Exited = 1,
    /// Every thread waits for another.
    Deadlock = 2,
    /// Many steps without progress.
    Livelock = 3,
    /// Cut at the step limit while there was progress.
    StepLimit = 4,
    /// A replay left its recording.
    Diverged = 5,
    /// A fatal signal.
    Signal = 6,
    /// A failed assertion.
    Assert = 7,
    /// The runtime found itself in an impossible state.
    Internal = 8,
    /// More threads than [`MAX_THREADS`].
    TooManyThreads = 9,
    /// The run met something that fibers cannot give; it is to be made again with OS threads. See
    /// [`Control::os_reason`].
    NeedsOsThreads = 10,
    /// The body of a check said that it failed.
    BodyFailed = 11,
    /// The body of a check left threads running.
    ThreadsLeft = 12,
    /// The body of a check ran differently when it was run again.
    StateLeaks = 13,
    /// No run was made: the policy has no schedule left. See [`Results::explored`].
    Exhausted = 14,
}

impl Outcome {
    /// The outcome with this number; unknown numbers are [`Outcome::Unknown`].
    pub fn from_u32(number: u32) -> Outcome {
        use Outcome::*;
        [
            Exited,
            Deadlock,
            Livelock,
            StepLimit,
            Diverged,
            Signal,
            Assert,
            Internal,
            TooManyThreads,
            NeedsOsThreads,
            BodyFailed,
            ThreadsLeft,
            StateLeaks,
            Exhausted,
        ]
        .into_iter()
        .find(|o| *o as u32 == number)
        .unwrap_or(Unknown)
    }
}

macro_rules! escapes {
    ($($(#[$doc:meta])* $name:ident = $bit:literal $text:literal,)*) => {
        /// What can escape control; a bit each in [`Results::escapes`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum Escape { $($(#[$doc])* $name = $bit,)* }

        impl Escape {
            /// All of them.
            pub const ALL: &'static [Escape] = &[$(Escape::$name,)*];

            /// In words, for people.
            pub fn text(self) -> &'static str {
                match self { $(Escape::$name => $text,)* }
            }
        }
    };
}

escapes! {
    /// A thread was not created by pthread_create.
    ForeignThread = 0 "a thread that was not created by pthread_create runs outside control",
    /// Asynchronous cancellation.
    AsyncCancel = 1 "asynchronous cancellation acts at the next schedule point only",
    /// timer_create and the like.
    Timers = 2 "timers (timer_create, timerfd, setitimer of CPU time) run on the real clock",
    /// The last-resort tick.
    Tick = 3 "code without schedule points was preempted by a timer (not repeatable)",
    /// Input or signals from other processes.
    OutsideInput = 4 "input or signals from outside the program may arrive at different steps",
    /// Process-shared objects.
    SharedObject = 5 "objects shared between processes use the real primitive",
    /// A call that blocks where nothing can be modelled.
    UncontrolledCall = 6 "a system call that may block was made outside the model",
    /// Futexes without a lock library that we see.
    Futex = 7 "uncontended locks are not schedule points",
    /// Dispatch is not available.
    NoDispatch = 8 "system calls made outside libc's functions are not seen (syscall user dispatch is not available)",
    /// Robust mutexes over process boundaries, and so on.
    Children = 9 "child processes run outside control",
    /// A real-time scheduling class or an affinity was asked for.
    Affinity = 10 "scheduling classes and CPU affinities asked for by the program are ignored",
    /// CPU-time clocks.
    CpuClock = 11 "CPU-time clocks are real",
    /// The policy is a parallel one.
    Parallel = 12 "threads ran at the same time: the same seed does not give the same run",
}

/// Longest message, in bytes.
pub const MESSAGE: usize = 2048;

/// What a run did.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Results {
    /// See [`Outcome`].
    pub outcome: u32,
    /// The signal of [`Outcome::Signal`].
    pub signal: i32,
    /// The thread that failed, or `u32::MAX`.
    pub thread: u32,
    /// Threads of the run, the main one included.
    pub threads: u32,
    /// The most threads that were alive at once.
    pub threads_alive: u32,
    /// What instrumented files of the program make visible: see [`crate::hooks::offers`].
    pub offers: u32,
    /// Which policy of a portfolio decided.
    pub member: u32,
    /// The policy's bound in this run, plus 1; 0: it has none.
    pub bound: u32,
    /// What the policy had left out before this run; bits of [`crate::policy::Gap`].
    pub gaps: u32,
    /// See [`note`].
    pub notes: u64,
    /// What the policy has explored, with [`Outcome::Exhausted`].
    pub explored: Explored,
    /// Counted steps.
    pub steps: u64,
    /// Schedule points, counted or not.
    pub points: u64,
    /// Points that were reached while two threads were alive.
    pub shared_points: u64,
    /// The steps before the last sequential stretch ended.
    pub phase_start: u64,
    /// The most steps between the ends of two sequential stretches, the last one not counted.
    pub phase: u64,
    /// Hand-overs from one thread to another.
    pub switches: u64,
    /// Hash of (thread, event kind) at the counted steps.
    pub hash: u64,
    /// Recorded decisions.
    pub log_len: u64,
    /// How often the starvation guard stepped in.
    pub guard_fired: u64,
    /// See [`Escape`].
    pub escapes: u64,
    /// The threads that the run made, by their stacks.
    pub stacks: [Stacks; STACKS],
    /// The address of a fault.
    pub address: u64,
    /// Where a replay diverged: the step, counted from 1; 0 when it did not.
    pub diverged_step: u64,
    /// The recorded decision there, or `u32::MAX` past the recording's end.
    pub diverged_expected: u32,
    /// What the program was about to do instead.
    pub diverged_found: u32,
    /// Whether the expected thread could go on.
    pub diverged_enabled: u32,
    /// Bytes of `message`.
    pub message_len: u32,
    /// The assertion's text or another explanation.
    pub message: [u8; MESSAGE],
}

impl Results {
    /// The notes with the gaps above them.
    pub fn all_notes(&self) -> u64 {
        self.notes | u64::from(self.gaps) << note::GAPS
    }

    /// The most steps between the ends of two sequential stretches.
    #[inline]
    pub fn longest_phase(&self) -> u64 {
        self.phase.max(self.steps.saturating_sub(self.phase_start))
    }
}

/// States of a thread in a [`ThreadReport`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ThreadState {
    /// The slot was never used.
    None = 0,
    /// Could take a step.
    Enabled = 1,
    /// Waits for something.
    Blocked = 2,
    /// Has ended.
    Exited = 3,
    /// Is in a call outside the model.
    Outside = 4,
}

/// The state of one thread when the run failed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ThreadReport {
    /// See [`ThreadState`].
    pub state: u8,
    /// The kind of its next event.
    pub kind: u8,
    /// Who holds what it waits for, or `u16::MAX`.
    pub holder: u16,
    /// The kernel's thread id.
    pub tid: i32,
    /// The object of its next event.
    pub object: u64,
    /// When a timed wait ends on the virtual clock, or `u64::MAX`.
    pub deadline: u64,
    /// The thread's name, padded with zeros.
    pub name: [u8; 16],
    /// Where it was created: the start routine.
    pub start: u64,
    /// Where a parked fiber's registers are saved; 0 for one that runs on the OS thread `tid`.
    pub context: u64,
    /// The call of a function named by `--sync-function` that it is in.
    pub call: NamedCall,
    /// The last such call that has returned to it, if it has made none since.
    pub returned: NamedCall,
}

/// A call of a function named by `--sync-function`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedCall {
    /// Where the function is, counted from where the program is loaded; 0 for no call.
    pub function: u64,
    /// The integer registers that pass arguments, as they were at the beginning.
    pub arguments: [u64; ARGUMENTS],
    /// The register rax as it was at the return.
    pub value: u64,
}

/// The text at the start of a field that is padded or ended by zeros.
pub fn text(field: &[u8]) -> &str {
    let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
    core::str::from_utf8(&field[..end]).unwrap_or("")
}
