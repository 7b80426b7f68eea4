//! What a search is worth: that no schedule is left is a proof, or is not, and why.

use raddle_core::block::{note, Escape};
use raddle_core::policy::Gap;
use serde::Serialize;

use super::{count, number, Summary};
use crate::campaign::run_report::Kind;

/// A search that came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exhausted {
    /// Schedules that were explored.
    pub schedules: u64,
    /// Runs that turned out to repeat others up to the order of independent operations.
    pub redundant: u64,
    /// The bound up to which all schedules were explored; none: all there are.
    pub bound: Option<u32>,
    /// Whether schedules were left out that differ by the order of independent operations only.
    pub reduced: bool,
    /// Whether a thread that waits busily had to let others go first: only fair schedules were explored.
    pub fair: bool,
    /// Whether what was not seen cannot be, as far as [`Exhausted::relative_to`] goes.
    pub proof: bool,
    /// Why it is no proof.
    pub lacks: Vec<String>,
}

/// Escapes that leave every run as it was.
const HARMLESS: [Escape; 1] = [Escape::Affinity];

impl Exhausted {
    /// Of a campaign, if its search came to its end.
    pub fn of(summary: &Summary<'_>) -> Option<Exhausted> {
        let explored = summary.campaign.explored?;
        let lacks = lacks(summary);
        Some(Exhausted {
            schedules: explored.schedules,
            redundant: explored.redundant,
            bound: explored.bound.checked_sub(1),
            reduced: explored.reduced,
            // A loop that only reads waits for a change, and schedules in which it does not are left out as well.
            fair: explored.fair || summary.campaign.tally.notes & note::SPUN != 0,
            proof: lacks.is_empty(),
            lacks,
        })
    }

    /// `all 20 schedules explored`, or `all 20 fair schedules explored`.
    pub fn title(&self, policy: &str) -> String {
        let within = self.bound.map(|bound| format!(" with at most {}", bound_text(policy, bound)));
        let schedule = if self.fair { "fair schedule" } else { "schedule" };
        format!("all {}{} explored", count(self.schedules, schedule), within.unwrap_or_default())
    }

    /// What was left out because it makes no difference.
    pub fn reduction(&self) -> Option<String> {
        let redundant = match self.redundant {
            0 => String::new(),
            n => format!("; {} redundant {}", number(n), if n == 1 { "run" } else { "runs" }),
        };
        self.reduced.then(|| format!("one schedule for each order of operations that depend on each other{redundant}"))
    }

