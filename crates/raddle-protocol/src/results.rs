//! What a run did.

use raddle_core::policy::Explored;
use raddle_core::{delays, Delay};

use crate::heap::HeapReport;
use crate::settings::{Stacks, STACKS};
use crate::shared;

/// What the reduction of a search cannot see; bits of [`Results::blind_spots`]. Above them lie the bits of
/// [`Gap`](raddle_core::policy::Gap).
pub mod blind_spot {
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
    /// A thread waited for a time to come while others could run.
    pub const DEADLINES: u64 = 1 << 4;
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
    /// The same state again and again under a fair schedule.
    Livelock = 3,
    /// Cut at the step limit.
    StepLimit = 4,
    /// A replay left its recording.
    Diverged = 5,
    /// A fatal signal.
    Signal = 6,
    /// A failed assertion.
    Assert = 7,
    /// The runtime found itself in an impossible state.
    Internal = 8,
    /// More threads than [`MAX_THREADS`](raddle_core::MAX_THREADS).
    TooManyThreads = 9,
    /// The run met something that fibers cannot give; it is to be repeated with OS threads. See
    /// [`Control::os_reason`](crate::control::Control::os_reason).
    NeedsOsThreads = 10,
    /// The body of a check said that it failed.
    BodyFailed = 11,
    /// The body of a check left threads running.
    ThreadsLeft = 12,
    /// The body of a check ran differently when it was run again.
    StateLeaks = 13,
    /// No run was made: the policy has no schedule left. See [`Results::explored`].
    Exhausted = 14,
    /// A thread used an object that was destroyed or whose memory holds something else, or memory that was freed. See
    /// [`Results::origin_place`] and [`Results::heap`].
    Misuse = 15,
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
            Misuse,
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
    AsyncCancel = 1 "asynchronous cancellation acts only at the next schedule point",
    /// timerfd and the like.
    Timers = 2 "CPU-time timers and timerfd run on the real clock",
    /// The last-resort tick.
    Tick = 3 "code without schedule points was preempted by a timer (not repeatable)",
    /// Input or signals from other processes.
    OutsideInput = 4 "input or signals from outside the program may arrive at different steps",
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
    CpuClock = 11 "CPU-time clocks are real",
    /// The policy is a parallel one.
    Parallel = 12 "threads ran at the same time: the same seed does not give the same run",
    /// What a check leaves behind, such as a collector's garbage, and what changed a later run.
    KeptState = 13 "a run took another course when it was repeated in the same process, because of what earlier runs \
                    had left there (a collector's garbage, a cache): a failure may only come back with its seed",
    /// What exec started cannot be followed.
    Exec = 14 "another program replaced this one and ran outside control: it is statically linked, gains privileges or \
               does not use glibc",
    /// jemalloc and the like.
    Allocator = 15 "the program's own allocator is left alone: freed memory is not held back, and its misuse is not \
                    noticed",
}

/// Longest message, in bytes.
pub const MESSAGE: usize = 2048;

shared! {
    /// What a run did.
    #[derive(Clone, Copy)]
    pub struct Results {
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
        /// What the policy had left out before this run; bits of [`Gap`](raddle_core::policy::Gap).
        pub gaps: u32,
        pub blind_spots: u64,
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
        /// How often the starvation guard intervened.
        pub guard_fired: u64,
        /// The delays, and how many there were.
        pub delays: [Delay; delays::MOST],
        /// See `delays`.
        pub delay_count: u64,
        /// How many [delay points](raddle_core::delays) there were.
        pub delay_points: u64,
        /// The point from which a fair schedule decided in place of the policy; 0: it never did.
        pub fair_from: u64,
        pub escapes: u64,
        /// The threads that the run made, by their stacks.
        pub stacks: [Stacks; STACKS],
        /// The address of a fault, or of a misused object.
        pub address: u64,
        /// The thread that destroyed a misused object, plus 1; 0: it is not known.
        pub origin_thread: u32,
        /// Where that thread called the function that destroyed it: the address behind the call.
        pub origin_place: u64,
        /// The block of the heap that the failure is about.
        pub heap: HeapReport,
        /// Blocks that the run has held back after they were freed.
        pub held_back: u64,
        /// Where a replay diverged: the step, counted from 1; 0 when it did not.
        pub diverged_step: u64,
        /// The recorded decision there, or `u32::MAX` past the recording's end.
        pub diverged_expected: u32,
        /// What the program was about to do instead.
        pub diverged_found: u32,
        /// Whether the expected thread could go on.
        pub diverged_enabled: u32,
        /// With [`Outcome::StateLeaks`]: the body accessed memory in another way, and did nothing else differently as
        /// far as could be seen.
        pub leaks_below_calls: u32,
        /// Padding.
        pub reserved: u32,
        /// Bytes of `message`.
        pub message_len: u32,
        /// The assertion's text or another explanation.
        pub message: [u8; MESSAGE],
    }
}

impl Results {
    /// The notes with the gaps above them.
    pub fn blind_spots_and_gaps(&self) -> u64 {
        self.blind_spots | u64::from(self.gaps) << blind_spot::GAPS
    }

    /// The most steps between the ends of two sequential stretches.
    #[inline]
    pub fn longest_phase(&self) -> u64 {
        self.phase.max(self.steps.saturating_sub(self.phase_start))
    }
}

/// The most runs in a series: runs that a check or a fork server makes before it answers.
pub const SUMMARIES: usize = 4096;

shared! {
    /// What one run of a series did.
    #[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
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
        pub delay_count: u64,
        /// As in [`Results`].
        pub delay_points: u64,
        /// As in [`Results`].
        pub fair_from: u64,
        /// As in [`Results`].
        pub threads: u32,
        /// Cut at the step limit.
        pub cut: u32,
        /// See [`Results::longest_phase`].
        pub phase: u64,
        /// As in [`Results`].
        pub member: u64,
        /// As in [`Results`].
        pub blind_spots: u64,
    }
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
            delay_count: results.delay_count,
            delay_points: results.delay_points,
            fair_from: results.fair_from,
            threads: results.threads,
            cut: 0,
            phase: results.longest_phase(),
            member: results.member.into(),
            blind_spots: results.blind_spots_and_gaps(),
        }
    }
}
