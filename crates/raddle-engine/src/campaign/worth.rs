//! What a campaign is worth: counted run by run, so that a report can say what may have been missed.
//!
//! Schedules and PCT's runs are counted for all runs. Ordered pairs of events need the decisions of a run, which
//! only runs that were sampled bring along ([`Coverage`](crate::plan::coverage::Coverage)).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::statistics::event_pairs::EventPairs;
use crate::statistics::good_turing::{self, Unseen};
use crate::statistics::pct_bound::{Depths, Trials};
use crate::statistics::CONFIDENCE;
use raddle_core::policies::{depth, pct, portfolio};
use raddle_core::policy::Profile;

use crate::plan::policy_choice::PolicyChoice;
use crate::run::report::RunReport;

/// What PCT guarantees, when it decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    values: Vec<f64>,
    /// The member of a portfolio that it is; 0 when it is alone.
    member: u64,
}

impl Guarantee {
    /// What a policy guarantees; `None`: nothing.
    pub fn of(policy: &PolicyChoice) -> Option<Guarantee> {
        let name = policy.descriptor.name;
        if name == portfolio::DESCRIPTOR.name {
            let pct = portfolio::MEMBERS.iter().position(|member| member.policy.name == pct::DESCRIPTOR.name)?;
            return Guarantee::new(&portfolio::MEMBERS[pct].values(), pct as u64);
        }
        Guarantee::new(&policy.values, 0).filter(|_| name == pct::DESCRIPTOR.name)
    }

    fn new(values: &[f64], member: u64) -> Option<Guarantee> {
        let guarantee = Guarantee { values: values.to_vec(), member };
        // With these the theorem is another one, or none.
        let changed = ["sequential", "phases", "final-wait", "order"].iter().any(|name| guarantee.value(name) != 0.0);
        (!changed).then_some(guarantee)
    }

    fn value(&self, name: &str) -> f64 {
        let at = pct::DESCRIPTOR.parameters.iter().position(|parameter| parameter.name == name);
        at.and_then(|at| self.values.get(at)).copied().unwrap_or(0.0)
    }

    /// The k and the depths of a run that was told this.
    pub fn of_run(&self, told: Profile) -> (u64, Depths) {
        let k = match (self.value("k") as u64, told.steps) {
            (0, 0) => pct::FIRST_K,
            (0, steps) => steps,
            (k, _) => k,
        };
        let depth = match self.value("d") as usize {
            0 => depth::largest(told.threads.max(2), k, k, self.value("tries")),
            depth => depth,
        };
        let depth = depth.clamp(1, pct::MAX_DEPTH) as u32;
        let depths = match self.value("draw") as u32 {
            0 => Depths::Fixed(depth),
            1 => Depths::Uniform(depth),
            _ => Depths::Geometric(depth),
        };
        (k, depths)
    }
}

/// The schedules of one policy's runs.
#[derive(Clone, Debug, Default)]
pub struct Schedules {
    pub runs: u64,
    /// Schedules that one run had.
    pub once: u64,
    /// Schedules that two runs had.
    pub twice: u64,
    /// Their hashes. Most are seen once: how often the others were is kept apart, so that more of them fit in a cache.
    seen: HashSet<u64, BuildHasherDefault<Spread>>,
    /// Those that two runs had, and whether more had them.
    again: HashMap<u64, bool, BuildHasherDefault<Spread>>,
}

