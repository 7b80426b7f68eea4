//! What a campaign is worth: what may have been missed, how many runs more would settle it, and how much of the
//! program's behaviour was seen.

use raddle_core::policies::portfolio;
use raddle_core::policy::{Descriptor, Kind, Learns};
use raddle_report::worth::{Bound, Depth, EventPairs, Seen, Worth};
use raddle_report::FailureKind;

use super::{scope, Summary};
use crate::campaign::worth::{Guarantee, Schedules};
use crate::plan::policy_choice::{shown, PolicyChoice};
use crate::statistics::pct_bound;

/// The probability of having missed a bug that is small enough.
const ENOUGH: f64 = 0.05;

/// The largest depth that is told of: few bugs are deeper.
const DEEPEST: u32 = 3;

/// How much a campaign's result is worth.
pub fn of(s: &Summary<'_>) -> Worth {
    let worth = &s.campaign.tally.worth;
    let schedules = worth.schedules.iter().enumerate().filter(|(_, seen)| seen.runs > 0);
    let alone = s.plan.policy.descriptor.name != portfolio::DESCRIPTOR.name;
    let pairs = &worth.pairs;
    Worth {
        bound: bound(s),
        schedules: schedules.map(|(i, seen)| seen_of(seen, &s.plan.policy, (!alone).then_some(i))).collect(),
        event_pairs: EventPairs {
            runs: pairs.runs(),
            too_long: worth.too_long + pairs.too_large(),
            covered: pairs.covered(),
            possible: pairs.possible(),
            new_in_second_half: pairs.late(),
        },
    }
}

/// PCT's guarantee over all runs.
fn bound(s: &Summary<'_>) -> Bound {
    let (tally, worth) = (&s.campaign.tally, &s.campaign.tally.worth);
    // No run takes more steps, and none has more threads, as far as has been seen: theorem 9 wants the most of
    // all runs of the program, not of the one run.
    let (threads, steps) = (tally.threads_max, tally.steps_max);
    let (depth, guard) = (worth.trials.depth(), s.plan.settings.guard.override_probability);
    // Of a run that was ended nobody knows how many steps it would have taken.
    let endless = match s.campaign.findings.iter().any(|finding| finding.failure.kind == FailureKind::Timeout) {
        _ if tally.cut_runs > 0 => Some("runs were cut at the step limit, so the maximum number of steps is unknown"),
        _ if tally.fair_runs > 0 => Some(
            "a fair schedule took over from the policy in runs that seemed to make no progress, so the maximum number \
             of steps is unknown",
        ),
        true => Some("runs were ended by the wall clock, so the maximum number of steps is unknown"),
        false => None,
    };
    let runs = if endless.is_some() { 0 } else { worth.trials.count(steps, 1) };
    let left_out_for_steps = worth.trials.all() - runs;
    let missing = match Guarantee::of(&s.plan.resolved_policy()) {
        _ if runs > 0 => None,
        None => Some("only pct gives one, and only without options that change its algorithm".to_string()),
        Some(_) if endless.is_some() => endless.map(str::to_string),
        Some(_) if worth.late > 0 && left_out_for_steps == 0 => {
            Some("threads were late or the starvation guard stepped in in every run of pct".to_string())
        }
        Some(_) if worth.guarded > 0 && left_out_for_steps == 0 => {
            Some("the starvation guard stepped in during every run of pct (--no-guard turns it off)".to_string())
        }
        Some(_) if left_out_for_steps > 0 => {
            Some(format!("k was smaller than the number of steps in the longest run (set it with pct:k={steps})",))
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
        scope: (runs > 0).then(|| scope::of(s)),
        threads,
        steps,
        guard,
        runs,
        left_out_for_guard: worth.guarded,
        left_out_for_delays: Some(worth.late),
        left_out_for_steps,
        depths: depths.collect(),
    }
}

/// The schedules of one policy.
fn seen_of(seen: &Schedules, policy: &PolicyChoice, member: Option<usize>) -> Seen {
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

/// Whether a policy draws each run independently. A search does not, and who is told of orders that no run has had
/// forces them: its runs show more that is new than the probability of that.
fn is_independent(policy: &Descriptor) -> bool {
    policy.kind != Kind::Systematic && policy.learns != Learns::Pairs
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn in_a_portfolio_few_runs_count() {
        assert_eq!([of_campaign(10, 160, 40), of_campaign(10, 161, 40), of_campaign(0, 160, 40)], [40, 41, 0]);
        assert_eq!(of_campaign(u64::MAX, 1000, 1), u64::MAX);
    }
}
