//! One program under one policy.
//!
//! The first repetition makes all runs, whether they fail or not: its failing share is that of a number of runs
//! fixed beforehand, so that the interval is right. The other repetitions, with the seeds that follow, stop at their
//! first failure: they tell how many runs, and how much time, that takes, and the share does not count them, because
//! stopping at a failure would make it too large.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use raddle_core::policy::Kind;
use raddle_engine::campaign::{Campaign, End, Event, Outcome, RunVerdict};
use raddle_engine::plan::Plan;
use raddle_engine::report::{worth, Summary};
use raddle_engine::statistics::event_pairs::EventPairs;
use raddle_engine::statistics::proportion;
use raddle_engine::statistics::survival::{Observation, Survival};
use raddle_engine::statistics::CONFIDENCE;
use raddle_report::worth::Worth;
use serde::Serialize;

use super::raw::{Of, Raw};
use crate::display;

/// What one program did under one policy.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The policy with all its parameters.
    pub policy: String,
    /// Why nothing could be measured.
    pub error: Option<String>,
    /// Whether any repetition found a failure.
    pub found: bool,
    /// Runs of the first repetition.
    pub runs: u64,
    /// The time was over before all runs were made.
    pub cut_short: bool,
    /// The first repetition stopped at its first failure, too: how often the program fails was not measured.
    pub first_only: bool,
    /// Those of them that failed.
    pub failing_runs: u64,
    /// Their share; `None`: it was not measured.
    pub share: Option<f64>,
    /// Wilson's 95% interval of the share.
    pub share_interval: Option<[f64; 2]>,
    /// Failing runs of all repetitions by kind.
    pub kinds: BTreeMap<String, u64>,
    pub repetitions: Vec<Repetition>,
    /// Runs to the first failure: the quartiles over the repetitions.
    pub first_failure: Quartiles,
    /// Seconds to the first failure.
    pub seconds_to_first_failure: Quartiles,
    /// Runs per second of the first repetition.
    pub runs_per_second: f64,
    /// Threads at most.
    pub threads_max: u64,
    /// Steps at most.
    pub steps_max: u64,
    /// Steps of the average run.
    pub steps_mean: f64,
    /// Runs that were cut at the step limit.
    pub cut_runs: u64,
    /// How often the starvation guard stepped in.
    pub guard_fired: u64,
    /// Different schedules of the first repetition.
    pub distinct_schedules: u64,
    /// What the first repetition is worth.
    pub worth: Option<Worth>,
    /// What escaped control.
    pub uncontrolled: Vec<String>,
    /// The orders of steps that the sampled runs have shown.
    #[serde(skip)]
    pub pairs: EventPairs,
}

/// One campaign.
#[derive(Clone, Debug, Serialize)]
pub struct Repetition {
    pub seed: u64,
    /// Runs that were made.
    pub runs: u64,
    /// Those that failed.
    pub failing_runs: u64,
    /// The first that failed.
    pub first_failing_run: Option<u64>,
    /// How long it took until then.
    pub seconds_to_first_failure: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

/// The quartiles of a survival curve; `None` where fewer repetitions found something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quartiles {
    /// A quarter of the repetitions has found something by then.
    pub lower: Option<f64>,
    /// Half of them.
    pub median: Option<f64>,
    /// Three quarters.
    pub upper: Option<f64>,
}

impl Quartiles {
    fn new(curve: &Survival) -> Quartiles {
        Quartiles { lower: curve.quantile(0.25), median: curve.median(), upper: curve.quantile(0.75) }
    }
}

/// What is to be measured, and how.
pub struct Measure<'a> {
    /// Repetitions.
    pub repeat: u64,
    /// The first repetition stops at its first failure as well: there is no share.
    pub first_only: bool,
    /// When the comparison must be over.
    pub deadline: Option<Instant>,
    /// Where the data of each run go.
    pub raw: Option<&'a mut Raw>,
    /// Whether there is a live line.
    pub progress: bool,
}

impl Cell {
    /// A cell of which nothing is known but why.
    pub fn failed(policy: String, error: String) -> Cell {
        Cell { error: Some(error), ..Cell::empty(policy) }
    }

    fn empty(policy: String) -> Cell {
        Cell {
            policy,
            error: None,
            found: false,
            runs: 0,
            cut_short: false,
            first_only: false,
            failing_runs: 0,
            share: None,
            share_interval: None,
            kinds: BTreeMap::new(),
            repetitions: Vec::new(),
            first_failure: Quartiles::default(),
            seconds_to_first_failure: Quartiles::default(),
            runs_per_second: 0.0,
            threads_max: 0,
            steps_max: 0,
            steps_mean: 0.0,
            cut_runs: 0,
            guard_fired: 0,
            distinct_schedules: 0,
            worth: None,
            uncontrolled: Vec::new(),
            pairs: EventPairs::default(),
        }
    }

    /// Whether something was measured.
    pub fn measured(&self) -> bool {
        self.error.is_none() && self.runs > 0
    }

    /// Failing runs for each run. Where the first failure was the last run it is too large for a share, but the larger
    /// it is, the sooner the failure came.
    pub fn rate(&self) -> f64 {
        self.failing_runs as f64 / self.runs.max(1) as f64
    }

    /// The time was over before anything was found: whether the policy finds the bug is not known.
    pub fn undecided(&self) -> bool {
        self.cut_short && !self.found
    }

