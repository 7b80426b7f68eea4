//! What came of a replay.

use std::fmt::Write;
use std::path::Path;

use raddle_core::schedule::Schedule;
use raddle_core::Decision;
use serde::Serialize;

use super::{number, text};
use crate::campaign::findings::Finding;
use crate::campaign::plan::Plan;
use crate::campaign::run_report::{Divergence, Kind};
use crate::campaign::Campaign;
use crate::exit_code;

/// A replay that is over.
pub struct Replayed<'a> {
    recorded: &'a Schedule,
    campaign: &'a Campaign,
    same_build: bool,
    /// Runs with the recorded failure.
    again: u64,
    /// Runs with another one.
    different: u64,
}

impl<'a> Replayed<'a> {
    /// Compares the failures of a replay with the recorded one.
    pub fn new(recorded: &'a Schedule, campaign: &'a Campaign, same_build: bool) -> Replayed<'a> {
        let mut replayed = Replayed { recorded, campaign, same_build, again: 0, different: 0 };
        // In one run there may be other races beside the recorded one, and in another build two that look like it.
        let again = campaign.findings.iter().filter(|finding| replayed.is_recorded(finding)).map(|f| f.count).sum();
        let failing = campaign.tally.failing_runs;
        replayed.again = failing.min(again);
        replayed.different = failing - replayed.again;
        replayed
    }

    fn is_recorded(&self, finding: &Finding) -> bool {
        let (recorded, found) = (&self.recorded.failure, &finding.failure);
        let same_place = if self.same_build {
            recorded.place == found.place
        } else {
            // In another build the same code has moved.
            without_numbers(&recorded.place) == without_numbers(&found.place)
        };
        recorded.kind == found.kind.name() && same_place
    }

    /// The exit status that says so.
    pub fn status(&self) -> u8 {
        if self.again > 0 {
            exit_code::FAILURE
        } else if self.campaign.tally.diverged_runs > 0 {
            exit_code::DIVERGED
        } else {
            exit_code::OK
        }
    }

    /// The recorded failure for a person.
    fn title(&self) -> &str {
        let kind = &self.recorded.failure.kind;
        Kind::ALL.iter().find(|k| k.name() == kind).map_or(kind.as_str(), |k| k.title())
    }
}

/// A replay for a person.
pub fn text(replayed: &Replayed<'_>, quiet: bool) -> String {
    let mut out = String::new();
    let tally = &replayed.campaign.tally;
    let title = replayed.title();
    let verdict = match (tally.runs, replayed.again) {
        (1, 1) => format!("the recorded {title} happened again"),
        (1, _) => format!("the recorded {title} did not happen"),
        (runs, again) => {
            format!("the recorded {title} happened in {} of {} runs", number(again), number(runs))
        }
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{verdict}");
    if let Some((run, divergence)) = &replayed.campaign.divergence {
        let _ = writeln!(out, "{}", divergence_text(*run, tally.runs, divergence));
        if !replayed.same_build {
            let _ = writeln!(out, "the program is not the one that was recorded, which explains it");
        }
    }
    for finding in &replayed.campaign.findings {
        if !replayed.is_recorded(finding) {
            let failure = &finding.failure;
            let what = match replayed.different {
                0 => "beside it",
                _ => "a different failure happened",
            };
            let _ = writeln!(out, "{what}: {}: {}", failure.kind.title(), failure.message);
        }
        if !quiet {
            write_finding(&mut out, finding);
        }
    }
    out
}

fn write_finding(out: &mut String, finding: &Finding) {
    let failure = &finding.failure;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{}: {}\n  step {}", failure.kind.title(), failure.message, number(failure.step));
    let _ = text::write_threads(out, &failure.threads);
}

/// Where a replay left its recording: what was expected there and what came.
fn divergence_text(run: u64, runs: u64, divergence: &Divergence) -> String {
    let which = if runs > 1 { format!(" (run {})", number(run)) } else { String::new() };
    let found = decision(divergence.found);
    let what = match divergence.expected {
        None => format!(
            "the recording ends there, with the failure, but the program goes on: {} is about to {}",
            found.0, found.1
        ),
        Some(expected) => {
            let expected = decision(expected);
            let came = match (divergence.enabled, expected.0 == found.0) {
                (true, true) => format!("{} is about to {} instead", found.0, found.1),
                (false, true) => format!("{} cannot go on (it is about to {})", found.0, found.1),
                (_, false) => format!("there is no such thread; {} is about to {}", found.0, found.1),
            };
            format!("expected {} to {}, but {came}", expected.0, expected.1)
        }
    };
    format!("the replay diverged at step {}{which}: {what}", number(divergence.step))
}

/// A decision's thread and event, in words.
fn decision(packed: u32) -> (String, String) {
    let decision = Decision(packed);
    let event = decision.kind().map_or("do something unknown".to_string(), |kind| kind.name().to_string());
    (decision.thread().to_string(), event)
}

/// A place without line numbers.
fn without_numbers(place: &str) -> String {
    let mut text = String::new();
    let mut parts = place.split(':');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        text.push(':');
        text.push_str(rest);
    }
    text
}

