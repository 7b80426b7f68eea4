//! From the outcome of a campaign to what other tools read ([`raddle_report`]).

mod json;
pub mod racing;
#[cfg(any(test, feature = "samples"))]
pub mod sample;
mod scope;
pub mod search;
pub mod worth;

use raddle_protocol::{Escape, Points};

use crate::plan::Plan;
use raddle_report::exit_code;

use crate::campaign::{End, Outcome};
use raddle_inspect::elf::Language;

/// Where personality is forbidden.
const RANDOM_ADDRESSES: &str =
    "addresses differ from start to start, because personality(ADDR_NO_RANDOMIZE) is not permitted here";

/// What waits by futex in an instrumented Rust program and comes from no visible atomic: its own locks are visible.
const HIDDEN_IN_STD: &str =
    "atomics inside the precompiled standard library are not schedule points (cargo raddle --std makes them points)";

/// A campaign that is over, to be reported.
pub struct Summary<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// What came of it.
    pub campaign: &'a Outcome,
}

impl Summary<'_> {
    /// The report for other tools.
    pub fn report(&self) -> raddle_report::Report {
        json::report(self)
    }

    /// The exit status of the campaign.
    pub fn status(&self) -> u8 {
        if !self.campaign.findings.is_empty() {
            return exit_code::FAILURE;
        }
        match &self.campaign.end {
            End::Broken(error) => error.exit_code(),
            _ if self.campaign.tally.nothing_controlled().is_some() => exit_code::NOTHING_CONTROLLED,
            // Nothing was explored to its end.
            _ if self.campaign.tally.all_cut() => exit_code::NOTHING_CONTROLLED,
            _ => exit_code::OK,
        }
    }

    /// What escaped control, in words; empty is the claim that nothing did.
    pub fn uncontrolled(&self) -> Vec<&'static str> {
        let mut texts = self.campaign.tally.escapes();
        let program = &self.plan.target.program;
        let futex = texts.iter().position(|text| *text == Escape::Futex.text());
        if program.language == Language::Rust {
            match futex {
                None if !program.instrumented() => texts.push(Escape::Futex.text()),
                Some(at) if program.instrumented() && self.plan.settings.points >= Points::Atomic => {
                    texts[at] = HIDDEN_IN_STD
                }
                _ => {}
            }
        } else {
            texts.extend(scope::hidden(program));
        }
        if self.campaign.random_addresses {
            texts.push(RANDOM_ADDRESSES);
        }
        texts
    }
}
