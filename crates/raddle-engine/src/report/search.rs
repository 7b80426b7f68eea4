//! What a search is worth: that no schedule is left is a proof, or is not, and why.

use raddle_core::policies::search::lateness;
use raddle_core::policy::Gap;
use raddle_protocol::results::blind_spot;
use raddle_protocol::Escape;
use raddle_report::search::Exhausted;
use raddle_report::words::count;
use raddle_report::FailureKind;

use super::{scope, Summary};

/// Escapes that leave every run as it was.
const HARMLESS: [Escape; 1] = [Escape::Affinity];

/// Why a search without delays is no proof.
const NEVER_LATE: &str =
    "threads waited for a time while others could run, and in no run were these late (late=1 and --lag allow it)";

/// What is no lack of a proof about the points of a level, which says so.
const IN_THE_SCOPE: [&str; 2] = [scope::HIDDEN_IN_C, scope::HIDDEN_IN_CPP];

/// What a campaign's search explored, if it came to its end.
pub fn exhausted(summary: &Summary<'_>) -> Option<Exhausted> {
    let explored = summary.campaign.explored?;
    let lacks = lacks(summary);
    // A loop that only reads waits for a change, and schedules in which it does not are left out as well.
    let fair = explored.fair || summary.campaign.tally.notes & blind_spot::SPUN != 0;
    Some(Exhausted {
        schedules: explored.schedules,
        redundant: explored.redundant,
        bound: explored.bound.checked_sub(1),
        delays: delays(summary),
        reduced: explored.reduced,
        fair,
        proof: lacks.is_empty(),
        scope: Some(scope::of_proof(summary, explored.reduced, fair, delays(summary))),
        lacks,
    })
}

/// How often threads were late at most; `None`: there was never anything to be late for.
fn delays(summary: &Summary<'_>) -> Option<u32> {
    let settings = &summary.plan.settings;
    let bound = settings.policy.parameters().find(|(name, _)| *name == lateness::PARAMETER.name);
    let bound = bound.map_or(0, |(_, value)| value as u32);
    let waited = summary.campaign.tally.notes & blind_spot::DEADLINES != 0;
    waited.then_some(if settings.lag == 0 { 0 } else { bound })
}

/// Why the end of a search is no proof.
fn lacks(summary: &Summary<'_>) -> Vec<String> {
    let (campaign, tally) = (summary.campaign, &summary.campaign.tally);
    let Some(explored) = campaign.explored else { return Vec::new() };
    let mut lacks: Vec<String> = Vec::new();
    lacks.extend(gap_texts(explored.gaps));
    if tally.cut_runs > 0 {
        lacks.push(format!("{} cut at the step limit", was(tally.cut_runs, "run")));
    }
    if tally.fair_runs > 0 {
        lacks.push(format!("{} taken over by a fair schedule", was(tally.fair_runs, "run")));
    }
    if delays(summary) == Some(0) {
        lacks.push(NEVER_LATE.to_string());
    }
    let slow =
        campaign.findings.iter().filter(|finding| finding.failure.kind == FailureKind::Timeout).map(|f| f.count).sum();
    if slow > 0 {
        lacks.push(format!("{} ended by the wall clock", was(slow, "run")));
    }
    let harmless = HARMLESS.map(Escape::text);
    let harmless = [&harmless[..], &IN_THE_SCOPE].concat();
    lacks.extend(summary.uncontrolled().into_iter().filter(|text| !harmless.contains(text)).map(str::to_string));
    if tally.notes & blind_spot::DRAWN != 0 {
        lacks.push("which of several threads a condition's signal wakes was drawn, not explored".to_string());
    }
    if explored.reduced {
        let unknown = [
            (
                blind_spot::TIMED,
                "the program waits for time or reads a clock, and the reduction does not know what that orders",
            ),
            (blind_spot::ORPHANED, "threads end with locks held, and the reduction does not know what that orders"),
            (blind_spot::SPUN, Gap::Spins.text()),
        ];
        lacks.extend(unknown.iter().filter(|(bit, _)| tally.notes & bit != 0).map(|(_, text)| (*text).to_string()));
    }
    // A search that started afresh, because points were added, may have come across a schedule before.
    let runs = explored.schedules + explored.redundant;
    if tally.runs == runs && tally.distinct_schedules() < runs {
        lacks.push(Gap::Unstable.text().to_string());
    }
    lacks.dedup();
    lacks
}

fn gap_texts(gaps: u32) -> impl Iterator<Item = String> {
    Gap::ALL.into_iter().filter(move |gap| gaps >> *gap as u32 & 1 != 0).map(|gap| gap.text().to_string())
}

/// Why the end of a search that is not over would be no proof, as far as the search knows.
pub fn lacks_so_far(summary: &Summary<'_>) -> Vec<String> {
    gap_texts((summary.campaign.tally.notes >> blind_spot::GAPS) as u32).collect()
}

