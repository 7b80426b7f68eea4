//! What a campaign is worth: what may have been missed, how many runs more would settle it, and how much of the
//! program's behaviour was seen.

use raddle_core::policies::portfolio;
use raddle_core::policy::{Descriptor, Kind, Learns};
use raddle_core::statistics::pct_bound;
use serde::Serialize;

use super::{count, number, Summary};
use crate::campaign::run_report::Kind as Failed;
use crate::campaign::worth::{Guarantee, Schedules};
use crate::policy_choice::{shown, PolicyChoice};

/// The probability of having missed a bug that is small enough.
const ENOUGH: f64 = 0.05;

/// The largest depth that is told of: few bugs are deeper.
const DEEPEST: u32 = 3;

/// From so many runs on what a policy of a portfolio has not seen is worth a line.
const TELLING: u64 = 20;

/// What a campaign is worth.
#[derive(Clone, Debug, Serialize)]
pub struct Worth {
    /// What PCT guarantees.
    pub bound: Bound,
    /// The schedules of each policy.
    pub schedules: Vec<Seen>,
    /// The orders that were seen of steps of different threads.
    pub event_pairs: EventPairs,
}

/// PCT's guarantee over all runs of the campaign.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bound {
    /// Why there is none; without this, it holds.
    pub missing: Option<String>,
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
    /// Runs that do not, because their k was no upper bound for the steps of a run.
    pub left_out_for_steps: u64,
    /// For each depth up to the policy's, but at most three.
    pub depths: Vec<Depth>,
}

/// What is guaranteed for a depth.
#[derive(Clone, Debug, Serialize)]
pub struct Depth {
    /// The depth.
    pub depth: u32,
    /// A bug of this depth was missed with this probability at most.
    pub missed_at_most: f64,
    /// Runs more of the same kind that make it 5%.
    pub more_runs: Option<u64>,
    /// Runs more of this campaign among which there are so many, as far as one can tell.
    pub more_campaign_runs: Option<u64>,
}