/// A replay for programs.
#[derive(Serialize)]
pub struct Report {
    version: u32,
    schedule: String,
    command: Vec<String>,
    kind: String,
    runs: u64,
    happened_again: u64,
    different_failures: u64,
    diverged: u64,
    divergence: Option<DivergenceReport>,
    same_build: bool,
    seconds: f64,
    failures: Vec<FailureReport>,
}

#[derive(Serialize)]
struct DivergenceReport {
    step: u64,
    expected: Option<DecisionReport>,
    found: DecisionReport,
    enabled: bool,
}

#[derive(Serialize)]
struct DecisionReport {
    thread: u16,
    event: Option<&'static str>,
}

#[derive(Serialize)]
struct FailureReport {
    kind: &'static str,
    message: String,
    place: String,
    count: u64,
    step: u64,
    recorded: bool,
}

impl Report {
    /// The report of a replay.
    pub fn new(replayed: &Replayed<'_>, plan: &Plan, schedule: &Path) -> Report {
        let campaign = replayed.campaign;
        let decision = |packed| DecisionReport {
            thread: Decision(packed).thread().0,
            event: Decision(packed).kind().map(|kind| kind.name()),
        };
        Report {
            version: 1,
            schedule: schedule.display().to_string(),
            command: plan.target.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            kind: replayed.recorded.failure.kind.clone(),
            runs: campaign.tally.runs,
            happened_again: replayed.again,
            different_failures: replayed.different,
            diverged: campaign.tally.diverged_runs,
            divergence: campaign.divergence.as_ref().map(|(_, divergence)| DivergenceReport {
                step: divergence.step,
                expected: divergence.expected.map(decision),
                found: decision(divergence.found),
                enabled: divergence.enabled,
            }),
            same_build: replayed.same_build,
            seconds: campaign.seconds,
            failures: campaign
                .findings
                .iter()
                .map(|finding| FailureReport {
                    kind: finding.failure.kind.name(),
                    message: finding.failure.message.clone(),
                    place: finding.failure.place.clone(),
                    count: finding.count,
                    step: finding.failure.step,
                    recorded: replayed.is_recorded(finding),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::{EventKind, ThreadId};

    fn packed(thread: u16, kind: EventKind) -> u32 {
        Decision::new(ThreadId(thread), kind).0
    }

    #[test]
    fn a_divergence_says_what_was_expected_and_what_came() {
        let lock = packed(2, EventKind::Lock);
        let case = |expected, found, enabled| divergence_text(1, 1, &Divergence { step: 12, expected, found, enabled });
        assert_eq!(
            case(Some(lock), packed(2, EventKind::Unlock), true),
            "the replay diverged at step 12: expected t2 to lock, but t2 is about to unlock instead"
        );
        assert_eq!(
            case(Some(lock), lock, false),
            "the replay diverged at step 12: expected t2 to lock, but t2 cannot go on (it is about to lock)"
        );
        assert_eq!(
            case(Some(lock), packed(0, EventKind::Join), false),
            "the replay diverged at step 12: expected t2 to lock, but there is no such thread; t0 is about to join"
        );
        assert_eq!(
            case(None, packed(1, EventKind::Read), true),
            "the replay diverged at step 12: the recording ends there, with the failure, \
             but the program goes on: t1 is about to read"
        );
    }

    #[test]
    fn a_place_in_another_build_is_compared_without_lines() {
        assert_eq!(without_numbers("lock in a (x.c:12); lock in b (x.c:7)"), "lock in a (x.c:); lock in b (x.c:)");
        assert_eq!(without_numbers("a::b (x.rs:1)"), "a::b (x.rs:)");
    }
}
