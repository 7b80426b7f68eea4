//! The queue of a campaign's runs: which job makes which run, and in which order results count.
//!
//! The same seed must give the same results whatever the number of jobs is. So a run may depend only
//! on the seed, its number and completed [rounds](crate::plan::rounds); and results count in the order of run numbers,
//! however they arrive. A campaign that stops at its first failure stops at the failing run with the lowest number: all
//! runs before it are made, and no run after it counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use raddle_core::policy::{Learns, Profile};
use raddle_protocol::settings::STACKS;
use raddle_protocol::Stacks;

use super::learner::Learner;
use super::portfolio::Shares;
use crate::plan::place::Place;
use crate::plan::rounds::{round_end, FIRST_ROUND, LOOKS, THOUSAND};
use crate::plan::Recording;
use crate::run::observed::Knowledge;
use crate::run::report::RunReport;
use crate::run::Assignment;

/// The most identities of one kind that are made ready before a run.
const READY: u32 = 16;

/// Keeps the largest numbers seen.
fn remember(all: &mut [Stacks; STACKS], seen: &[Stacks; STACKS]) {
    for stacks in seen.iter().filter(|s| s.count > 0) {
        if let Some(entry) = all.iter_mut().find(|s| s.count == 0 || s.one() == stacks.one()) {
            *entry = Stacks { count: entry.count.max(stacks.count).min(READY), ..*stacks };
        }
    }
}

/// The state of a campaign's runs.
#[derive(Debug)]
pub struct Queue {
    runs: u64,
    jobs: u64,
    learns: Learns,
    keep_going: bool,
    /// The next run that no job has been given.
    next: u64,
    /// The next run that is to count.
    counting: u64,
    /// Runs that are over but whose turn has not come.
    waiting: BTreeMap<u64, RunReport>,
    /// What runs are told of the size of earlier ones.
    profile: Profile,
    /// The maximum over the round that is counting.
    round: Profile,
    learner: Learner,
    portfolio: Option<Shares>,
    /// What the policy knows of earlier runs, and which version of that it is; 0 is nothing.
    knowledge: Option<Arc<Knowledge>>,
    version: u64,
    /// The threads that the runs of the first round made, at most.
    stacks: [Stacks; STACKS],
    /// Whether runs are told which places race.
    learns_places: bool,
    /// The places that race, as runs are told.
    places: BTreeSet<Place>,
    /// Those that the round that is counting has found.
    found: BTreeSet<Place>,
    /// The failing run with the lowest number.
    failing: Option<u64>,
    fixed_profile: bool,
    fixed_stacks: bool,
    /// What the run that was counted last had been told.
    last_profile: Profile,
}

impl Queue {
    /// A campaign of a number of runs on a number of jobs; `learns` is the policy's.
    pub fn new(runs: u64, jobs: usize, learns: Learns, keep_going: bool) -> Queue {
        Queue {
            runs,
            jobs: jobs as u64,
            learns,
            keep_going,
            next: 1,
            counting: 1,
            waiting: BTreeMap::new(),
            profile: Profile::default(),
            round: Profile::default(),
            learner: Learner::default(),
            portfolio: None,
            knowledge: None,
            version: 0,
            stacks: Default::default(),
            learns_places: false,
            places: BTreeSet::new(),
            found: BTreeSet::new(),
            failing: None,
            fixed_profile: false,
            fixed_stacks: false,
            last_profile: Profile::default(),
        }
    }

    /// Shifts the budget of a portfolio.
    pub fn with_portfolio(mut self) -> Queue {
        self.portfolio = Some(Shares::default());
        self
    }

    /// Tells runs which places were seen to race in completed rounds.
    pub fn with_places(mut self) -> Queue {
        self.learns_places = true;
        self
    }

    /// Tells all runs the same, as the recording says.
    pub fn following(mut self, recording: &Recording) -> Queue {
        self.profile = recording.profile;
        self.stacks = recording.stacks;
        self.places = recording.places.iter().cloned().collect();
        (self.fixed_profile, self.fixed_stacks) = (true, true);
        (self.learns, self.learns_places) = (Learns::Nothing, false);
        self
    }

    /// Whether runs of a round need what the round before has shown.
    fn in_rounds(&self) -> bool {
        self.learns > Learns::Nothing || self.learns_places || self.counting <= FIRST_ROUND
    }

    /// The last run that is told the same as this one.
    fn knows_the_same(&self, run: u64) -> u64 {
        let look = LOOKS.into_iter().find(|&look| run <= look && self.learns > Learns::Nothing);
        look.unwrap_or_else(|| round_end(run))
    }

