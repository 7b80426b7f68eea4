//! What a job reports of one run.

use raddle_core::block::{Results, Stacks, Summary, STACKS};
use raddle_core::policy::Profile;
use serde::{Deserialize, Serialize};

use super::lessons::Observed;
use super::races::Place;
use super::threads::ThreadView;
use super::wire::{stacks_on_the_wire, ProfileOnTheWire};

/// One run that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Its number, from 1.
    pub run: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// Its size.
    pub counts: Counts,
    /// What escaped control; bits of [`raddle_core::block::Escape`].
    pub escapes: u64,
    /// Whether output was thrown away.
    pub output_cut: bool,
    /// The threads that it made, by their stacks.
    #[serde(with = "stacks_on_the_wire", default, skip_serializing_if = "no_stacks")]
    pub stacks: [Stacks; STACKS],
    /// Places that it saw racing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub racing: Vec<Place>,
    /// What later runs can learn from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Box<Observed>>,
    /// The threads that passed its points, one after the other, when it is sampled for ordered pairs of events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<u32>>,
    /// Whether it was to be sampled, but has too many decisions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_too_long: bool,
}

fn no_stacks(stacks: &[Stacks; STACKS]) -> bool {
    stacks[0].count == 0
}

impl RunReport {
    /// The failure, if it failed.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.verdict {
            Verdict::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    /// As it should.
    Passed,
    /// At the step limit, which is no failure.
    Cut,
    /// A replay left its recording.
    Diverged(Divergence),
    /// It failed.
    Failed(Box<Failure>),
}

/// The size of a run; the names are those of [`Results`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Counted steps.
    pub steps: u64,
    /// Schedule points.
    pub points: u64,
    /// Points with two threads alive.
    pub shared_points: u64,
    /// Hand-overs.
    pub switches: u64,
    /// Threads, the main one included.
    pub threads: u64,
    /// Hash of the schedule.
    pub hash: u64,
    /// How often the starvation guard stepped in.
    pub guard_fired: u64,
    /// The most steps between two sequential stretches.
    pub phase: u64,
    /// Which policy of a portfolio decided.
    pub member: u64,
    /// Bits of [`raddle_core::block::note`].
    pub notes: u64,
}

impl From<&Results> for Counts {
    fn from(results: &Results) -> Counts {
        Counts {
            steps: results.steps,
            points: results.points,
            shared_points: results.shared_points,
            switches: results.switches,
            threads: results.threads.into(),
            hash: results.hash,
            guard_fired: results.guard_fired,
            phase: results.longest_phase(),
            member: results.member.into(),
            notes: results.all_notes(),
        }
    }
}

impl From<&Summary> for Counts {
    fn from(summary: &Summary) -> Counts {
        Counts {
            steps: summary.steps,
            points: summary.points,
            shared_points: summary.shared_points,
            switches: summary.switches,
            threads: summary.threads.into(),
            hash: summary.hash,
            guard_fired: summary.guard_fired,
            phase: summary.phase,
            member: summary.member,
            notes: summary.notes,
        }
    }
}

/// Where and how a replay left its recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divergence {
    /// The step, from 1.
    pub step: u64,
    /// The recorded decision, `None` past the recording's end.
    pub expected: Option<u32>,
    /// What the program was about to do instead.
    pub found: u32,
    /// Whether the expected thread could go on.
    pub enabled: bool,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A failed assertion or a panic.
    Assert,
    /// A fatal signal.
    Signal,
    /// A wrong exit status.
    Exit,
    /// Threads that wait for each other.
    Deadlock,
    /// Many steps without progress.
    Livelock,
    /// Too long by the wall clock.
    Timeout,
    /// Wrong output.
    Output,
    /// The user's check failed.
    Check,
    /// A sanitizer's report.
    Sanitizer,
    /// The body of a check left threads running.
    Threads,
    /// State leaks between the iterations of a check.
    Leak,
    /// A data race.
    Race,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 12] = [
        Kind::Assert,
        Kind::Signal,
        Kind::Exit,
        Kind::Deadlock,
        Kind::Livelock,
        Kind::Timeout,
        Kind::Output,
        Kind::Check,
        Kind::Sanitizer,
        Kind::Threads,
        Kind::Leak,
        Kind::Race,
    ];

    /// The name in JSON, in schedule files and in their names.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Assert => "assert",
            Kind::Signal => "signal",
            Kind::Exit => "exit",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::Timeout => "timeout",
            Kind::Output => "output",
            Kind::Check => "check",
            Kind::Sanitizer => "sanitizer",
            Kind::Threads => "threads",
            Kind::Leak => "leak",
            Kind::Race => "race",
        }
    }

    /// For a person.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Assert => "assertion failure",
            Kind::Signal => "fatal signal",
            Kind::Exit => "wrong exit status",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::Timeout => "time-out",
            Kind::Output => "wrong output",
            Kind::Check => "failed check",
            Kind::Sanitizer => "sanitizer report",
            Kind::Threads => "threads left behind",
            Kind::Leak => "leaking state",
            Kind::Race => "data race",
        }
    }
}

/// What became of a failure in a serial run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Serial {
    /// The run itself was one.
    #[default]
    Itself,
    /// It happened again: the decisions are those of a serial run of this size.
    Again(Counts),
    /// It did not happen.
    Never,
}

/// What went wrong in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: Kind,
    /// In words.
    pub message: String,
    /// Where: two failures of one kind and place are one finding.
    pub place: String,
    /// The step at which it happened.
    pub step: u64,
    /// The threads at that time, if they could be looked at.
    pub threads: Vec<ThreadView>,
    /// The last lines of standard error.
    pub stderr: Vec<String>,
    /// The run's own seed.
    pub run_seed: u64,
    /// What the policy knew.
    #[serde(with = "ProfileOnTheWire")]
    pub profile: Profile,
    /// Identities that were ready before the run.
    #[serde(with = "stacks_on_the_wire")]
    pub stacks: [Stacks; STACKS],
    /// The places that were known to race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub racing: Vec<Place>,
    /// The decisions; left out when the same job sent the same failure before.
    pub log: Option<Vec<u32>>,
    /// Whether decisions are missing at the log's end.
    pub log_is_full: bool,
    /// What else went wrong in the same run: other races. Their decisions are the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Failure>,
    /// The bound of the search when it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// What became of it in a serial run, when threads ran in parallel.
    #[serde(default)]
    pub serial: Serial,
}

impl Failure {
    /// All that went wrong in the run.
    pub fn all(&self) -> impl Iterator<Item = &Failure> {
        std::iter::once(self).chain(&self.also)
    }
}