    /// What the proof is relative to.
    pub fn relative_to(&self, summary: &Summary<'_>) -> String {
        let points = summary.plan.points.name();
        let races = if self.reduced { ", no races between points" } else { "" };
        let fair = if self.fair { "schedules in which threads that wait busily let others run, " } else { "" };
        format!(
            "for {fair}the points of level {points}, sequential consistency{races}, these inputs and the virtual clock"
        )
    }
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
    let slow = campaign.findings.iter().filter(|finding| finding.failure.kind == Kind::Timeout).map(|f| f.count).sum();
    if slow > 0 {
        lacks.push(format!("{} ended by the wall clock", was(slow, "run")));
    }
    let harmless = HARMLESS.map(Escape::text);
    lacks.extend(summary.uncontrolled().into_iter().filter(|text| !harmless.contains(text)).map(str::to_string));
    if tally.notes & note::DRAWN != 0 {
        lacks.push("which of several threads a condition's signal wakes was drawn, not explored".to_string());
    }
    if explored.reduced {
        let unknown = [
            (
                note::TIMED,
                "the program waits for time or reads a clock, and the reduction does not know what that orders",
            ),
            (note::ORPHANED, "threads end with locks held, and the reduction does not know what that orders"),
            (note::SPUN, Gap::Spins.text()),
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
    gap_texts((summary.campaign.tally.notes >> note::GAPS) as u32).collect()
}

fn was(n: u64, thing: &str) -> String {
    format!("{} {}", count(n, thing), if n == 1 { "was" } else { "were" })
}

/// A bound in the policy's own units: `2 preemptions`.
pub fn bound_text(policy: &str, bound: u32) -> String {
    match policy {
        "ipb" => count(bound.into(), "preemption"),
        "idb" => count(bound.into(), "delay"),
        _ => format!("a bound of {bound}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Campaign;
    use crate::policy_choice::PolicyChoice;
    use crate::report::sample;
    use raddle_core::policy::Explored;

    fn explored(change: impl FnOnce(&mut Campaign)) -> Exhausted {
        let mut plan = sample::plan();
        plan.policy = PolicyChoice::parse("ipb").expect("a policy");
        let mut campaign = sample::campaign(20);
        campaign.explored = Some(Explored { schedules: 20, ..Explored::default() });
        campaign.tally = Default::default();
        for run in 1..=20 {
            let mut report = sample::report(run, crate::campaign::run_report::Verdict::Passed);
            report.counts.hash = run;
            campaign.tally.add(&report);
        }
        change(&mut campaign);
        Exhausted::of(&Summary { plan: &plan, campaign: &campaign }).expect("it is over")
    }

    #[test]
    fn all_schedules_are_a_proof() {
        let all = explored(|_| {});
        assert!(all.proof && all.bound.is_none() && all.lacks.is_empty(), "{all:?}");
        assert_eq!(all.title("ipb"), "all 20 schedules explored");
        let some = explored(|campaign| campaign.explored.as_mut().expect("is there").bound = 3);
        assert_eq!(some.title("ipb"), "all 20 schedules with at most 2 preemptions explored");
        assert_eq!(bound_text("idb", 1), "1 delay");
        assert_eq!(bound_text("own", 1), "a bound of 1");
    }

    #[test]
    fn a_proof_about_fair_schedules_says_so() {
        let relative = |it: &Exhausted| {
            let (plan, campaign) = (sample::plan(), sample::campaign(20));
            it.relative_to(&Summary { plan: &plan, campaign: &campaign })
        };
        let all = explored(|_| {});
        assert!(!all.fair && relative(&all).starts_with("for the points of level "), "{all:?}");
        let held = |campaign: &mut Campaign| campaign.explored.as_mut().expect("is there").fair = true;
        let reads = |campaign: &mut Campaign| campaign.tally.notes = note::SPUN;
        for fair in [explored(held), explored(reads)] {
            assert!(fair.proof && fair.fair, "{fair:?}");
            assert_eq!(fair.title("ipb"), "all 20 fair schedules explored");
            let expected = "for schedules in which threads that wait busily let others run, the points of level ";
            assert!(relative(&fair).starts_with(expected), "{}", relative(&fair));
        }
    }

    #[test]
    fn what_was_not_seen_or_not_controlled_makes_it_none() {
        let why = |change: fn(&mut Campaign)| {
            let it = explored(change);
            assert!(!it.proof, "{it:?}");
            it.lacks.join("; ")
        };
        assert_eq!(why(|campaign| campaign.tally.cut_runs = 1), "1 run was cut at the step limit");
        let outside = |campaign: &mut Campaign| campaign.tally.escapes = 1 << Escape::OutsideInput as u32;
        assert_eq!(why(outside), Escape::OutsideInput.text());
        assert!(why(|campaign| campaign.tally.notes = note::DRAWN).contains("was drawn"));
        assert_eq!(why(|campaign| campaign.explored.as_mut().expect("is there").gaps = 1), Gap::Depth.text());
        // The same schedule again and again.
        let repeated = |campaign: &mut Campaign| {
            campaign.tally = Default::default();
            (0..20).for_each(|_| campaign.tally.add(&sample::report(1, crate::campaign::run_report::Verdict::Passed)));
        };
        assert_eq!(why(repeated), Gap::Unstable.text());
    }

    #[test]
    fn a_reduction_knows_less() {
        let timed = |campaign: &mut Campaign| campaign.tally.notes = note::TIMED;
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
