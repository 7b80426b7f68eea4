//! `raddle test`: explores schedules of a program.

use std::path::Path;

use raddle_engine::campaign::{Campaign, End, Outcome};
use raddle_engine::each_test::TestCase;
use raddle_engine::plan::stdin::{Notice, Stdin};
use raddle_engine::plan::Plan;
use raddle_engine::report::Summary;
use raddle_engine::run::target_error::TargetError;
use raddle_engine::subject::{self, Subject};
use raddle_report::{exit_code, TestReport, TestReports};

use super::{dry_run, print, write_json};
use crate::arguments::resolve::{Resolved, Verbosity};
use crate::arguments::{self, config};
use crate::display::{self, interrupt};
use crate::error::Error;
use crate::text::campaign::{self, Amount};
use crate::text::screen::Screen;

pub fn run(args: &arguments::Test) -> Result<u8, Error> {
    let directory = std::env::current_dir().map_err(Error::Directory)?;
    let defaults = config::defaults(&directory)?;
    let Resolved { mut engine, verbosity, each_test } = Resolved::of(args.options.clone().or(defaults))?;
    let program = subject::program(&args.command)?;
    let runtime = raddle_engine::runtime::find(engine.runtime.as_deref()).map_err(raddle_engine::Error::from)?;
    if verbosity.verbose {
        eprintln!("note: the runtime library is {}", runtime.display());
    }
    if args.dry_run {
        return dry_run::run(&program, &runtime, engine.points);
    }
    let stdin = Stdin::from_ours(|notice| {
        // That a terminal is not passed on is what everybody expects.
        if verbosity.verbose || notice != Notice::Terminal {
            eprintln!("note: {}", notice.text());
        }
    });
    engine.stdin = stdin.map_err(Error::Stdin)?;
    let subject = Subject::of_program(program, args.command.clone(), engine)?;
    let tester = Tester { subject, verbosity };
    if each_test {
        tester.each_test()
    } else if tester.subject.has_checks() {
        tester.checks()
    } else {
        tester.whole()
    }
}

/// One program to be explored, and how much is said of it.
struct Tester {
    subject: Subject,
    verbosity: Verbosity,
}

impl Tester {
    /// One campaign for the whole program.
    fn whole(&self) -> Result<u8, Error> {
        let plan = self.subject.plan();
        let outcome = explore(&plan, &self.verbosity)?;
        let summary = Summary { plan: &plan, campaign: &outcome };
        self.print_summary(&summary, None);
        self.write_json(|| summary.report(), summary.status())
    }

    /// A campaign for each check that the program reaches, each in one process.
    fn checks(&self) -> Result<u8, Error> {
        let mut ended = Vec::new();
        let mut reports = Vec::new();
        let wanted = self.verbosity.json.is_some();
        for number in 1.. {
            let planned = self.subject.plan_of_check(number, interrupt::requested).map_err(Error::from);
            let explored = planned.and_then(|planned| {
                planned.map(|(request, plan)| explore(&plan, &self.verbosity).map(|o| (request, plan, o))).transpose()
            });
            let (request, plan, outcome) = match explored {
                Ok(Some(explored)) => explored,
                Ok(None) if number == 1 && !interrupt::requested() => {
                    return Err(raddle_engine::Error::from(TargetError::CheckNotReached).into());
                }
                Ok(None) => break,
                // What earlier checks have shown is not lost.
                Err(error) if number > 1 => {
                    eprintln!("error: {error}");
                    ended.push(Ended { status: exit_code::USAGE, explored: false });
                    break;
                }
                Err(error) => return Err(error),
            };
            let summary = Summary { plan: &plan, campaign: &outcome };
            let name = request.name.unwrap_or_else(|| format!("check {number}"));
            self.print_summary(&summary, Some(&name));
            ended.push(Ended::of(&summary));
            reports.extend(wanted.then(|| report_of(name, &summary)));
            if outcome.end == End::Interrupted {
                break;
            }
        }
        match &reports[..] {
            [report] if ended.len() == 1 => self.write_json(|| report, ended[0].status),
            _ => self.write_json(|| TestReports { version: raddle_report::VERSION, tests: reports }, worst(&ended)),
        }
    }