    /// The survival curve in runs.
    pub fn survival_in_runs(&self) -> Survival {
        let observations = self.repetitions.iter().map(|repetition| Observation {
            at: repetition.first_failing_run.unwrap_or(repetition.runs) as f64,
            failed: repetition.first_failing_run.is_some(),
        });
        Survival::new(&observations.collect::<Vec<_>>())
    }

    /// The survival curve in seconds.
    pub fn survival_in_seconds(&self) -> Survival {
        let observations = self.repetitions.iter().map(|repetition| Observation {
            at: repetition.seconds_to_first_failure.unwrap_or(repetition.seconds),
            failed: repetition.seconds_to_first_failure.is_some(),
        });
        Survival::new(&observations.collect::<Vec<_>>())
    }

    /// Measures a program under the plan's policy. Returns how it ended, too: an interrupted one is the last.
    pub fn measure(plan: &Plan, program: &str, measure: &mut Measure<'_>) -> (Cell, End) {
        let mut cell = Cell { first_only: measure.first_only, ..Cell::empty(plan.policy.to_string()) };
        let mut end = End::Complete;
        // A search finds the same whatever its seed is.
        let repeat = if plan.policy.descriptor.kind == Kind::Systematic { 1 } else { measure.repeat };
        for repetition in 1..=repeat {
            let mut plan = plan.clone();
            plan.settings.seed = plan.settings.seed.wrapping_add(repetition - 1);
            plan.keep_going = repetition == 1 && !measure.first_only;
            plan.inspect = false;
            plan.record = false;
            if let Some(deadline) = measure.deadline {
                // A campaign without time would be none.
                let left = deadline.saturating_duration_since(Instant::now());
                plan.time = Some(left.max(Duration::from_millis(1)));
            }
            match cell.repeat(&plan, program, repetition, measure) {
                Ok(how) => end = how,
                Err(reason) => {
                    if repetition == 1 {
                        cell.error = Some(reason);
                    }
                    break;
                }
            }
            if end != End::Complete {
                break;
            }
        }
        let runs = cell.survival_in_runs();
        (cell.first_failure, cell.found) = (Quartiles::new(&runs), !runs.steps.is_empty());
        cell.seconds_to_first_failure = Quartiles::new(&cell.survival_in_seconds());
        (cell, end)
    }

    fn repeat(
        &mut self,
        plan: &Plan,
        program: &str,
        repetition: u64,
        measure: &mut Measure<'_>,
    ) -> Result<End, String> {
        let mut first = None;
        let mut unwritten = None;
        let kinds = &mut self.kinds;
        let raw = &mut measure.raw;
        let count = |event: &Event| {
            let Event::Run(run) = event else { return };
            if let RunVerdict::Failed(kind) = run.verdict {
                *kinds.entry(kind.name().to_string()).or_default() += 1;
                first.get_or_insert(run.elapsed);
            }
            if let Some(raw) = raw.as_deref_mut() {
                let of = Of { program, policy: &plan.policy, repetition, seed: plan.run_seed(run.run) };
                unwritten = unwritten.take().or(raw.write(&of, run).err());
            }
        };
        let campaign = Campaign::start(plan.clone()).map_err(|error| error.to_string())?;
        let campaign = display::follow_with(campaign, measure.progress, count);
        if let Some(error) = unwritten {
            return Err(format!("the raw data cannot be written: {error}"));
        }
        if let (End::Broken(error), 0) = (&campaign.end, campaign.tally.runs) {
            return Err(error.to_string());
        }
        let tally = &campaign.tally;
        let first_without_failure = repetition == 1 && tally.failing_runs == 0;
        // Without a run there is no telling.
        if let Some(nothing) = tally.nothing_controlled().filter(|_| first_without_failure && tally.runs > 0) {
            return Err(format!("nothing was under control: {}", nothing.text()));
        }
        // Systematic searches, and the time, may leave fewer runs than were asked for.
        self.repetitions.push(Repetition {
            seed: plan.settings.seed,
            runs: tally.runs,
            failing_runs: tally.failing_runs,
            first_failing_run: tally.first_failing_run,
            seconds_to_first_failure: first.map(|elapsed| elapsed.as_secs_f64()),
            seconds: campaign.seconds,
        });
        if repetition == 1 {
            self.note(plan, &campaign);
        }
        if let End::Broken(error) = &campaign.end {
            self.uncontrolled.push(format!("it stopped early: {error}"));
        }
        Ok(campaign.end)
    }

    /// Takes down what the first repetition shows.
    fn note(&mut self, plan: &Plan, campaign: &Outcome) {
        let tally = &campaign.tally;
        let interval = proportion::wilson(tally.failing_runs, tally.runs, CONFIDENCE);
        self.runs = tally.runs;
        self.cut_short = matches!(campaign.end, End::Time);
        self.failing_runs = tally.failing_runs;
        if !self.first_only {
            (self.share, self.share_interval) = (Some(self.rate()), Some([interval.low, interval.high]));
        }
        self.runs_per_second = tally.runs as f64 / campaign.seconds.max(1e-9);
        self.threads_max = tally.threads_max;
        self.steps_max = tally.steps_max;
        self.steps_mean = tally.steps_mean();
        self.cut_runs = tally.cut_runs;
        self.guard_fired = tally.guard_fired;
        self.distinct_schedules = tally.distinct_schedules();
        self.pairs = tally.worth.pairs.clone();
        let summary = Summary { plan, campaign };
        self.uncontrolled = summary.uncontrolled().into_iter().map(str::to_string).collect();
        self.worth = Some(worth::of(&summary));
    }
}
