//! What came of a campaign.

use std::collections::BTreeSet;

use raddle_core::policy::Explored;

use super::findings::Finding;
use super::tally::Tally;
use crate::plan::place::Place;
use crate::run::output::Output;
use crate::run::report::Divergence;
use crate::run::target_error::TargetError;

/// Why a campaign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All runs were made, or the first failure was found.
    Complete,
    /// The time was over.
    Time,
    /// It was asked to stop.
    Interrupted,
    /// The target cannot be run any longer.
    Broken(TargetError),
}

impl End {
    /// The word in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            End::Complete => "complete",
            End::Time => "time",
            End::Interrupted => "interrupted",
            End::Broken(_) => "broken",
        }
    }
}

/// The result of a campaign.
#[derive(Debug)]
pub struct Outcome {
    /// The statistics.
    pub tally: Tally,
    /// The failures.
    pub findings: Vec<Finding>,
    /// The first divergence of a replay.
    pub divergence: Option<(u64, Divergence)>,
    /// Why there was no fork server.
    pub fallback: Vec<String>,
    /// Why threads were switched as OS threads.
    pub os_threads: Vec<String>,
    /// Places that were seen to race.
    pub racing: BTreeSet<Place>,
    /// Whether the layout of the address space could not be fixed.
    pub random_addresses: bool,
    /// How long it took.
    pub seconds: f64,
    /// What a search has explored, if no schedule is left.
    pub explored: Option<Explored>,
    /// Why it ended.
    pub end: End,
    /// What the last run of the first job printed.
    pub output: Option<Output>,
}
