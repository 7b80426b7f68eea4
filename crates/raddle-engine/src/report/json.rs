//! The report of a campaign. Fields are added, never changed.

use raddle_core::policy::Parameter;
use raddle_report::campaign::{Assertion, Delay, Failure, Frame, Guard, Report, Thread};
use raddle_schedule::Late;
use serde_json::{Number, Value};

use super::{racing, search, worth, Summary};
use crate::campaign::Finding;
use crate::each_test::failure;
use crate::run::frames::FrameView;
use crate::run::threads::ThreadView;

/// The report of a campaign.
pub fn report(summary: &Summary<'_>) -> Report {
    let (plan, campaign) = (summary.plan, summary.campaign);
    let (tally, settings) = (&campaign.tally, &plan.settings);
    Report {
        version: raddle_report::VERSION,
        command: plan.target.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        policy: plan.policy.descriptor.name.to_string(),
        parameters: plan.policy.descriptor.parameters.iter().zip(&plan.policy.values).map(parameter).collect(),
        guard: Guard {
            override_probability: settings.guard.override_probability,
            lower: settings.guard.lower_probability,
        },
        seed: settings.seed,
        points: settings.points.name().to_string(),
        offers: plan.target.program.offered().into_iter().map(str::to_string).collect(),
        runs: tally.runs,
        runs_planned: Some(plan.runs),
        end: Some(campaign.end.name().to_string()),
        failing_runs: tally.failing_runs,
        first_failing_run: tally.first_failing_run,
        unreplayable: plan.is_parallel().then_some(tally.unreplayable_runs),
        cut_runs: tally.cut_runs,
        fair_runs: Some(tally.fair_runs),
        delayed_runs: Some(tally.delayed_runs),
        distinct_schedules: tally.distinct_schedules(),
        trace: format!("{:016x}", tally.trace),
        threads_max: tally.threads_max,
        steps_max: tally.steps_max,
        steps_mean: tally.steps_mean(),
        points_max: tally.points_max,
        phase_max: tally.phase_max,
        seconds: campaign.seconds,
        runs_per_second: tally.runs as f64 / campaign.seconds.max(1e-9),
        worth: worth::of(summary),
        uncontrolled: summary.uncontrolled().into_iter().map(str::to_string).collect(),
        exhausted: plan.searches().then(|| search::exhausted(summary)),
        racing: racing::places(summary),
        failures: campaign.findings.iter().map(failure).collect(),
    }
}

fn failure(finding: &Finding) -> Failure {
    Failure {
        kind: finding.failure.kind.name().to_string(),
        message: finding.failure.message.clone(),
        place: finding.failure.place.clone(),
        count: finding.count,
        first_run: finding.first_run,
        step: finding.failure.step,
        bound: finding.failure.bound,
        delays: finding.failure.delays.iter().map(late).collect(),
        held_back: finding.failure.heap.held_back,
        schedule: finding.schedule.as_ref().ok().map(|path| path.display().to_string()),
        assertion: finding.failure.assertion.as_ref().map(assertion),
        threads: finding.failure.threads.iter().map(thread).collect(),
    }
}

fn late(late: &Late) -> Delay {
    Delay { thread: late.delay.thread, milliseconds: late.delay.nanoseconds as f64 / 1e6, place: late.place.clone() }
}

fn thread(view: &ThreadView) -> Thread {
    Thread {
        id: view.id,
        name: view.name.clone(),
        state: view.state.clone(),
        waits_for: view.waits_for.clone(),
        backtrace: view.backtrace(),
        frames: view.frames.iter().map(frame).collect(),
    }
}

fn assertion(said: &failure::Assertion) -> Assertion {
    Assertion {
        test: said.test.clone(),
        thread: said.thread.clone(),
        file: said.file.clone(),
        line: said.line,
        text: said.text.clone(),
    }
}

fn frame(view: &FrameView) -> Frame {
    Frame {
        function: view.function.clone(),
        file: view.file.clone(),
        line: view.line,
        module: view.module.clone(),
        folded: view.folded,
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
        let report = report(&Summary { plan: &plan, campaign: &campaign });
        insta::assert_snapshot!(serde_json::to_string_pretty(&report).expect("is JSON"));
    }
}
