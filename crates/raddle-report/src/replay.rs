//! The result of a replay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayReport {
    /// [`crate::VERSION`].
    pub version: u32,
    /// The schedule file.
    pub schedule: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The kind of the recorded failure.
    pub kind: String,
    /// Runs that were made.
    pub runs: u64,
    /// Runs with the recorded failure.
    pub happened_again: u64,
    /// Runs with another failure.
    pub different_failures: u64,
    /// Runs that left the recording.
    pub diverged: u64,
    /// The first divergence.
    pub divergence: Option<Divergence>,
    /// Whether the program is the build that was recorded.
    pub same_build: bool,
    /// What else is different from the recording, in words: variables, files, the directory. A failure that did not
    /// happen may then still be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// The failures.
    pub failures: Vec<ReplayedFailure>,
}

/// Where and how a replay left its recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Divergence {
    /// The step, counted from 1.
    pub step: u64,
    /// The recorded decision; null past the end of the recording.
    pub expected: Option<Decision>,
    /// What the program was about to do instead.
    pub found: Decision,
    /// Whether the expected thread could go on.
    pub enabled: bool,
}

/// A step of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// The thread.
    pub thread: u16,
    /// The kind of its event.
    pub event: Option<String>,
}

/// A failure of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedFailure {
    /// The kind, by the name of a [`crate::FailureKind`].
    pub kind: String,
    /// What happened.
    pub message: String,
    /// Where.
    pub place: String,
    /// How many runs failed like this.
    pub count: u64,
    /// The step at which it happened.
    pub step: u64,
    /// Whether it is the recorded one.
    pub recorded: bool,
}
