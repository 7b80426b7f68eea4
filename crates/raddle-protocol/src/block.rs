//! The block of shared memory between raddle and the runtime: settings in, decisions and
//! results out. It outlives the target's crash, and needs no descriptor once it is mapped.
//!
//! One block serves one job, run after run. Layout: [`Block`], then `log_capacity` decisions that
//! the runtime records, then `replay_len` decisions that it is to follow, then `search_bytes` for the
//! state of a policy that outlives its runs. Both sides are built from this crate; [`LAYOUT`] tells builds with another
//! layout apart.
//!
//! The two sides take turns: raddle writes [`Settings`] only while no run is in progress, the
//! runtime writes [`Results`] only during a run. [`Control`] is atomics.

use raddle_core::decorators::guard;
use raddle_core::lessons::{Lessons, ObjectUse, OperationClass, OperationPair, ThreadLesson};
use raddle_core::policy::{Explored, Profile};
use raddle_core::{Delay, MAX_THREADS};

use crate::check::CheckRequest;
use crate::control::Control;
use crate::heap::{HeapReport, HeapSite};
use crate::races::{LoadedFile, Race, RaceAccess, Races, RacyPlaces};
use crate::results::{Results, Summary, SUMMARIES};
use crate::run_settings::{PolicySettings, RunSettings};
use crate::settings::{Settings, Stacks};
use crate::threads::{NamedCall, ThreadReport};
use crate::trace::Trace;
use crate::{layout, layout_of, shared};

/// "raddle\0" and a digit.
pub const MAGIC: u64 = u64::from_le_bytes(*b"raddle\x001");

/// A hash of the layout of the block and of all that is in it.
pub const LAYOUT: u64 = layout::all(&[
    Block::LAYOUT,
    Settings::LAYOUT,
    RunSettings::LAYOUT,
    PolicySettings::LAYOUT,
    Stacks::LAYOUT,
    Control::LAYOUT,
    Results::LAYOUT,
    HeapReport::LAYOUT,
    HeapSite::LAYOUT,
    Summary::LAYOUT,
    CheckRequest::LAYOUT,
    RacyPlaces::LAYOUT,
    Trace::LAYOUT,
    Races::LAYOUT,
    Race::LAYOUT,
    RaceAccess::LAYOUT,
    LoadedFile::LAYOUT,
    ThreadReport::LAYOUT,
    NamedCall::LAYOUT,
    // What is the policies' own.
    layout_of!(Profile { steps, threads, points, phase, first, delay_points }),
    layout_of!(Delay { point, nanoseconds, thread }),
    layout_of!(Explored { schedules, redundant, bound, gaps, reduced, fair }),
    layout_of!(guard::Settings { override_probability, lower_probability }),
    layout_of!(Lessons { shares }),
    layout_of!(ThreadLesson { path, parent, steps }),
    layout_of!(ObjectUse { object, thread, events }),
    layout_of!(OperationPair { first, second }),
    layout_of!(OperationClass { path, object, kind }),
]);

/// The environment variable that carries the number of the descriptor of the block.
pub const FD_VARIABLE: &str = "RADDLE_BLOCK";

/// The environment variable from which the runtime restores the user's LD_PRELOAD.
pub const USERS_PRELOAD: &str = "RADDLE_PRELOAD";

/// What stands in the environment in place of `LD_BIND_NOW=1` when functions are to be found late: a variable of the same
/// length, so that nothing in the program's memory moves.
pub const LATE_BINDING: &str = "RADDLE_BIND=1";

/// A variable that keeps a place free in the environment's list, and is there [`ROOMS`] times: when the runtime takes
/// out what is raddle's, the auxiliary vector is copied to the new end of the list.
pub const ROOM: &str = "RADDLE_ROOM=";

/// The kernel's auxiliary vector has at most 26 pairs of words.
pub const ROOMS: usize = 64;

/// Where the runtime maps the block: far from where the kernel and the sanitizers put things, so
/// that the target's own addresses do not depend on it. The runtime's own memory lies below, in the same
/// gigabyte, so that both share page tables.
pub const ADDRESS: usize = 0x2000_2000_0000;

shared! {
    /// The whole block.
    pub struct Block {
        pub magic: u64,
        pub layout: u64,
        /// Bytes of the whole mapping.
        pub size: u64,
        /// What the command line asks for.
        pub settings: Settings,
        /// The turn-taking.
        pub control: Control,
        /// What the run did.
        pub results: Results,
        /// What a check in the program asks for.
        pub check_request: CheckRequest,
        /// The places that are known to race.
        pub racy_places: RacyPlaces,
        /// What earlier runs showed, for the policy.
        pub lessons: Lessons,
        /// What later runs can learn from this one.
        pub trace: Trace,
        /// The races that were seen in this run.
        pub races: Races,
        /// What each run of a series did.
        pub summaries: [Summary; SUMMARIES],
        /// What a child process of the run has started last, as words of a shell, ended by a zero.
        pub child_command: [u8; 256],
        /// The command line's report on a failed check, ended by a zero.
        pub check_report: [u8; 1024],
        /// The state of every thread when the run failed.
        pub threads: [ThreadReport; MAX_THREADS],
    }
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

/// The text at the start of a field that is padded or ended by zeros.
pub fn text(field: &[u8]) -> &str {
    let end = field.iter().position(|&b| b == 0).unwrap_or(field.len());
    core::str::from_utf8(&field[..end]).unwrap_or("")
}
