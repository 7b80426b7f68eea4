//! What came of a replay.

use std::fmt::Write;

use raddle_core::Decision;
use raddle_engine::campaign::Finding;
use raddle_engine::replay::{Replay, Replayed};
use raddle_engine::run::lateness::are_least;
use raddle_engine::run::report::Divergence;
use raddle_report::words::number;
use raddle_report::FailureKind;

use super::{campaign, late};

/// A replay for a person.
pub fn text(replayed: &Replayed<'_>, quiet: bool) -> String {
    let mut out = String::new();
    let tally = &replayed.outcome.tally;
    let title = replayed.title();
    let verdict = match (tally.runs, replayed.again) {
        (0, _) => format!("cannot tell whether the recorded {title} happens: no run finished"),
        (1, 1) => format!("the recorded {title} happened again"),
        (1, _) => format!("the recorded {title} did not happen"),
        (runs, again) => {
            format!("the recorded {title} happened in {} of {} runs", number(again), number(runs))
        }
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{verdict}");
    if let Some(text) = delays(replayed.replay).filter(|_| replayed.again > 0) {
        let _ = writeln!(out, "it {text}");
    }
    if replayed.again == 0 && !replayed.replay.differences.is_empty() {
        let _ = writeln!(out, "but this differs from the recording, so the failure may still be there:");
        for difference in &replayed.replay.differences {
            let _ = writeln!(out, "  {difference}");
        }
    }
    if let Some((run, divergence)) = &replayed.outcome.divergence {
        let _ = writeln!(out, "{}", divergence_text(*run, tally.runs, divergence));
        if !replayed.replay.same_build {
            let _ = writeln!(out, "the program is not the one that was recorded, which explains it");
        }
    }
    for finding in &replayed.outcome.findings {
        if !replayed.is_recorded(finding) {
            let failure = &finding.failure;
            let what = match replayed.different {
                0 => "in addition",
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

/// Which threads were late in the recorded run.
fn delays(replay: &Replay) -> Option<String> {
    let recorded = &replay.recorded;
    let kind = FailureKind::from_name(&recorded.failure.kind)?;
    late::text(&recorded.delays, are_least(replay.plan.policy.descriptor, recorded.check != 0, kind))
}

fn write_finding(out: &mut String, finding: &Finding) {
    let failure = &finding.failure;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{}: {}\n  step {}", failure.kind.title(), failure.message, number(failure.step));
    let _ = campaign::write_threads(out, &failure.threads);
    let _ = campaign::write_said(out, &failure.said);
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
}
