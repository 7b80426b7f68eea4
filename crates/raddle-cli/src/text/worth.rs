//! What a campaign is worth, in words.

use raddle_report::words::{count, number, percent};
use raddle_report::worth::{Seen, Worth};

/// From this number of runs on, what a policy of a portfolio has not seen is worth a line.
const TELLING: u64 = 20;

/// The bound in words, when it says something to who reads a report.
pub fn bound_text(worth: &Worth) -> Option<String> {
    let bound = &worth.bound;
    let left_out = [bound.left_out_for_guard, bound.left_out_for_delays.unwrap_or(0), bound.left_out_for_steps];
    let all = bound.runs + left_out.iter().sum::<u64>();
    if all == 0 {
        return None;
    }
    let Some(deepest) = bound.depths.last() else {
        return Some(format!("no bound holds, because {}", bound.missing.as_deref().unwrap_or("nothing was run")));
    };
    // A depth that is drawn for each run gives each depth a bound of its own.
    let all_alike = bound.depths.iter().all(|depth| depth.missed_at_most == deepest.missed_at_most);
    let shown = if all_alike { std::slice::from_ref(deepest) } else { &bound.depths[..] };
    let each = shown.iter().enumerate().map(|(i, depth)| {
        let or_less = if all_alike && depth.depth > 1 { " or less" } else { "" };
        let was_missed = if i == 0 { " was missed with probability" } else { "" };
        format!("of depth {}{or_less}{was_missed} at most {}", depth.depth, probability(depth.missed_at_most))
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let told = bound.depths.iter().find(|depth| depth.depth == 2).unwrap_or(deepest);
    let which = if all_alike { String::new() } else { format!(" for depth {}", told.depth) };
    let more = match told.more_runs {
        Some(0) => String::new(),
        Some(runs) => {
            let of_all = told.more_campaign_runs.filter(|&of_all| of_all != runs);
            let among = of_all.map(|of_all| format!(" (about {} more runs of this campaign)", number(of_all)));
            let among = among.unwrap_or_default();
            format!(". {} more such runs{among} would bring that below 5%{which}", number(runs))
        }
        None => format!(". No number of such runs would bring that below 5%{which}"),
    };
    let counted = match bound.runs {
        runs if runs == all => String::new(),
        runs => format!(", from {} of {}", number(runs), count(all, "run")),
    };
    let (threads, steps) = (number(bound.threads), number(bound.steps));
    let guard = if bound.guard > 0.0 { format!(", guard {}", bound.guard) } else { String::new() };
    let scope = bound.scope.as_ref().map(|scope| format!(", for {scope}")).unwrap_or_default();
    Some(format!("a bug {each} (n={threads}, k={steps}{guard}{counted}){scope}{more}"))
}

/// The estimate of what was not seen, in words, for one policy.
pub fn unseen_text(worth: &Worth) -> Option<String> {
    seen_text(worth.of_one()?)
}

/// The same for the policies of a portfolio, each with its name: for all, or for the one that made most runs. Those
/// that made hardly any tell nothing.
pub fn unseen_of_members(worth: &Worth, all: bool) -> Vec<String> {
    let several = if worth.schedules.len() > 1 { &worth.schedules[..] } else { &[] };
    let estimated = || several.iter().filter(|seen| seen.unseen.is_some() && seen.runs >= TELLING);
    let most = estimated().map(|seen| seen.runs).max().unwrap_or(0);
    let shown = estimated().filter(|seen| all || seen.runs == most).take(if all { usize::MAX } else { 1 });
    let text = |seen: &Seen| {
        let (distinct, runs) = (number(seen.distinct), count(seen.runs, "run"));
        Some(format!("of {}: {distinct} distinct in {runs}, {}", seen.policy, seen_text(seen)?))
    };
    shown.filter_map(text).collect()
}

/// The orders in words.
pub fn pairs_text(worth: &Worth) -> Option<String> {
    let pairs = &worth.event_pairs;
    if pairs.possible == 0 {
        return None;
    }
    let share = percent(pairs.covered as f64 / pairs.possible as f64);
    let late = match pairs.new_in_second_half {
        0 => "none".to_string(),
        n => number(n),
    };
    Some(format!(
        "{} of {} ordered pairs of steps ({share}) in {}, {late} of them new in the second half",
        number(pairs.covered),
        number(pairs.possible),
        count(pairs.runs, "sampled run")
    ))
}

fn seen_text(seen: &Seen) -> Option<String> {
    let (unseen, [low, high]) = (seen.unseen?, seen.unseen_interval?);
    Some(format!("about {} unseen ({} to {})", percent(unseen), percent(low), percent(high)))
}

/// A probability for a person. It is an upper bound, so it is rounded up.
fn probability(p: f64) -> String {
    if p >= 0.0001 {
        return format!("{:.4}", (p * 1e4).ceil() / 1e4);
    }
    if p < 1e-300 {
        return "1e-300".to_string();
    }
    let exponent = p.log10().floor() as i32;
    format!("{:.1e}", (p / 10f64.powi(exponent) * 10.0).ceil() / 10.0 * 10f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::decorators::guard;
    use raddle_core::policy::Profile;
    use raddle_engine::campaign::worth::Guarantee;
    use raddle_engine::campaign::Outcome;
    use raddle_engine::plan::policy_choice::PolicyChoice;
    use raddle_engine::plan::Plan;
    use raddle_engine::report::worth::{member_name, of};
    use raddle_engine::report::{sample, Summary};
    use raddle_engine::run::report::Verdict;
    use raddle_engine::statistics::pct_bound;

    /// What the bounds below are about.
    const SCOPE: &str =
        ", for bugs that show at the points raddle saw (up to 120): locks and calls; atomics and memory \
                         accesses are not seen: build with raddle cc; spurious wake-ups and weak \
                         memory are not explored";

    /// A bound without what it is about, which it must have.
    fn bound_without_scope(worth: &Worth) -> String {
        let text = bound_text(worth).expect("a bound");
        assert!(text.contains(SCOPE), "{text}");
        text.replace(SCOPE, "")
    }

    /// A campaign of 160 runs of 100 to 115 steps, each told the same, of which some met the guard.
    fn worth(policy: &str, told: u64, guarded: u64) -> Worth {
        changed(policy, told, guarded, |plan, _| plan.settings.guard = guard::Settings::OFF)
    }

    fn changed(policy: &str, told: u64, guarded: u64, change: impl FnOnce(&mut Plan, &mut Outcome)) -> Worth {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(0));
        plan.policy = PolicyChoice::parse(policy).expect("a policy");
        plan.resolve();
        let guarantee = Guarantee::of(&plan.policy);
        for run in 1..=160 {
            let mut report = sample::report(run % 16, Verdict::Passed);
            report.counts.guard_fired = u64::from(run <= guarded);
            report.log = Some(vec![0, 1, (run % 2) as u32]);
            let told = Profile { steps: told, ..Profile::default() };
            campaign.tally.add_guaranteed(&report, guarantee.as_ref().map(|guarantee| (guarantee, told)));
        }
        change(&mut plan, &mut campaign);
        of(&Summary { plan: &plan, campaign: &campaign })
    }

    #[test]
    fn a_bound() {
        let worth = worth("pct:d=2", 115, 0);
        let missed = (1.0 - 1.0 / (3.0 * 115.0_f64)).powi(160);
        assert!((worth.bound.depths[1].missed_at_most - missed).abs() < 1e-12);
        assert_eq!(
            bound_without_scope(&worth),
            "a bug of depth 2 or less was missed with probability at most 0.6285 (n=3, k=115). 873 more such runs would \
             bring that below 5%"
        );
        // Together they are what 5% takes.
        assert_eq!(pct_bound::runs_until(1.0, 0.05, pct_bound::guarantee(3, 115, 2)), Some(160 + 873));
    }

    #[test]
    fn bounds_of_depths_that_are_drawn() {
        assert_eq!(
            bound_without_scope(&worth("pct:d=2,draw=uniform", 115, 0)),
            "a bug of depth 1 was missed with probability at most 1.7e-13, of depth 2 at most 0.7930 (n=3, k=115). 1,906 \
             more such runs would bring that below 5% for depth 2"
        );
    }

    #[test]
    fn runs_that_do_not_count() {
        let guarded = worth("pct:d=1", 115, 100);
        assert_eq!((guarded.bound.runs, guarded.bound.left_out_for_guard), (60, 100));
        assert_eq!(
            bound_without_scope(&guarded),
            "a bug of depth 1 was missed with probability at most 2.8e-11 (n=3, k=115, from 60 of 160 runs)"
        );
    }

    #[test]
    fn runs_that_the_guard_leaves_alone_count_for_less() {
        let half = changed("pct:d=2", 115, 80, |_, _| {});
        let found = 1.0 / (3.0 * 115.0) * 0.999_f64.powi(115);
        assert!((half.bound.depths[1].missed_at_most - (1.0 - found).powi(80)).abs() < 1e-12, "{half:?}");
        // The guard leaves half of the runs alone.
        let more = pct_bound::runs_until((1.0 - found).powi(80), 0.05, found).expect("a number");
        assert_eq!((half.bound.depths[1].more_runs, more), (Some(more), 1079));
        assert_eq!(half.bound.depths[1].more_campaign_runs, Some(2 * more));
        assert_eq!(
            bound_without_scope(&half),
            "a bug of depth 2 or less was missed with probability at most 0.8131 (n=3, k=115, guard 0.001, from 80 of 160 \
             runs). 1,079 more such runs (about 2,158 more runs of this campaign) would bring that below 5%"
        );
    }

    #[test]
    fn more_runs_have_the_k_of_those_that_were_made() {
        let wide = worth("pct:d=2,k=1000", 115, 0);
        let found = pct_bound::guarantee(3, 1000, 2);
        let missed = (1.0 - found).powi(160);
        assert_eq!(wide.bound.depths[1].more_runs, pct_bound::runs_until(missed, 0.05, found));
    }

    #[test]
    fn the_end_of_a_run_that_was_cut_is_not_known() {
        let cut = changed("pct:d=2", 115, 0, |_, campaign| campaign.tally.cut_runs = 1);
        assert_eq!((cut.bound.runs, cut.bound.depths.len()), (0, 0));
        assert_eq!(
            bound_text(&cut).expect("a reason"),
            "no bound holds, because runs were cut at the step limit, so the maximum number of steps is unknown"
        );
    }

    #[test]
    fn runs_that_a_fair_schedule_took_over_are_not_runs_of_pct() {
        let fair = changed("pct:d=2", 115, 0, |_, campaign| campaign.tally.fair_runs = 1);
        assert_eq!((fair.bound.runs, fair.bound.depths.len()), (0, 0));
        assert_eq!(
            bound_text(&fair).expect("a reason"),
            "no bound holds, because a fair schedule took over from the policy in runs that seemed to make no progress, \
             so the maximum number of steps is unknown"
        );
    }

    #[test]
    fn no_bound_and_why() {
        let text = |policy, told, guarded| bound_text(&worth(policy, told, guarded));
        assert_eq!(text("random", 115, 0), None);
        assert_eq!(
            text("pct:d=2", 115, 160).expect("a reason"),
            "no bound holds, because the starvation guard stepped in during every run of pct (--no-guard turns it off)"
        );
        assert_eq!(
            text("pct:d=2", 114, 0).expect("a reason"),
            "no bound holds, because k was smaller than the number of steps in the longest run (set it with pct:k=115)"
        );
    }

    #[test]
    fn what_was_seen() {
        let worth = worth("random", 0, 0);
        // The hash of a sample is half of its number.
        assert_eq!((worth.schedules[0].distinct, worth.schedules[0].once), (8, 0));
        assert_eq!(unseen_text(&worth).expect("independent"), "about 0% unseen (0% to 2.28%)");
        assert_eq!(
            pairs_text(&worth).expect("sampled"),
            "3 of 8 ordered pairs of steps (37.5%) in 160 sampled runs, none of them new in the second half"
        );
    }

    #[test]
    fn who_forces_new_orders_has_no_estimate() {
        assert_eq!(unseen_text(&worth("maple", 0, 0)), None);
        assert_eq!(unseen_text(&worth("ipb", 0, 0)), None);
        assert!(unseen_text(&worth("surw", 0, 0)).is_some());
    }

    #[test]
    fn members_of_a_portfolio_have_estimates_of_their_own() {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(0));
        plan.policy = PolicyChoice::parse("portfolio").expect("a policy");
        plan.resolve();
        for run in 1..=60 {
            let mut report = sample::report(run, Verdict::Passed);
            report.counts.member = u64::from(run % 3 != 0);
            campaign.tally.add(&report);
        }
        let mut report = sample::report(61, Verdict::Passed);
        report.counts.member = 2;
        campaign.tally.add(&report);
        let worth = of(&Summary { plan: &plan, campaign: &campaign });
        assert_eq!((unseen_text(&worth), worth.of_one().is_none()), (None, true));
        let name = |at: usize| member_name(at).expect("a name");
        let (one, all) = (unseen_of_members(&worth, false), unseen_of_members(&worth, true));
        // Of the third, which made one run, nothing is told.
        assert_eq!((worth.schedules.len(), one.len(), all.len()), (3, 1, 2), "{all:?}");
        assert!(one[0].starts_with(&format!("of {}: ", name(1))) && one[0].contains("in 40 runs, about "), "{one:?}");
        assert!(all[0].starts_with(&format!("of {}: ", name(0))) && all[1] == one[0], "{all:?}");
        assert!(unseen_of_members(&self::worth("random", 0, 0), true).is_empty());
    }

    #[test]
    fn bounds_are_rounded_up() {
        assert_eq!([0.62851, 0.0001, 3.14e-7, 0.0].map(probability), ["0.6286", "0.0001", "3.2e-7", "1e-300"]);
        assert_eq!([0.0, 0.5, 0.012345, 0.0005, 1e-9].map(percent), ["0%", "50.0%", "1.23%", "0.050%", "1e-7%"]);
    }
}
