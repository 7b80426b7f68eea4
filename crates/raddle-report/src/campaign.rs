//! The result of a campaign, as the contract of the command line has it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::search::Exhausted;
use crate::worth::Worth;

/// One campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`crate::VERSION`].
    pub version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The policy's name.
    pub policy: String,
    /// The policy's parameters by name: numbers, or the words of a choice.
    pub parameters: Map<String, Value>,
    /// The starvation guard.
    pub guard: Guard,
    /// The seed of the campaign.
    pub seed: u64,
    /// The level of schedule points: `sync`, `atomic`, `race` or `memory`.
    pub points: String,
    /// What the program makes visible.
    pub offers: Vec<String>,
    /// Runs that count.
    pub runs: u64,
    /// The number of runs that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_planned: Option<u64>,
    /// Why the campaign ended: `complete` (all were made, or the first failure was found), `time`, `interrupted` or
    /// `broken` (the program can no longer be run).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Runs that failed.
    pub failing_runs: u64,
    /// The number of the first run that failed, counted from 1.
    pub first_failing_run: Option<u64>,
    /// Failing runs whose failure no serial run showed; present only where threads ran in parallel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreplayable: Option<u64>,
    /// Runs that were cut at the step limit.
    pub cut_runs: u64,
    /// Runs that seemed to make no progress, in which a fair schedule took over from the policy; absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_runs: Option<u64>,
    /// Runs in which threads that could run were late; absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_runs: Option<u64>,
    /// Different schedules.
    pub distinct_schedules: u64,
    /// A hash of all schedules in their order: equal when every run took the same steps.
    pub trace: String,
    /// The most threads of a run.
    pub threads_max: u64,
    /// The most steps of a run.
    pub steps_max: u64,
    /// The steps of the average run.
    pub steps_mean: f64,
    /// The most schedule points of a run.
    pub points_max: u64,
    /// The most steps between two sequential stretches.
    pub phase_max: u64,
    /// How long the campaign took.
    pub seconds: f64,
    /// Runs per second.
    pub runs_per_second: f64,
    /// What may have been missed.
    pub worth: Worth,
    /// What escaped control, in words; empty is the claim that nothing did.
    pub uncontrolled: Vec<String>,
    /// Of a systematic search: what it explored; null while it is not over. Absent for other policies.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<Option<Exhausted>>,
    /// The places that were seen to race.
    pub racing: Vec<RacingPlace>,
    /// The failures, each once.
    pub failures: Vec<Failure>,
}

/// Tells a field that is null from one that is absent.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// The starvation guard's two probabilities per point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guard {
    /// That the policy's choice is overridden.
    #[serde(rename = "override")]
    pub override_probability: f64,
    /// That a thread that spins is lowered.
    pub lower: f64,
}

/// A failure, however often it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The kind, by the name of a [`crate::FailureKind`].
    pub kind: String,
    /// What happened.
    pub message: String,
    /// Where: two failures of one kind and place are the same.
    pub place: String,
    /// How many runs failed like this.
    pub count: u64,
    /// The first of them.
    pub first_run: u64,
    /// The step at which it happened.
    pub step: u64,
    /// The bound of the search when it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<u32>,
    /// The threads that have to be late for it to happen; absent: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delay>,
    /// Freed blocks of the heap that were held back then; left out when there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_back: u64,
    /// The schedule file, if one was written.
    pub schedule: Option<String>,
    /// The failed assertion, if the program names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion: Option<Assertion>,
    /// The threads at that time.
    pub threads: Vec<Thread>,
}

/// A thread that could run and is late, so that a time comes that another one waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delay {
    /// The thread.
    pub thread: u64,
    /// How late it is.
    pub milliseconds: f64,
    /// Where it is then: a file and a line, or a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A failed assertion, in the words of the test framework, of Rust's panic or of `assert`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assertion {
    /// The test that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The thread that panicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The source file, as it was printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What was expected and what was seen, in lines.
    pub text: Vec<String>,
}

/// A thread of a run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its number in the order of creation; the main thread is 0.
    pub id: u16,
    /// Its name.
    pub name: String,
    /// What it does: `blocked`, `enabled` and so on.
    pub state: String,
    /// What it waits for.
    pub waits_for: Option<String>,
    /// Where it stands, the innermost function first.
    pub backtrace: Vec<String>,
    /// The same, in parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
}

/// A frame of a backtrace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// The function without its parameters, or an address.
    pub function: String,
    /// The source file, as the compiler wrote it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The name of the program's or the library's file.
    pub module: String,
    /// Library frames left out between this frame and the one before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: usize,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// A place in the program's files that was seen to race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RacingPlace {
    /// The name of the program's or the library's file.
    pub file: String,
    /// The address in the file, behind the access, as the schedule file has it.
    pub address: String,
    /// The function, where it is known.
    pub function: Option<String>,
    /// The file and the line of the source, where they are known.
    pub source: Option<String>,
}

/// The campaigns of the tests of one or more programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestReports {
    /// [`crate::VERSION`].
    pub version: u32,
    /// One for each test.
    pub tests: Vec<TestReport>,
}

/// The campaign of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestReport {
    /// Its name.
    pub test: String,
    /// The executable that it belongs to, for the tests of a cargo project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// How it ended, for the tests of a cargo project: `passed`, `failed`, `not_concurrent`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The campaign; absent when the test could not be explored.
    #[serde(flatten)]
    pub report: Option<Report>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_is_not_over_is_told_from_a_policy_that_does_not_search() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct Field {
            #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
            exhausted: Option<Option<u32>>,
        }
        for (text, exhausted) in
            [("{}", None), ("{\"exhausted\":null}", Some(None)), ("{\"exhausted\":3}", Some(Some(3)))]
        {
            let field: Field = serde_json::from_str(text).expect("is read");
            assert_eq!(field, Field { exhausted });
            assert_eq!(serde_json::to_string(&field).expect("is written"), text);
        }
    }
}
