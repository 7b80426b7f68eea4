//! The schedule file: one recorded run, in a text that a person can read and diff.
//!
//! ```text
//! raddle schedule 1
//! raddle 0.1.0
//! command "./bank" "--accounts" "3"
//! directory "/home/ada/bank"
//! environment "LANG" "C.UTF-8"
//! build-id 6f1c0e…
//! policy pct d=3 k=0
//! guard override=0.001 lower=0.1
//! seed 42 run 17 stream 0x9e3779b97f4a7c15
//! …
//! failure deadlock
//! message "t1 waits for t2, t2 waits for t1"
//! place "lock in deposit (bank.c:31); lock in withdraw (bank.c:44)"
//! counts steps=12 points=40 switches=7 threads=3
//! decisions 6
//! t0 create
//! t1 start lock
//! t2 start lock*2
//! checksum 0x0123456789abcdef
//! ```
//!
//! The first line names the version of the format. Each line is a key and its values; keys come in
//! any order, each of them once (`environment`, `file`, `sync-function`, `racing` and `delay` as often as needed). Strings are
//! quoted, with `\"`, `\\`, `\n`, `\r`, `\t` and `\xNN` for what is not text, so that any bytes
//! survive. After `decisions N` the N decisions follow, one line per stretch of one thread, an event
//! kind per step; `lock*3` is three of a kind. The checksum over all bytes before its line tells a
//! damaged file from a whole one; who edits a file by hand writes `checksum edited`.
//!
//! [`write()`] and [`parse()`] are inverse to each other.

mod line;
mod parse;
#[cfg(test)]
mod tests;
mod write;

pub use line::ParseError;
pub use parse::parse;
pub use write::write;

use raddle_core::decorators::replay::Decision;
use raddle_core::policy::Profile;
use raddle_core::Delay;
use raddle_protocol::{Heap, PolicySettings, RunSettings};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The most decisions that a file may hold: more would not fit into a block either.
pub const MAX_DECISIONS: u64 = 1 << 26;

/// One recorded run with all that is needed to run it again.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The version of raddle that recorded it.
    pub raddle: String,
    /// The program and its arguments.
    pub command: Vec<Vec<u8>>,
    /// The directory that the command was run in.
    pub directory: Vec<u8>,
    /// The variables that matter, by name; those of the same family that are missing were not set.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// All variables by name, each with a short hash of its value ([`fingerprint`]); `None`: it was not recorded.
    pub variables: Option<Vec<(Vec<u8>, u64)>>,
    /// Files that the command names, with a hash of their contents.
    pub files: Vec<(Vec<u8>, u64)>,
    /// Which build of the program it was: the linker's build-id, or a hash with its name.
    pub build_id: String,
    /// What decided the run.
    pub settings: RunSettings,
    /// The run's number in the campaign, from 1.
    pub run: u64,
    /// The seed of the run itself.
    pub run_seed: u64,
    /// The point from which a fair schedule decided in place of the policy; 0: none did.
    pub fair_from: u64,
    /// The delays of the run, in their order.
    pub delays: Vec<Late>,
    /// Places that were known to race: the name of the file, and the address in it.
    pub racing: Vec<(Vec<u8>, u64)>,
    /// A file of races that are none.
    pub suppressions: Option<Vec<u8>>,
    /// What the policy knew of earlier runs.
    pub profile: Profile,
    /// Whether the run had a working directory of its own.
    pub own_directory: bool,
    /// Functions of the program whose calls were schedule points.
    pub sync_functions: Vec<String>,
    /// Which check of the program made the runs, counted from 1; 0 for a program without checks.
    pub check: u32,
    /// Identities that were made ready before the run: size of the stack, of the guard, and how many.
    pub identities: Vec<[u64; 3]>,
    /// What the program could read.
    pub stdin: Stdin,
    /// What a good run looks like.
    pub expect: Expect,
    /// What went wrong.
    pub failure: Failure,
    /// The size of the run.
    pub counts: Counts,
    /// Who went, step by step.
    pub decisions: Vec<Decision>,
}

/// A delay of a run, and where the thread was that was late.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// The delay.
    pub delay: Delay,
    /// The file and the line, or the function; `None`: it is not known.
    pub place: Option<String>,
}

/// Where standard input came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing to read.
    Null,
    /// This file, opened anew by each run.
    File(Vec<u8>),
    /// These bytes.
    Bytes(Vec<u8>),
    /// The bytes of this file, which lies next to the schedule.
    Beside(Vec<u8>),
}

/// What a good run looks like; anything else is a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// The exit status.
    pub exit: i32,
    /// The signal that ends it instead; 0 for none.
    pub signal: i32,
    /// A file with the expected standard output.
    pub output: Option<Vec<u8>>,
    /// A shell command that looks at the run's results.
    pub check: Option<Vec<u8>>,
}

/// What went wrong in the recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// `deadlock`, `assert` and so on.
    pub kind: String,
    /// In words.
    pub message: String,
    /// Where: two failures of one kind and place are the same.
    pub place: String,
}

/// The size of the recorded run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Counted steps.
    pub steps: u64,
    /// Schedule points, counted or not.
    pub points: u64,
    /// Hand-overs from one thread to another.
    pub switches: u64,
    /// Threads, the main one included.
    pub threads: u64,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            raddle: String::new(),
            command: Vec::new(),
            directory: Vec::new(),
            environment: Vec::new(),
            variables: None,
            files: Vec::new(),
            build_id: String::new(),
            // Files of raddle 0.1.0 do not name the heap: their runs left it alone.
            settings: RunSettings { heap: Heap::Off, ..RunSettings::of(PolicySettings::new("", [])) },
            run: 0,
            run_seed: 0,
            fair_from: 0,
            delays: Vec::new(),
            racing: Vec::new(),
            suppressions: None,
            profile: Profile::default(),
            own_directory: false,
            sync_functions: Vec::new(),
            check: 0,
            identities: Vec::new(),
            stdin: Stdin::Null,
            expect: Expect::default(),
            failure: Failure::default(),
            counts: Counts::default(),
            decisions: Vec::new(),
        }
    }
}

/// A hash of a variable, with 16 bits: enough to see that a value is another one, and too little to tell by it what a
/// secret is.
pub fn fingerprint(name: &[u8], value: &[u8]) -> u64 {
    let hash = checksum(&[name, b"=", value].concat());
    // The upper bits have seen all bytes.
    hash >> 48
}

/// FNV-1a with 64 bits: guards against accidents, not against malice.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