/// The schedules of one policy.
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Default, Serialize)]
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
    /// What a campaign is worth.
    pub fn new(s: &Summary<'_>) -> Worth {
        let worth = &s.campaign.tally.worth;
        let schedules = worth.schedules.iter().enumerate().filter(|(_, seen)| seen.runs > 0);
        let alone = s.plan.policy.descriptor.name != portfolio::DESCRIPTOR.name;
        let pairs = &worth.pairs;
        Worth {
            bound: Bound::new(s),
            schedules: schedules.map(|(i, seen)| Seen::new(seen, &s.plan.policy, (!alone).then_some(i))).collect(),
            event_pairs: EventPairs {
                runs: pairs.runs(),
                too_long: worth.too_long + pairs.too_large(),
                covered: pairs.covered(),
                possible: pairs.possible(),
                new_in_second_half: pairs.late(),
            },
        }
    }

    /// The bound in words, when it says something to who reads a report.
    pub fn bound_text(&self) -> Option<String> {
        let bound = &self.bound;
        let all = bound.runs + bound.left_out_for_guard + bound.left_out_for_steps;
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
                let among = of_all.map(|of_all| format!(", among about {} of this campaign,", number(of_all)));
                let among = among.unwrap_or_default();
                format!("; {} more such runs{among} bring that{which} below 5%", number(runs))
            }
            None => format!("; no number of such runs brings that{which} below 5%"),
        };
        let counted = match bound.runs {
            runs if runs == all => String::new(),
            runs => format!(", from {} of {}", number(runs), count(all, "run")),
        };
        let (threads, steps) = (number(bound.threads), number(bound.steps));
        let guard = if bound.guard > 0.0 { format!(", guard {}", bound.guard) } else { String::new() };
        Some(format!("a bug {each} (n={threads}, k={steps}{guard}{counted}){more}"))
    }

    /// The schedules of the only policy that made runs. Estimates of several policies cannot be added.
    pub fn of_one(&self) -> Option<&Seen> {
        match &self.schedules[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The estimate of what was not seen, in words, for one policy.
    pub fn unseen_text(&self) -> Option<String> {
        self.of_one()?.unseen_text()
    }

    /// The same for the policies of a portfolio, each with its name: for all, or for the one that made most runs. Those
    /// that made hardly any tell nothing.
    pub fn unseen_of_members(&self, all: bool) -> Vec<String> {
        let several = if self.schedules.len() > 1 { &self.schedules[..] } else { &[] };
        let estimated = || several.iter().filter(|seen| seen.unseen.is_some() && seen.runs >= TELLING);
        let most = estimated().map(|seen| seen.runs).max().unwrap_or(0);
        let shown = estimated().filter(|seen| all || seen.runs == most).take(if all { usize::MAX } else { 1 });
        let text = |seen: &Seen| {
            let (distinct, runs) = (number(seen.distinct), count(seen.runs, "run"));
            Some(format!("of {}: {distinct} distinct in {runs}, {}", seen.policy, seen.unseen_text()?))
        };
        shown.filter_map(text).collect()
    }

    /// The orders in words.
    pub fn pairs_text(&self) -> Option<String> {
        let pairs = &self.event_pairs;
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
}

impl Bound {
    fn new(s: &Summary<'_>) -> Bound {
        let (tally, worth) = (&s.campaign.tally, &s.campaign.tally.worth);
        // No run takes more steps, and none has more threads, as far as has been seen: theorem 9 wants the most of
        // all runs of the program, not of the one run.
        let (threads, steps) = (tally.threads_max, tally.steps_max);
        let (depth, guard) = (worth.trials.depth(), s.plan.guard.override_probability);
        // Of a run that was ended nobody knows how many steps it would have taken.
        let endless = match s.campaign.findings.iter().any(|finding| finding.failure.kind == Failed::Timeout) {
            _ if tally.cut_runs > 0 => Some("runs were cut at the step limit, so that nobody knows the most steps"),
            true => Some("runs were ended by the wall clock, so that nobody knows the most steps"),
            false => None,
        };
        let runs = if endless.is_some() { 0 } else { worth.trials.count(steps, 1) };
        let left_out_for_steps = worth.trials.all() - runs;
        let missing = match Guarantee::of(&s.plan.resolved_policy()) {
            _ if runs > 0 => None,
            None => Some("only pct gives one, without options that change the algorithm".to_string()),
            Some(_) if endless.is_some() => endless.map(str::to_string),
            Some(_) if worth.guarded > 0 && left_out_for_steps == 0 => {
                Some("the starvation guard stepped in in every run of pct (--no-guard switches it off)".to_string())
            }
            Some(_) if left_out_for_steps > 0 => {
                Some(format!("k was less than the most steps of a run (the parameter k={steps} of pct sets it)",))
            }
            Some(_) => Some("pct made no run".to_string()),
        };
        let depths = (1..=depth.min(DEEPEST)).filter(|_| runs > 0).map(|depth| {
            let missed = worth.trials.missed(threads, steps, depth, guard);
            let found = worth.last_of_pct().map_or(0.0, |(k, depths)| {
                let k = k.max(steps);
                depths.guarantee(threads, k, depth) * pct_bound::left_alone(k, guard)
            });
            let more_runs = pct_bound::runs_until(missed, ENOUGH, found);
            let counted = worth.trials.count(steps, depth);
            let more_campaign_runs = more_runs.map(|more| of_campaign(more, tally.runs, counted));
            Depth { depth, missed_at_most: missed, more_runs, more_campaign_runs }
        });
        Bound {
            missing,
            threads,
            steps,
            guard,
            runs,
            left_out_for_guard: worth.guarded,
            left_out_for_steps,
            depths: depths.collect(),
        }
    }
}

impl Seen {
    fn unseen_text(&self) -> Option<String> {
        let (unseen, [low, high]) = (self.unseen?, self.unseen_interval?);
        Some(format!("about {} unseen ({} to {})", percent(unseen), percent(low), percent(high)))
    }

    fn new(seen: &Schedules, policy: &PolicyChoice, member: Option<usize>) -> Seen {
        let deciding = member.and_then(|member| portfolio::MEMBERS.get(member)).map(|member| member.policy);
        let unseen = seen.unseen().filter(|_| is_independent(deciding.unwrap_or(policy.descriptor)));
        Seen {
            policy: member.and_then(member_name).unwrap_or_else(|| policy.to_string()),
            runs: seen.runs,
            distinct: seen.distinct(),
            once: seen.once,
            twice: seen.twice,
            unseen: unseen.map(|unseen| unseen.share),
            unseen_interval: unseen.map(|unseen| [unseen.interval.low, unseen.interval.high]),
        }
    }
}

/// Whether a policy draws each run independently. A search does not, and who is told of orders that no run has had
/// forces them: its runs show more that is new than the probability of that.
fn is_independent(policy: &Descriptor) -> bool {
    policy.kind != Kind::Systematic && policy.learns != Learns::Orders
}

/// How many runs of a campaign have so many among them that count, when so many of its runs did.
fn of_campaign(more: u64, runs: u64, counted: u64) -> u64 {
    (u128::from(more) * u128::from(runs)).div_ceil(u128::from(counted.max(1))).try_into().unwrap_or(u64::MAX)
}

/// The name of a policy of the portfolio, with the parameters that are not its defaults.
pub fn member_name(member: usize) -> Option<String> {
    let member = portfolio::MEMBERS.get(member)?;
    let given = |(at, value): &(usize, f64)| {
        let parameter = &member.policy.parameters[*at];
        format!("{}={}", parameter.name, shown(parameter, *value))
    };
    let parameters: Vec<_> = member.parameters.iter().map(given).collect();
    match parameters.is_empty() {
        true => Some(member.policy.name.to_string()),
        false => Some(format!("{}:{}", member.policy.name, parameters.join(","))),
    }
}

/// A share for a person.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0%".to_string(),
        p if p < 0.001 => format!("{p:.0e}%"),
        p if p < 0.1 => format!("{p:.3}%"),
        p if p < 10.0 => format!("{p:.2}%"),
        p => format!("{p:.1}%"),
    }
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
    use crate::campaign::plan::Plan;
    use crate::campaign::run_report::Verdict;
    use crate::campaign::Campaign;
    use crate::report::sample;
    use raddle_core::decorators::guard;
    use raddle_core::policy::Profile;

    /// A campaign of 160 runs of 100 to 115 steps, each told the same, of which some met the guard.
    fn worth(policy: &str, told: u64, guarded: u64) -> Worth {
        changed(policy, told, guarded, |plan, _| plan.guard = guard::Settings::OFF)
    }

    fn changed(policy: &str, told: u64, guarded: u64, change: impl FnOnce(&mut Plan, &mut Campaign)) -> Worth {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(0));
        plan.policy = PolicyChoice::parse(policy).expect("a policy");
        let guarantee = Guarantee::of(&plan.policy);
        for run in 1..=160 {
            let mut report = sample::report(run % 16, Verdict::Passed);
            report.counts.guard_fired = u64::from(run <= guarded);
            report.log = Some(vec![0, 1, (run % 2) as u32]);
            let told = Profile { steps: told, ..Profile::default() };
            campaign.tally.add_told(&report, guarantee.as_ref().map(|guarantee| (guarantee, told)));
        }
        change(&mut plan, &mut campaign);
        Worth::new(&Summary { plan: &plan, campaign: &campaign })
    }

    #[test]
    fn members_are_named_with_what_is_not_their_default() {
        let names: Vec<_> = (0..portfolio::MEMBERS.len()).filter_map(member_name).collect();
        assert!(
            ["pct:d=2", "pct", "stride", "stride:s=6"]
                .iter()
                .all(|name| { names.iter().filter(|other| other == name).count() == 1 }),
            "{names:?}"
        );
        assert_eq!(member_name(portfolio::MEMBERS.len()), None);
    }

    #[test]
    fn a_bound() {
        let worth = worth("pct:d=2", 115, 0);
        let missed = (1.0 - 1.0 / (3.0 * 115.0_f64)).powi(160);
        assert!((worth.bound.depths[1].missed_at_most - missed).abs() < 1e-12);
        assert_eq!(
            worth.bound_text().expect("a bound"),
            "a bug of depth 2 or less was missed with probability at most 0.6285 (n=3, k=115); 873 more such runs bring \
             that below 5%"
        );
        // Together they are what 5% takes.
        assert_eq!(pct_bound::runs_until(1.0, 0.05, pct_bound::guarantee(3, 115, 2)), Some(160 + 873));
    }

    #[test]
    fn bounds_of_depths_that_are_drawn() {
        assert_eq!(
            worth("pct:d=2,draw=uniform", 115, 0).bound_text().expect("a bound"),
            "a bug of depth 1 was missed with probability at most 1.7e-13, of depth 2 at most 0.7930 (n=3, k=115); 1,906 \
             more such runs bring that for depth 2 below 5%"
        );
    }

    #[test]
    fn runs_that_do_not_count() {
        let guarded = worth("pct:d=1", 115, 100);
        assert_eq!((guarded.bound.runs, guarded.bound.left_out_for_guard), (60, 100));
        assert_eq!(
            guarded.bound_text().expect("a bound"),
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
            half.bound_text().expect("a bound"),
            "a bug of depth 2 or less was missed with probability at most 0.8131 (n=3, k=115, guard 0.001, from 80 of 160 \
             runs); 1,079 more such runs, among about 2,158 of this campaign, bring that below 5%"
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
    fn in_a_portfolio_few_runs_count() {
        assert_eq!([of_campaign(10, 160, 40), of_campaign(10, 161, 40), of_campaign(0, 160, 40)], [40, 41, 0]);
        assert_eq!(of_campaign(u64::MAX, 1000, 1), u64::MAX);
    }

    #[test]
    fn the_end_of_a_run_that_was_cut_is_not_known() {
        let cut = changed("pct:d=2", 115, 0, |_, campaign| campaign.tally.cut_runs = 1);
        assert_eq!((cut.bound.runs, cut.bound.depths.len()), (0, 0));
        assert_eq!(
            cut.bound_text().expect("a reason"),
            "no bound holds, because runs were cut at the step limit, so that nobody knows the most steps"
        );
    }

    #[test]
    fn no_bound_and_why() {
        let text = |policy, told, guarded| worth(policy, told, guarded).bound_text();
        assert_eq!(text("random", 115, 0), None);
        assert_eq!(
            text("pct:d=2", 115, 160).expect("a reason"),
            "no bound holds, because the starvation guard stepped in in every run of pct (--no-guard switches it off)"
        );
        assert_eq!(
            text("pct:d=2", 114, 0).expect("a reason"),
            "no bound holds, because k was less than the most steps of a run (the parameter k=115 of pct sets it)"
        );
    }

    #[test]
    fn what_was_seen() {
        let worth = worth("random", 0, 0);
        // The hash of a sample is half of its number.
        assert_eq!((worth.schedules[0].distinct, worth.schedules[0].once), (8, 0));
        assert_eq!(worth.unseen_text().expect("independent"), "about 0% unseen (0% to 2.28%)");
        assert_eq!(
            worth.pairs_text().expect("sampled"),
            "3 of 8 ordered pairs of steps (37.5%) in 160 sampled runs, none of them new in the second half"
        );
    }

    #[test]
    fn who_forces_new_orders_has_no_estimate() {
        assert_eq!(worth("maple", 0, 0).unseen_text(), None);
        assert_eq!(worth("ipb", 0, 0).unseen_text(), None);
        assert!(worth("surw", 0, 0).unseen_text().is_some());
    }

    #[test]
    fn members_of_a_portfolio_have_estimates_of_their_own() {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(0));
        plan.policy = PolicyChoice::parse("portfolio").expect("a policy");
        for run in 1..=60 {
            let mut report = sample::report(run, Verdict::Passed);
            report.counts.member = u64::from(run % 3 != 0);
            campaign.tally.add(&report);
        }
        let mut report = sample::report(61, Verdict::Passed);
        report.counts.member = 2;
        campaign.tally.add(&report);
        let worth = Worth::new(&Summary { plan: &plan, campaign: &campaign });
        assert_eq!((worth.unseen_text(), worth.of_one().is_none()), (None, true));
        let name = |at: usize| member_name(at).expect("a name");
        let (one, all) = (worth.unseen_of_members(false), worth.unseen_of_members(true));
        // Of the third, which made one run, nothing is told.
        assert_eq!((worth.schedules.len(), one.len(), all.len()), (3, 1, 2), "{all:?}");
        assert!(one[0].starts_with(&format!("of {}: ", name(1))) && one[0].contains("in 40 runs, about "), "{one:?}");
        assert!(all[0].starts_with(&format!("of {}: ", name(0))) && all[1] == one[0], "{all:?}");
        assert!(self::worth("random", 0, 0).unseen_of_members(true).is_empty());
    }

    #[test]
    fn bounds_are_rounded_up() {
        assert_eq!([0.62851, 0.0001, 3.14e-7, 0.0].map(probability), ["0.6286", "0.0001", "3.2e-7", "1e-300"]);
        assert_eq!([0.0, 0.5, 0.012345, 0.0005, 1e-9].map(percent), ["0%", "50.0%", "1.23%", "0.050%", "1e-7%"]);
    }
}
