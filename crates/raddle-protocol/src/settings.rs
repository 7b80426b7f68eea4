//! What raddle asks of the runs of a target.

use raddle_core::policy::Profile;
use raddle_core::{delays, rng, Delay};

use crate::run_settings::RunSettings;
use crate::shared;

/// Bytes for the state of a policy that outlives its runs: [`Settings::search_bytes`] is this, or 0. What is not
/// used of them costs nothing.
pub const SEARCH_BYTES: usize = 64 << 20;

/// Bits of [`Settings::flags`].
pub mod flag {
    /// Become a fork server before main; without it the process is itself one run.
    pub const FORK_SERVER: u32 = 1;
    /// On a failure, stop until the command line has looked at the threads.
    pub const FREEZE: u32 = 1 << 1;
    /// Follow the recorded decisions.
    pub const REPLAY: u32 = 1 << 2;
    /// Do not take away scheduling from spinning code that has no schedule points.
    pub const NO_TICK: u32 = 1 << 5;
    /// Switch threads as fibers, where that is sound.
    pub const FIBERS: u32 = 1 << 6;
    /// LD_BIND_NOW in the environment was set by raddle, not by the user.
    pub const BIND_NOW: u32 = 1 << 7;
    /// Look for data races.
    pub const DETECT_RACES: u32 = 1 << 8;
    /// Fill in the [`Trace`](crate::trace::Trace).
    pub const TRACE: u32 = 1 << 10;
    /// The main thread is that of a test harness, which waits for the test.
    pub const HARNESS: u32 = 1 << 11;
    /// Threads really run at the same time: the policy is a parallel one.
    pub const PARALLEL: u32 = 1 << 12;
    /// With [`REPLAY`]: the recording is of a parallel run, with one decision for every point. It is followed as far as
    /// that is possible.
    pub const PARALLEL_REPLAY: u32 = 1 << 13;
    /// Note which thread passed each point, in [`Trace::point_threads`](crate::trace::Trace::point_threads).
    pub const POINT_THREADS: u32 = 1 << 14;
    /// Make no run of a check twice: what is kept from run to run is known to change how memory is accessed.
    pub const NO_REPEAT: u32 = 1 << 15;
    /// Note which thread has taken which lock that is a word in memory.
    pub const LOCK_WORDS: u32 = 1 << 15;
    /// The run has the [`Settings::delays`](super::Settings::delays), and no others.
    pub const GIVEN_DELAYS: u32 = 1 << 16;
    /// Stop at each delay until the command line has looked at the threads.
    pub const LOOK_AT_DELAYS: u32 = 1 << 17;
    /// Note where delays were possible, in [`Trace::delays`](crate::trace::Trace::delays).
    pub const NOTE_DELAYS: u32 = 1 << 18;
}

/// Which operations of an instrumented program are schedule points, in [`RunSettings::points`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Points {
    /// Calls and futexes.
    Sync = 0,
    /// Atomics and volatile variables too.
    Atomic = 1,
    /// The plain accesses at places that are known to race too: see [`crate::races::RacyPlaces`].
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

shared! {
    /// Threads with one size of stack.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Stacks {
        /// Bytes of the stack as asked for; 0 for the default.
        pub size: u64,
        /// Bytes of the guard below it.
        pub guard: u32,
        /// How many.
        pub count: u32,
    }
}

impl Stacks {
    /// One thread with such a stack.
    pub fn one(self) -> Stacks {
        Stacks { count: 1, ..self }
    }
}

/// Sizes of stacks that are told apart.
pub const STACKS: usize = 4;

/// The most functions that can be made schedule points.
pub const SYNC_FUNCTIONS: usize = 64;

shared! {
    /// What the command line asks of a run.
    #[derive(Clone, Copy)]
    pub struct Settings {
        /// What decides the runs.
        pub run: RunSettings,
        /// The number of this run, from 1.
        pub number: u64,
        /// The seed of this run.
        pub seed: u64,
        /// What earlier rounds of runs showed.
        pub profile: Profile,
        pub flags: u32,
        /// How many decisions the log has room for; it stops when it is full.
        pub log_capacity: u64,
        /// Decisions to follow.
        pub replay_len: u64,
        /// With [`flag::GIVEN_DELAYS`]: the delays of the run, and how many there are.
        pub delays: [Delay; delays::MOST],
        /// See `delays`.
        pub delay_count: u64,
        /// With [`flag::REPLAY`]: the point from which a fair schedule decided; 0: none did.
        pub fair_from: u64,
        /// Bytes at the end of the block for the state of a policy that outlives its runs; 0: it does not.
        pub search_bytes: u64,
        /// Threads that earlier rounds of runs made, by their stacks: fibers are made ready for them before
        /// the run.
        pub stacks: [Stacks; STACKS],
        /// Functions whose calls are schedule points: where they are in the program's file, counted
        /// from where it is loaded; 0 for none.
        pub sync_offsets: [u64; SYNC_FUNCTIONS],
        /// A function of the program, counted in the same way: when it is called, the run stops until the command line
        /// has looked at the threads, and goes on. 0 for none.
        pub look_offset: u64,
        /// The same when memory is freed for the N-th time; 0 for never.
        pub look_at_free: u64,
        /// In a program with checks ([`CHECKS`](crate::check::CHECKS)): which of them makes the runs, counted from 1.
        pub check_number: u32,
        /// The first and the last run that a check or a fork server is to make before it answers; 0 for a fork
        /// server that makes one run, with the seed above.
        pub first_run: u64,
        /// See `first_run`.
        pub last_run: u64,
        /// The exit status of a good run.
        pub expect_exit: i32,
        /// The directory that a good run leaves empty, ended by a zero.
        pub scratch: [u8; 512],
        /// What each run opens as its standard input, ended by a zero; empty: it keeps what it has.
        pub stdin: [u8; 128],
        /// The directory that a run starts in, ended by a zero; empty: it keeps the one it has.
        pub directory: [u8; 512],
        /// What opens the block again, for the program that another one starts in its place; ended by a zero.
        pub block_path: [u8; 64],
        /// For a fork server: the descriptors that the program is started with, as [`descriptor`] knows them; 0 for none.
        pub inherited: [u64; INHERITED],
    }
}

/// Descriptors that a program is started with and a fork server may have: the first of them.
pub const INHERITED: usize = 16;

/// A number for a descriptor and the file that it stands for; never 0.
pub fn descriptor(fd: i32, device: u64, inode: u64) -> u64 {
    let mut rng = rng::Rng::new(inode ^ device.rotate_left(32) ^ (fd as u64).rotate_left(48));
    rng.next_u64() | 1
}

impl Settings {
    /// The seed of a run that is known by its number. A search gives all its runs the same, so that they differ
    /// by their schedules only.
    pub fn run_seed(&self, run: u64) -> u64 {
        rng::run_seed(self.run.seed, if self.search_bytes == 0 { run } else { 1 })
    }
}
