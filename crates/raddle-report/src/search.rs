//! A systematic search that came to its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a search explored when no schedule was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exhausted {
    /// Schedules that were explored.
    pub schedules: u64,
    /// Runs that turned out to repeat others up to the order of independent operations.
    pub redundant: u64,
    /// The bound up to which all schedules were explored; null: there was no bound.
    pub bound: Option<u32>,
    /// How often threads that could run were late in a run, at most; absent: no thread waited for a time then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<u32>,
    /// Whether schedules were left out that differ only by the order of independent operations.
    pub reduced: bool,
    /// Whether busy-waiting threads had to let others go first: only fair schedules were explored.
    pub fair: bool,
    /// Whether this is a proof, for the points of this level, sequential consistency and these inputs.
    pub proof: bool,
    /// The assumptions of the proof, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Why it is not a proof.
    pub lacks: Vec<String>,
}
