//! What happens in a campaign, for displays, recorders and other tools.

use std::time::Duration;

use raddle_core::policy::Profile;
use raddle_report::FailureKind;

use super::findings::Finding;
use super::outcome::Outcome;
use crate::run::report::Counts;

/// Something that happened. The last event of a campaign is [`Event::Over`].
#[derive(Debug)]
pub enum Event {
    /// How far the campaign is; at least ten times a second.
    Progress(Progress),
    /// A run counts. Runs count in the order of their numbers, whichever job made them.
    Run(CountedRun),
    /// A failure that no earlier run had.
    Finding(Box<Finding>),
    /// Something about how the runs are made.
    Note(Note),
    /// The campaign is over.
    Over(Box<Outcome>),
}

/// How far a campaign is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs that count so far.
    pub runs: u64,
    /// Runs that are planned.
    pub planned: u64,
    /// Different schedules.
    pub schedules: u64,
    /// Failing runs.
    pub failing: u64,
    /// Since the start of the campaign.
    pub elapsed: Duration,
}

/// A run that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedRun {
    /// Its number, from 1.
    pub run: u64,
    /// How it ended.
    pub verdict: RunVerdict,
    /// Its size.
    pub counts: Counts,
    /// What it was told of the size of earlier runs, if that is known.
    pub profile: Option<Profile>,
    /// How long after the start of the campaign it was counted.
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerdict {
    /// As it should.
    Passed,
    /// At the step limit, which is not a failure.
    Cut,
    /// A replay left its recording.
    Diverged,
    Failed(FailureKind),
}

/// Something about how the runs are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// There is no fork server, and why.
    NoForkServer(String),
    /// Threads are switched as OS threads, not as fibers, and why.
    OsThreads(String),
}
