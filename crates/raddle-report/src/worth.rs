//! What a campaign is worth: what may have been missed, and how much of the program's behaviour was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a campaign's result is worth.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, JsonSchema)]
pub struct Worth {
    /// What PCT guarantees.
    pub bound: Bound,
    /// The schedules of each policy.
    pub schedules: Vec<Seen>,
    /// The orders that were seen of steps of different threads.
    pub event_pairs: EventPairs,
}

/// PCT's guarantee over all runs of the campaign.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, JsonSchema)]
pub struct Bound {
    /// Why there is no bound; absent if there is one.
    pub missing: Option<String>,
    /// Which bugs it covers, in words: what was seen, what was not, and what no run explores. Absent without a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The most threads of a run.
    pub threads: u64,
    /// The most steps of a run.
    pub steps: u64,
    /// With this probability the starvation guard overrides a choice.
    pub guard: f64,
    /// The runs that count.
    pub runs: u64,
    /// Runs that do not, because the starvation guard stepped in.
    pub left_out_for_guard: u64,
    /// Runs that do not, because threads were late; absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_for_delays: Option<u64>,
    /// Runs that do not, because their k was no upper bound for the steps of a run.
    pub left_out_for_steps: u64,
    /// For each depth up to the policy's, but at most three.
    pub depths: Vec<Depth>,
}

/// What is guaranteed for a depth.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, JsonSchema)]
pub struct Depth {
    /// The depth.
    pub depth: u32,
    /// A bug of this depth was missed with this probability at most.
    pub missed_at_most: f64,
    /// More runs of the same kind that would bring it to 5%.
    pub more_runs: Option<u64>,
    /// More runs of this campaign that would contain that many, as far as can be estimated.
    pub more_campaign_runs: Option<u64>,
}

/// The schedules of one policy.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, JsonSchema)]
pub struct Seen {
    /// The policy; for a portfolio with the number of its member.
    pub policy: String,
    /// Runs.
    pub runs: u64,
    /// Different schedules.
    pub distinct: u64,
    /// Those that one run had.
    pub once: u64,
    /// Those that two runs had.
    pub twice: u64,
    /// The estimated share of the probability that lies on others; `None`: the runs are not independent.
    pub unseen: Option<f64>,
    /// The 95% interval of that.
    pub unseen_interval: Option<[f64; 2]>,
}

/// Orders of steps of different threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, JsonSchema)]
pub struct EventPairs {
    /// Runs that were sampled.
    pub runs: u64,
    /// Runs that were to be sampled but were too long.
    pub too_long: u64,
    /// Orders that were seen.
    pub covered: u64,
    /// Both orders of all pairs of steps that were seen.
    pub possible: u64,
    /// Orders that only the second half of the sample showed.
    pub new_in_second_half: u64,
}

impl Worth {
    /// The schedules of the only policy that made runs. Estimates of several policies cannot be added.
    pub fn of_one(&self) -> Option<&Seen> {
        match &self.schedules[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}
