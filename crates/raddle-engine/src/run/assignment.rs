//! Runs that a job is to make, and what those of them that passed came to.

use std::sync::Arc;

use raddle_core::policy::{Learns, Profile};
use raddle_protocol::settings::STACKS;
use raddle_protocol::{Stacks, Summary};

use super::observed::Knowledge;
use super::report::{Counts, RunReport, Verdict};
use crate::plan::place::Place;

/// What a job is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The first run, counted from 1.
    pub first: u64,
    pub last: u64,
    /// How large earlier runs were.
    pub profile: Profile,
    /// The threads that earlier runs made.
    pub stacks: [Stacks; STACKS],
    /// The places that earlier runs saw racing.
    pub places: Vec<Place>,
    /// What later runs are to learn from these.
    pub traced: Learns,
    /// What the policy is told of earlier runs, unless the job knows it already.
    pub knowledge: Option<Arc<Knowledge>>,
    /// Which version of the knowledge that is.
    pub version: u64,
}

impl Assignment {
    /// Asks what the program's check wants; no run is made.
    pub fn survey() -> Assignment {
        Assignment {
            first: 0,
            last: 0,
            profile: Profile::default(),
            stacks: Default::default(),
            places: Vec::new(),
            traced: Learns::Nothing,
            knowledge: None,
            version: 0,
        }
    }

    /// Whether it is [`Assignment::survey`].
    pub fn is_survey(&self) -> bool {
        self.first == 0
    }
}

/// Runs that passed, one after the other. In one process there may be hundreds of thousands of them in a second.
#[derive(Debug, Default)]
pub struct Batch {
    pub first: u64,
    summaries: Vec<Summary>,
}

impl Batch {
    pub fn new(first: u64, summaries: Vec<Summary>) -> Batch {
        Batch { first, summaries }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.summaries.len() as u64
    }

    /// A report for each.
    pub fn reports(&self) -> impl Iterator<Item = RunReport> + '_ {
        self.summaries.iter().zip(self.first..).map(|(summary, run)| RunReport {
            verdict: if summary.cut != 0 { Verdict::Cut } else { Verdict::Passed },
            counts: Counts::from(summary),
            escapes: summary.escapes,
            ..RunReport::new(run)
        })
    }
}