    /// The last run that is worth making.
    fn last(&self) -> u64 {
        match self.failing {
            Some(run) if !self.keep_going => run.min(self.runs),
            _ => self.runs,
        }
    }

    /// The next runs for a job that has nothing to do, at most this many; `None` when there are none now.
    pub fn assign(&mut self, at_most: u64) -> Option<Assignment> {
        let mut last = self.last();
        if self.in_rounds() {
            // Runs of a round need the former round's results; all need the first one's.
            last = last.min(self.knows_the_same(self.counting));
        }
        if self.next > last {
            return None;
        }
        let left = last - self.next + 1;
        // Several jobs share what is left of a round so that they finish at about the same time.
        let share = match self.jobs {
            1 => at_most,
            jobs if self.in_rounds() || last < self.runs => left.div_ceil(2 * jobs),
            _ => at_most,
        };
        let first = self.next;
        let last = first + share.min(at_most).clamp(1, left) - 1;
        self.next = last + 1;
        // Identities that are made ready take their part of the heap first: what lies behind it would not be what the
        // first runs have shown, and OS threads would have another heap.
        let ready = self.counting > FIRST_ROUND && self.learns < Learns::Objects;
        let learned = ready || self.fixed_stacks;
        let stacks = if learned { self.stacks } else { Default::default() };
        let places = self.places.iter().cloned().collect();
        let (traced, knowledge, version) = (self.traced(first), self.knowledge.clone(), self.version);
        Some(Assignment { first, last, profile: self.profile, stacks, places, traced, knowledge, version })
    }

    /// What is to be learned from a run, beyond its size. It is the same for all runs of a round.
    fn traced(&self, run: u64) -> Learns {
        match self.learns {
            Learns::Nothing | Learns::Steps => Learns::Nothing,
            // What is untested changes with every run.
            Learns::Pairs if run <= THOUSAND => Learns::Pairs,
            learns if run <= FIRST_ROUND => learns,
            _ => Learns::Nothing,
        }
    }

    /// No schedule is left, and what was ordered beyond is not made. Tells the runs that follow of places that were
    /// found since the last round; says whether there are any.
    pub fn tell_places(&mut self) -> bool {
        self.next = self.counting;
        let known = self.places.len();
        self.places.append(&mut self.found);
        self.places.len() > known
    }

    /// A run is over.
    pub fn accept(&mut self, report: RunReport) {
        if report.failure().is_some() {
            self.failing = Some(self.failing.map_or(report.run, |run| run.min(report.run)));
        }
        self.waiting.insert(report.run, report);
    }

    /// The next run that is to count.
    pub fn counting(&self) -> u64 {
        self.counting
    }

    /// The next run that counts, if it is over.
    pub fn count(&mut self) -> Option<RunReport> {
        if self.finished() {
            return None;
        }
        let report = self.waiting.remove(&self.counting)?;
        self.book(&report);
        Some(report)
    }

    /// Counts the next run, which is this one.
    pub fn book(&mut self, report: &RunReport) {
        self.last_profile = self.profile;
        self.round.steps = self.round.steps.max(report.counts.steps);
        self.round.threads = self.round.threads.max(report.counts.threads);
        self.round.points = self.round.points.max(report.counts.points);
        self.round.phase = self.round.phase.max(report.counts.phase);
        self.round.delay_points = self.round.delay_points.max(report.counts.delay_points);
        if self.counting == 1 {
            self.round.first = report.counts.steps;
        }
        if self.counting <= FIRST_ROUND && !self.fixed_stacks {
            remember(&mut self.stacks, &report.stacks);
        }
        if let Some(observed) = &report.observed {
            self.learner.add(observed);
        }
        if let Some(portfolio) = &mut self.portfolio {
            portfolio.add(report.counts.member, report.counts.hash);
        }
        if self.learns_places {
            self.found.extend(report.racing.iter().cloned());
        }
        if self.counting == round_end(self.counting) {
            self.end_round();
        } else if LOOKS.contains(&self.counting) {
            self.look();
        }
        self.counting += 1;
    }

    /// Some runs of the first round are over.
    fn look(&mut self) {
        self.learn_sizes(self.round);
        if self.learns == Learns::Lengths {
            self.teach(self.learner.knowledge_at_first());
        }
    }

    /// A round is complete.
    fn end_round(&mut self) {
        let next = Profile { first: self.round.first, ..Profile::default() };
        let round = std::mem::replace(&mut self.round, next);
        self.learn_sizes(round);
        if self.counting == FIRST_ROUND && !self.fixed_profile {
            self.profile.delay_points = round.delay_points;
        }
        self.places.append(&mut self.found);
        if let Some(portfolio) = &mut self.portfolio {
            self.learner.share(portfolio.shift());
        }
        self.teach(self.learner.knowledge());
    }

