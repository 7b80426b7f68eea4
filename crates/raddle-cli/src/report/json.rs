//! The JSON of a campaign, as the contract has it. Fields are added, never changed.

use raddle_core::policy::Parameter;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::racing::{self, RacingPlace};
use super::search::Exhausted;
use super::worth::Worth;
use super::Summary;
use crate::campaign::findings::Finding;
use crate::campaign::threads::ThreadView;

/// The version of the format.
const VERSION: u32 = 1;

/// One campaign.
#[derive(Serialize)]
pub struct Report {
    version: u32,
    command: Vec<String>,
    policy: &'static str,
    parameters: Map<String, Value>,
    guard: Guard,
    seed: u64,
    points: &'static str,
    offers: Vec<&'static str>,
    runs: u64,
    failing_runs: u64,
    first_failing_run: Option<u64>,
    /// Only where threads ran in parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreplayable: Option<u64>,
    cut_runs: u64,
    distinct_schedules: u64,
    trace: String,
    threads_max: u64,
    steps_max: u64,
    steps_mean: f64,
    points_max: u64,
    phase_max: u64,
    seconds: f64,
    runs_per_second: f64,
    worth: Worth,
    uncontrolled: Vec<&'static str>,
    /// Of a search: null while it is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    exhausted: Option<Option<Exhausted>>,
    racing: Vec<RacingPlace>,
    failures: Vec<Failure>,
}

#[derive(Serialize)]
struct Guard {
    #[serde(rename = "override")]
    override_probability: f64,
    lower: f64,
}

#[derive(Serialize)]
struct Failure {
    kind: &'static str,
    message: String,
    place: String,
    count: u64,
    first_run: u64,
    step: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    schedule: Option<String>,
    threads: Vec<Thread>,
}

#[derive(Serialize)]
struct Thread {
    id: u16,
    name: String,
    state: String,
    waits_for: Option<String>,
    backtrace: Vec<String>,
}

impl Report {
    /// The report of a campaign.
    pub fn new(summary: &Summary<'_>) -> Report {
        let (plan, campaign) = (summary.plan, summary.campaign);
        let tally = &campaign.tally;
        Report {
            version: VERSION,
            command: plan.target.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            policy: plan.policy.descriptor.name,
            parameters: plan.policy.descriptor.parameters.iter().zip(&plan.policy.values).map(parameter).collect(),
            guard: Guard { override_probability: plan.guard.override_probability, lower: plan.guard.lower_probability },
            seed: plan.seed,
            points: plan.points.name(),
            offers: plan.target.program.offered(),
            runs: tally.runs,
            failing_runs: tally.failing_runs,
            first_failing_run: tally.first_failing_run,
            unreplayable: plan.is_parallel().then_some(tally.unreplayable_runs),
            cut_runs: tally.cut_runs,
            distinct_schedules: tally.distinct_schedules(),
            trace: format!("{:016x}", tally.trace),
            threads_max: tally.threads_max,
            steps_max: tally.steps_max,
            steps_mean: tally.steps_mean(),
            points_max: tally.points_max,
            phase_max: tally.phase_max,
            seconds: campaign.seconds,
            runs_per_second: tally.runs as f64 / campaign.seconds.max(1e-9),
            worth: Worth::new(summary),
            uncontrolled: summary.uncontrolled(),
            exhausted: plan.searches().then(|| Exhausted::of(summary)),
            racing: racing::places(summary),
            failures: campaign.findings.iter().map(failure).collect(),
        }
    }
}

fn failure(finding: &Finding) -> Failure {
    Failure {
        kind: finding.failure.kind.name(),
        message: finding.failure.message.clone(),
        place: finding.failure.place.clone(),
        count: finding.count,
        first_run: finding.first_run,
        step: finding.failure.step,
        bound: finding.failure.bound,
        schedule: finding.schedule.as_ref().ok().map(|path| path.display().to_string()),
        threads: finding.failure.threads.iter().map(thread).collect(),
    }
}

fn thread(view: &ThreadView) -> Thread {
    Thread {
        id: view.id,
        name: view.name.clone(),
        state: view.state.clone(),
        waits_for: view.waits_for.clone(),
        backtrace: view.backtrace.clone(),
    }
}

/// A parameter with its value.
fn parameter((parameter, &value): (&Parameter, &f64)) -> (String, Value) {
    let choice = parameter.choices.get(value as usize).map(|choice| Value::from(*choice));
    (parameter.name.to_string(), choice.unwrap_or_else(|| number(value)))
}

/// Whole numbers without a point.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return Value::Number((value as i64).into());
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn has_the_fields_of_the_contract() {
        let (plan, mut campaign) = (sample::plan(), sample::campaign(17));
        campaign.findings = vec![sample::deadlock(), sample::assertion(Err("full".into()))];
        campaign.racing = sample::racing();
        let report = Report::new(&Summary { plan: &plan, campaign: &campaign });
        insta::assert_snapshot!(serde_json::to_string_pretty(&report).expect("is JSON"));
    }
}