fn was(n: u64, thing: &str) -> String {
    format!("{} {}", count(n, thing), if n == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Outcome;
    use crate::plan::policy_choice::PolicyChoice;
    use crate::report::sample;
    use raddle_core::policy::Explored;

    fn explored(change: impl FnOnce(&mut Outcome)) -> Exhausted {
        explored_by("ipb", change)
    }

    fn explored_by(policy: &str, change: impl FnOnce(&mut Outcome)) -> Exhausted {
        let mut plan = sample::plan();
        plan.policy = PolicyChoice::parse(policy).expect("a policy");
        plan.resolve();
        let mut campaign = sample::campaign(20);
        campaign.explored = Some(Explored { schedules: 20, ..Explored::default() });
        campaign.tally = Default::default();
        for run in 1..=20 {
            let mut report = sample::report(run, crate::run::report::Verdict::Passed);
            report.counts.hash = run;
            campaign.tally.add(&report);
        }
        change(&mut campaign);
        exhausted(&Summary { plan: &plan, campaign: &campaign }).expect("it is over")
    }

    #[test]
    fn all_schedules_are_a_proof() {
        let all = explored(|_| {});
        assert!(all.proof && all.bound.is_none() && all.lacks.is_empty(), "{all:?}");
        let some = explored(|campaign| campaign.explored.as_mut().expect("is there").bound = 3);
        assert_eq!(some.bound, Some(2));
    }

    #[test]
    fn a_proof_about_fair_schedules_is_one_for_these() {
        assert!(!explored(|_| {}).fair);
        let held = |campaign: &mut Outcome| campaign.explored.as_mut().expect("is there").fair = true;
        let reads = |campaign: &mut Outcome| campaign.tally.notes = blind_spot::SPUN;
        for fair in [explored(held), explored(reads)] {
            assert!(fair.proof && fair.fair, "{fair:?}");
        }
    }

    #[test]
    fn a_proof_says_what_it_is_about() {
        let scope = |it: Exhausted| it.scope.expect("is there");
        let all = scope(explored(|_| {}));
        assert_eq!(
            all,
            "for the points of level sync, sequential consistency, these inputs and the virtual clock; atomics and \
             memory accesses are not seen: build with raddle cc"
        );
        let fair = scope(explored(|campaign| campaign.tally.notes = blind_spot::SPUN));
        let expected = "for schedules in which busy-waiting threads let others run, the points of level ";
        assert!(fair.starts_with(expected), "{fair}");
    }

    #[test]
    fn what_was_not_seen_or_not_controlled_makes_it_none() {
        let why = |change: fn(&mut Outcome)| {
            let it = explored(change);
            assert!(!it.proof, "{it:?}");
            it.lacks.join("; ")
        };
        assert_eq!(why(|campaign| campaign.tally.cut_runs = 1), "1 run was cut at the step limit");
        assert_eq!(why(|campaign| campaign.tally.fair_runs = 2), "2 runs were taken over by a fair schedule");
        let outside = |campaign: &mut Outcome| campaign.tally.escapes = 1 << Escape::OutsideInput as u32;
        assert_eq!(why(outside), Escape::OutsideInput.text());
        assert!(why(|campaign| campaign.tally.notes = blind_spot::DRAWN).contains("was drawn"));
        assert_eq!(why(|campaign| campaign.explored.as_mut().expect("is there").gaps = 1), Gap::Depth.text());
        // The same schedule again and again.
        let repeated = |campaign: &mut Outcome| {
            campaign.tally = Default::default();
            (0..20).for_each(|_| campaign.tally.add(&sample::report(1, crate::run::report::Verdict::Passed)));
        };
        assert_eq!(why(repeated), Gap::Unstable.text());
    }

    #[test]
    fn a_proof_says_how_often_threads_were_late() {
        let waited = |campaign: &mut Outcome| campaign.tally.notes = blind_spot::DEADLINES;
        let late = explored(waited);
        assert!(late.proof && late.delays == Some(1), "{late:?}");
        assert!(late.scope.expect("is there").contains("threads that are late by at most 100 ms in all"));
        let never = explored_by("ipb:late=0", waited);
        assert_eq!((never.proof, never.lacks), (false, vec![NEVER_LATE.to_string()]));
        // Where no thread waits for a time there is nothing to be late for.
        assert!(explored_by("ipb:late=0", |_| {}).proof);
    }

    #[test]
    fn a_reduction_knows_less() {
        let timed = |campaign: &mut Outcome| campaign.tally.notes = blind_spot::TIMED;
        assert!(explored(timed).proof);
        let reduced = explored(|campaign| {
            timed(campaign);
            campaign.explored.as_mut().expect("is there").reduced = true;
        });
        assert!(!reduced.proof, "{reduced:?}");
        // What is asked for and ignored changes no run.
        assert!(explored(|campaign| campaign.tally.escapes = 1 << Escape::Affinity as u32).proof);
    }
}