    fn learn_sizes(&mut self, sizes: Profile) {
        if self.learns > Learns::Nothing && !self.fixed_profile {
            self.profile = Profile { delay_points: self.profile.delay_points, ..sizes };
        }
    }

    /// Tells the runs that follow what is known now.
    fn teach(&mut self, knowledge: Knowledge) {
        if self.learns > Learns::Steps && self.knowledge.as_deref() != Some(&knowledge) {
            self.knowledge = Some(Arc::new(knowledge));
            self.version += 1;
        }
    }

    /// What the run that was counted last had been told of earlier runs.
    pub fn last_profile(&self) -> Profile {
        self.last_profile
    }

    /// Whether all runs that count have been counted.
    pub fn finished(&self) -> bool {
        self.counting > self.last()
    }

    /// The runs that were over when the campaign was interrupted, in their order.
    pub fn rest(self) -> impl Iterator<Item = RunReport> {
        let last = self.last();
        self.waiting.into_values().take_while(move |report| report.run <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::run::report::{Counts, Failure, Verdict};
    use raddle_core::rng::{splitmix64, Rng};
    use raddle_report::FailureKind;

    /// A run whose size depends on its number and on what it is told.
    fn made(run: u64, profile: Profile, fails: bool) -> RunReport {
        let mut state = run ^ profile.steps << 32;
        let failure = Failure { profile, ..sample::failure(FailureKind::Exit) };
        let verdict = if fails { Verdict::Failed(Box::new(failure)) } else { Verdict::Passed };
        let counts = Counts { steps: splitmix64(&mut state) % 100, threads: 2, ..Counts::default() };
        RunReport { verdict, counts, ..RunReport::new(run) }
    }

    /// Jobs that take random time; returns the counted runs.
    fn campaign(mut queue: Queue, jobs: usize, failing: &[u64], seed: u64) -> Vec<RunReport> {
        let mut rng = Rng::new(seed);
        let mut busy: Vec<Vec<RunReport>> = vec![Vec::new(); jobs];
        let mut counted = Vec::new();
        while !queue.finished() {
            let job = rng.below(jobs as u64) as usize;
            if busy[job].is_empty() {
                if let Some(assignment) = queue.assign(1 + rng.below(16)) {
                    let runs = assignment.first..=assignment.last;
                    busy[job] = runs.map(|run| made(run, assignment.profile, failing.contains(&run))).collect();
                }
            } else {
                queue.accept(busy[job].remove(0));
            }
            counted.extend(std::iter::from_fn(|| queue.count()));
        }
        counted
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_jobs() {
        for failing in [&[][..], &[150], &[150, 140, 333]] {
            for keep_going in [false, true] {
                let new = |jobs| Queue::new(400, jobs, Learns::Steps, keep_going);
                let alone = campaign(new(1), 1, failing, 0);
                for seed in 0..20 {
                    let jobs = 1 + seed as usize % 7;
                    assert_eq!(campaign(new(jobs), jobs, failing, seed), alone);
                }
            }
        }
    }

    #[test]
    fn stops_at_the_lowest_failing_run() {
        let counted = campaign(Queue::new(400, 4, Learns::Nothing, false), 4, &[90, 200, 95], 3);
        assert_eq!(counted.len(), 90);
        assert!(counted[89].failure().is_some());
    }

    #[test]
    fn what_is_learned_is_the_last_blocks_maximum() {
        let counted = campaign(Queue::new(139, 3, Learns::Steps, false), 3, &[], 1);
        let most = |runs: std::ops::RangeInclusive<u64>| {
            counted.iter().filter(|r| runs.contains(&r.run)).map(|r| r.counts.steps).max().unwrap_or(0)
        };
        let told = |steps, run| made(run, Profile { steps, threads: 2, ..Profile::default() }, false);
        assert_eq!(counted[0], made(1, Profile::default(), false));
        assert_eq!(counted[1], told(most(1..=1), 2));
        assert_eq!(counted[3], told(most(1..=1), 4));
        assert_eq!(counted[4], told(most(1..=4), 5));
        assert_eq!(counted[10], told(most(1..=10), 11));
        assert_eq!(counted[138], told(most(75..=138), 139));
    }

    #[test]
    fn a_policy_that_does_not_learn_is_told_nothing() {
        let mut queue = Queue::new(400, 2, Learns::Nothing, false);
        for assignment in std::iter::from_fn(|| queue.assign(16)).take(20) {
            assert_eq!(assignment.profile, Profile::default());
        }
    }
}