impl Schedules {
    fn add(&mut self, hash: u64) {
        self.runs += 1;
        if self.seen.insert(hash) {
            self.once += 1;
            return;
        }
        match self.again.entry(hash) {
            Entry::Vacant(second) => {
                (self.once, self.twice) = (self.once - 1, self.twice + 1);
                second.insert(false);
            }
            Entry::Occupied(mut more) if !more.get() => {
                self.twice -= 1;
                more.insert(true);
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Different ones.
    pub fn distinct(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The estimated share of the probability that lies on schedules that no run had. It holds for runs that are
    /// drawn independently.
    pub fn unseen(&self) -> Option<Unseen> {
        good_turing::unseen(self.runs, self.once, self.twice, CONFIDENCE)
    }
}

/// A hasher for what is a hash already: hundreds of thousands of schedules come in a second.
#[derive(Clone, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        // The upper bits choose among neighbours in the table, the lower ones the place.
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

/// What the runs of a campaign show beyond their verdicts.
#[derive(Clone, Debug, Default)]
pub struct Worth {
    /// The schedules, by the policy of a portfolio that decided; one entry for a policy alone.
    pub schedules: Vec<Schedules>,
    /// The schedules of several policies.
    seen: HashSet<u64, BuildHasherDefault<Spread>>,
    /// Runs of PCT in which the guard did not step in.
    pub trials: Trials,
    /// What the last of its runs was told, and what followed from it.
    last: Option<(Profile, (u64, Depths))>,
    /// Those in which it did.
    pub guarded: u64,
    /// Those in which it did not, but threads were late.
    pub late: u64,
    /// Ordered pairs of events, from the runs that were sampled.
    pub pairs: EventPairs,
    /// Runs that were sampled but too long.
    pub too_long: u64,
}

impl Worth {
    /// Counts a run of a policy with this guarantee, that was told this of earlier runs.
    pub fn add(&mut self, report: &RunReport, guarantee: Option<(&Guarantee, Profile)>) {
        let (counts, member) = (&report.counts, report.counts.member as usize);
        if self.schedules.len() <= member {
            if let [alone] = &self.schedules[..] {
                self.seen = alone.seen.clone();
            }
            self.schedules.resize_with(member + 1, Schedules::default);
        }
        // One policy alone knows its own number; looking it up twice would be seen in the speed of checks.
        if self.schedules.len() > 1 {
            self.seen.insert(counts.hash);
        }
        self.schedules[member].add(counts.hash);
        if let Some((guarantee, told)) = guarantee.filter(|(guarantee, _)| guarantee.member == counts.member) {
            let (k, depths) = match self.last {
                Some((profile, found)) if profile == told => found,
                _ => guarantee.of_run(told),
            };
            self.last = Some((told, (k, depths)));
            if counts.guard_fired > 0 {
                self.guarded += 1;
            } else if counts.delays > 0 {
                self.late += 1;
            } else {
                self.trials.add(k, depths);
            }
        }
        match &report.log {
            Some(log) => self.pairs.add(log.iter().map(|&thread| thread as usize)),
            None => self.too_long += u64::from(report.log_too_long),
        }
    }

    /// The k and the depths of the last run of PCT.
    pub fn last_of_pct(&self) -> Option<(u64, Depths)> {
        self.last.map(|(_, found)| found)
    }

    /// Different schedules of all policies.
    pub fn distinct_schedules(&self) -> u64 {
        match &self.schedules[..] {
            [one] => one.distinct(),
            _ => self.seen.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::run::report::Verdict;

    fn guarantee(text: &str) -> Option<Guarantee> {
        Guarantee::of(&PolicyChoice::parse(text).expect("a policy").resolved(10_000))
    }

    fn told(steps: u64) -> Profile {
        Profile { steps, threads: 3, ..Profile::default() }
    }

    #[test]
    fn only_pct_as_the_theorem_has_it_guarantees_anything() {
        for text in
            ["random", "rpro", "pct:phases=on", "pct:sequential=on", "pct:final-wait=on", "pct:d=1,order=newest"]
        {
            assert_eq!(guarantee(text), None, "{text}");
        }
        let of = |text, steps| guarantee(text).expect("pct").of_run(told(steps));
        assert_eq!(of("pct:d=2,k=40", 7), (40, Depths::Fixed(2)));
        assert_eq!((of("pct:d=2", 0).0, of("pct:d=2", 7).0), (pct::FIRST_K, 7));
        assert_eq!(of("pct:d=4,draw=uniform", 7), (7, Depths::Uniform(4)));
        assert_eq!(of("pct:d=4,draw=geometric", 7), (7, Depths::Geometric(4)));
        // n·k = 300, n·k² = 30,000, and 95% in 10,000 runs takes one in 3,338.
        assert_eq!(of("pct:d=0", 100), (100, Depths::Fixed(2)));
    }

    #[test]
    fn a_portfolio_guarantees_by_the_runs_of_its_pct() {
        let guarantee = guarantee("portfolio").expect("has pct");
        let mut worth = Worth::default();
        for member in 0..portfolio::MEMBERS.len() as u64 {
            worth.add(&run(member + 1, member, member, &[]), Some((&guarantee, told(7))));
        }
        assert_eq!((worth.trials.all(), worth.trials.count(7, 1)), (1, 1));
    }

    fn run(run: u64, hash: u64, member: u64, log: &[usize]) -> RunReport {
        let mut report = sample::report(run, Verdict::Passed);
        (report.counts.hash, report.counts.member) = (hash, member);
        report.log = Some(log.iter().map(|&t| t as u32).collect());
        report
    }

    #[test]
    fn schedules_are_counted_by_policy_and_in_all() {
        let mut worth = Worth::default();
        for (i, (hash, member)) in [(1, 0), (1, 0), (2, 0), (2, 1), (3, 1), (1, 0), (1, 0)].into_iter().enumerate() {
            worth.add(&run(i as u64 + 1, hash, member, &[0, 1]), None);
        }
        assert_eq!(worth.distinct_schedules(), 3);
        let counts: Vec<_> = worth.schedules.iter().map(|s| (s.runs, s.distinct(), s.once, s.twice)).collect();
        assert_eq!(counts, [(5, 2, 1, 0), (2, 2, 2, 0)]);
        assert_eq!(worth.schedules[1].unseen().expect("runs").share, 1.0);
        assert_eq!((worth.pairs.covered(), worth.pairs.possible()), (1, 2));
    }

    #[test]
    fn runs_with_the_guard_or_with_delays_are_no_trials() {
        let guarantee = guarantee("pct:d=2").expect("pct");
        let mut worth = Worth::default();
        let mut guarded = run(1, 1, 0, &[]);
        guarded.counts.guard_fired = 2;
        worth.add(&guarded, Some((&guarantee, told(20))));
        worth.add(&run(2, 1, 0, &[]), Some((&guarantee, told(20))));
        assert_eq!((worth.guarded, worth.trials.all(), worth.trials.count(20, 2)), (1, 1, 1));
        let mut late = run(3, 1, 0, &[]);
        late.counts.delays = 1;
        worth.add(&late, Some((&guarantee, told(20))));
        assert_eq!((worth.guarded, worth.late, worth.trials.all()), (1, 1, 1));
    }
}
