//! What a claim about a program is about. A bound without its scope reads as certainty, so whatever says how likely a
//! bug was missed, or that there is none, names here what was seen, what was not, and what no run explores.

use raddle_inspect::elf::{Language, Program};
use raddle_protocol::hooks::offers;
use raddle_protocol::Points;
use raddle_report::words::{count, number};

use super::Summary;

/// What C hides that was built as ever.
pub const HIDDEN_IN_C: &str = "atomics and memory accesses are not seen: build with raddle cc";

/// The same for C++.
pub const HIDDEN_IN_CPP: &str = "atomics and memory accesses are not seen: build with raddle c++";

/// The same for Rust.
const HIDDEN_IN_RUST: &str =
    "uncontended locks, atomics and memory accesses are not seen: build with cargo raddle --memory";

/// What no policy explores.
const NEVER: &str = "spurious wake-ups and weak memory are not explored";

/// What is not explored where threads are never late.
const NEVER_LATE: &str = "early time-outs";

/// `bugs that show at the points raddle saw (up to 57): locks and calls; …`.
pub fn of(s: &Summary<'_>) -> String {
    let points = number(s.campaign.tally.points_max);
    let never = match s.plan.settings.lag {
        0 => format!("{NEVER_LATE}, {NEVER}"),
        _ => NEVER.to_string(),
    };
    let parts = std::iter::once(format!("bugs that show at the points raddle saw (up to {points}): {}", seen(s)));
    parts.chain(unseen(s)).chain([never]).collect::<Vec<_>>().join("; ")
}

/// What a proof is relative to: of a search whose schedules were reduced to one of each order, or fair ones only.
pub fn of_proof(s: &Summary<'_>, reduced: bool, fair: bool, delays: Option<u32>) -> String {
    let points = s.plan.settings.points.name();
    let races = if reduced { ", no races between points" } else { "" };
    let late = match delays {
        Some(1..) => format!(", threads that are late by at most {} ms in all", s.plan.settings.lag),
        _ => String::new(),
    };
    let fair = if fair { "schedules in which busy-waiting threads let others run, " } else { "" };
    let proof = format!(
        "for {fair}the points of level {points}, sequential consistency{races}, these inputs and the virtual clock{late}"
    );
    std::iter::once(proof).chain(unseen(s)).collect::<Vec<_>>().join("; ")
}

/// What an unmodified program hides; `None`: it is instrumented.
pub fn hidden(program: &Program) -> Option<&'static str> {
    let text = match program.language {
        Language::C => HIDDEN_IN_C,
        Language::Cpp => HIDDEN_IN_CPP,
        Language::Rust => HIDDEN_IN_RUST,
    };
    (!program.instrumented()).then_some(text)
}

/// What is a schedule point.
fn seen(s: &Summary<'_>) -> String {
    let functions = if s.plan.sync_functions.names.is_empty() { "" } else { " (with those of --sync-function)" };
    let more = match s.plan.settings.points {
        Points::Sync => return format!("locks and calls{functions}"),
        Points::Atomic => "atomics".to_string(),
        Points::Race if s.campaign.racing.is_empty() => "atomics (no memory access was seen to race)".to_string(),
        Points::Race => {
            let places = count(s.campaign.racing.len() as u64, "place");
            format!("atomics, and memory accesses at {places} seen to race")
        }
        Points::Memory => "atomics and memory accesses".to_string(),
    };
    format!("locks, calls{functions}, {more}")
}

/// What is not, and what to do about it.
fn unseen(s: &Summary<'_>) -> Option<String> {
    let program = &s.plan.target.program;
    if let Some(text) = hidden(program) {
        return Some(text.to_string());
    }
    let level = s.plan.settings.points;
    let more = |what: &str, level: &str| Some(format!("{what} are not points: --points {level} makes them points"));
    match level {
        Points::Sync if program.offers & offers::MEMORY == 0 => more("atomics", "atomic"),
        Points::Sync => more("atomics and memory accesses", "memory"),
        Points::Atomic if program.offers & offers::MEMORY == 0 => {
            Some("memory accesses are not seen: build with cargo raddle --memory".to_string())
        }
        Points::Atomic | Points::Race => more("other memory accesses", "memory"),
        Points::Memory => {
            Some("code that was built without raddle, such as libraries, is seen only at its calls".to_string())
        }
    }
}