    /// A campaign for each test of the program.
    fn each_test(&self) -> Result<u8, Error> {
        let mut ended = Vec::new();
        let mut reports = Vec::new();
        let wanted = self.verbosity.json.is_some();
        for TestCase { name, arguments } in self.subject.tests()? {
            let command = self.subject.command[..1].iter().cloned().chain(arguments).collect();
            let plan = self.subject.plan_of_test(command, interrupt::requested)?;
            let outcome = explore(&plan, &self.verbosity)?;
            let summary = Summary { plan: &plan, campaign: &outcome };
            self.print_summary(&summary, Some(&name));
            ended.push(Ended::of(&summary));
            reports.extend(wanted.then(|| report_of(name, &summary)));
            if outcome.end == End::Interrupted {
                break;
            }
        }
        self.write_json(|| TestReports { version: raddle_report::VERSION, tests: reports }, worst(&ended))
    }

    fn print_summary(&self, summary: &Summary<'_>, test: Option<&str>) {
        let amount = match (self.verbosity.quiet, self.verbosity.verbose) {
            (true, _) => Amount::Quiet,
            (_, true) => Amount::Verbose,
            (false, false) => Amount::Normal,
        };
        let to_stderr = self.verbosity.json.as_deref() == Some(Path::new("-"));
        let screen = if to_stderr { Screen::stderr() } else { Screen::stdout() };
        let mut text = campaign::summary(summary, amount, screen);
        if let Some(name) = test.filter(|_| !text.is_empty()) {
            text = format!("{name}: {text}\n");
        }
        if to_stderr {
            eprint!("{text}");
        } else {
            print(&text);
        }
    }

    /// A report that cannot be written does not hide a failure.
    fn write_json<R: serde::Serialize>(&self, report: impl FnOnce() -> R, status: u8) -> Result<u8, Error> {
        match self.verbosity.json.as_deref().map(|path| write_json(path, &report())) {
            Some(Err(error)) if status == exit_code::FAILURE => {
                eprintln!("error: {error}");
                Ok(status)
            }
            Some(Err(error)) => Err(error),
            None | Some(Ok(())) => Ok(status),
        }
    }
}

fn report_of(test: String, summary: &Summary<'_>) -> TestReport {
    TestReport { test, suite: None, verdict: None, report: Some(summary.report()) }
}

pub fn explore(plan: &Plan, verbosity: &Verbosity) -> Result<Outcome, Error> {
    if verbosity.verbose && plan.searches() && plan.jobs > 1 {
        eprintln!("note: {} makes one run at a time, in one job", plan.policy.descriptor.name);
    }
    let campaign = Campaign::start(plan.clone()).map_err(raddle_engine::Error::from)?;
    let outcome = display::follow(campaign, !verbosity.quiet);
    if let End::Broken(error) = &outcome.end {
        // Before the first run there is nothing else to say; later no finding may be lost.
        if outcome.tally.runs == 0 {
            return Err(raddle_engine::Error::from(error.clone()).into());
        }
        eprintln!("error: {error}");
    }
    Ok(outcome)
}

/// How one of several campaigns ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: u8,
    /// Whether a run of it came to its end.
    pub explored: bool,
}

impl Ended {
    fn of(summary: &Summary<'_>) -> Ended {
        Ended { status: summary.status(), explored: summary.campaign.tally.explored() }
    }
}

/// The exit status of several campaigns: a failure before all, then what is wrong with raddle or the set-up, then what
/// was not explored at all. A test without threads among others that have some is no mistake.
pub fn worst(campaigns: &[Ended]) -> u8 {
    let has = |status: &u8| campaigns.iter().any(|ended| ended.status == *status);
    let wrong = [exit_code::FAILURE, exit_code::INTERNAL, exit_code::USAGE].into_iter().find(has);
    let passed = campaigns.iter().all(|ended| ended.explored) && has(&exit_code::OK);
    wrong.unwrap_or(if passed { exit_code::OK } else { exit_code::NOTHING_CONTROLLED })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failing_test_fails_all() {
        use exit_code::{FAILURE, INTERNAL, NOTHING_CONTROLLED, OK};
        let explored = |statuses: &[u8]| -> Vec<Ended> {
            statuses.iter().map(|&status| Ended { status, explored: true }).collect()
        };
        assert_eq!(worst(&explored(&[OK, FAILURE, INTERNAL])), FAILURE);
        assert_eq!(worst(&explored(&[OK, NOTHING_CONTROLLED])), OK);
        assert_eq!(worst(&explored(&[NOTHING_CONTROLLED])), NOTHING_CONTROLLED);
        let not_explored = Ended { status: NOTHING_CONTROLLED, explored: false };
        assert_eq!(worst(&[explored(&[OK]), vec![not_explored]].concat()), NOTHING_CONTROLLED);
        assert_eq!(worst(&[explored(&[FAILURE]), vec![not_explored]].concat()), FAILURE);
    }
}
