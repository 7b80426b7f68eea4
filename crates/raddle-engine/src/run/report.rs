//! What a job reports of one run.

use raddle_core::policy::Profile;
use raddle_protocol::settings::STACKS;
use raddle_protocol::{Results, Stacks, Summary};
use raddle_report::FailureKind;
use raddle_schedule::Late;

use super::observed::Observed;
use super::said::Said;
use super::threads::ThreadView;
use crate::each_test::failure::Assertion;
use crate::plan::place::Place;

/// One run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Its number, from 1.
    pub run: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// Its size.
    pub counts: Counts,
    /// What escaped control; bits of [`raddle_protocol::Escape`].
    pub escapes: u64,
    /// What a child process has started last, if there was one thread only: as words of a shell.
    pub child_command: Option<String>,
    /// Whether output was thrown away.
    pub output_cut: bool,
    /// The threads that it made, by their stacks.
    pub stacks: [Stacks; STACKS],
    /// Places that it saw racing.
    pub racing: Vec<Place>,
    /// What later runs can learn from it.
    pub observed: Option<Box<Observed>>,
    /// The threads that passed its points, one after the other, when it is sampled for ordered pairs of events.
    pub log: Option<Vec<u32>>,
    /// Whether it was to be sampled, but has too many decisions.
    pub log_too_long: bool,
}

impl RunReport {
    /// A run that passed, of which nothing else is known.
    pub fn new(run: u64) -> RunReport {
        RunReport {
            run,
            verdict: Verdict::Passed,
            counts: Counts::default(),
            escapes: 0,
            child_command: None,
            output_cut: false,
            stacks: Default::default(),
            racing: Vec::new(),
            observed: None,
            log: None,
            log_too_long: false,
        }
    }

    /// The failure, if it failed.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.verdict {
            Verdict::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// As it should.
    Passed,
    /// At the step limit, which is no failure.
    Cut,
    /// A replay left its recording.
    Diverged(Divergence),
    Failed(Box<Failure>),
}

/// The size of a run; the names are those of [`Results`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// How many delays it had: see [`raddle_core::delays`].
    pub delays: u64,
    /// At how many points it could have had one.
    pub delay_points: u64,
    /// The point from which a fair schedule decided in place of the policy; 0: it never did.
    pub fair_from: u64,
    /// The most steps between two sequential stretches.
    pub phase: u64,
    /// Which policy of a portfolio decided.
    pub member: u64,
    /// Bits of [`raddle_protocol::results::blind_spot`].
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
            delays: results.delay_count,
            delay_points: results.delay_points,
            fair_from: results.fair_from,
            phase: results.longest_phase(),
            member: results.member.into(),
            notes: results.blind_spots_and_gaps(),
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
            delays: summary.delay_count,
            delay_points: summary.delay_points,
            fair_from: summary.fair_from,
            phase: summary.phase,
            member: summary.member,
            notes: summary.blind_spots,
        }
    }
}

/// Where and how a replay left its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What became of a failure in another run: a serial one in the place of a parallel one, or one with smaller delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Serial {
    /// The run itself was one.
    #[default]
    Itself,
    /// It happened again: the decisions are those of that run, which has this size.
    Again(Counts),
    /// It did not happen.
    Never,
}

/// What went wrong in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// In words.
    pub message: String,
    /// Where: two failures of one kind and place are one finding.
    pub place: String,
    /// The step at which it happened.
    pub step: u64,
    /// The threads at that time, if they could be looked at.
    pub threads: Vec<ThreadView>,
    /// The failed assertion, if the program names one.
    pub assertion: Option<Assertion>,
    /// What it printed, as far as it tells something.
    pub said: Said,
    /// The run's own seed.
    pub run_seed: u64,
    /// What the policy knew.
    pub profile: Profile,
    /// Identities that were ready before the run.
    pub stacks: [Stacks; STACKS],
    /// The delays of the run: the smallest with which it still fails, where those were looked for.
    pub delays: Vec<Late>,
    /// The places that were known to race.
    pub racing: Vec<Place>,
    /// The decisions; left out when the same job sent the same failure before.
    pub log: Option<Vec<u32>>,
    /// Whether decisions are missing at the log's end.
    pub log_is_full: bool,
    /// What else went wrong in the same run: other races. Their decisions are the same.
    pub also: Vec<Failure>,
    /// The bound of the search when it was found.
    pub bound: Option<u32>,
    /// What became of it in a serial run, when threads ran in parallel.
    pub serial: Serial,
    /// What became of freed memory in the run.
    pub heap: HeapFacts,
}

/// What became of freed memory in a run that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapFacts {
    /// Blocks that were held back then.
    pub held_back: u64,
    /// Which call of `free` freed the block that the failure is about.
    pub freed_by_call: Option<u64>,
}

impl From<&Results> for HeapFacts {
    fn from(results: &Results) -> HeapFacts {
        let number = results.heap.number;
        HeapFacts { held_back: results.held_back, freed_by_call: (number != 0).then_some(number) }
    }
}

impl Failure {
    /// The name of its schedule file. It depends on the kind, the place and the command, so that the same failure has
    /// the same name in every campaign.
    pub fn file_name(&self, command: &[Vec<u8>]) -> String {
        let mut text = format!("{}\0{}", self.kind.name(), self.place).into_bytes();
        for argument in command {
            text.push(0);
            text.extend_from_slice(argument);
        }
        format!("{}-{:08x}.schedule", self.kind.name(), raddle_schedule::checksum(&text) >> 32)
    }

    /// The size of the run that its decisions are of, where it was found in one of this size.
    pub fn counts(&self, found: &Counts) -> Counts {
        match self.serial {
            Serial::Again(counts) => counts,
            _ => *found,
        }
    }

    /// All that went wrong in the run.
    pub fn all(&self) -> impl Iterator<Item = &Failure> {
        std::iter::once(self).chain(&self.also)
    }
}

/// What a check in the program asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    pub name: Option<String>,
    /// The policy with its parameters.
    pub policy: Option<String>,
    /// The number of runs.
    pub runs: Option<u64>,
    pub seed: Option<u64>,
    /// When a run is cut.
    pub max_steps: Option<u64>,
}
