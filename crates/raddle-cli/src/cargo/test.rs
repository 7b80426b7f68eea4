//! `cargo raddle test`: a campaign for each `#[test]`.
//!
//! Executables come one after the other, as cargo runs them, and the tests of one are explored at once, as many as `--jobs`
//! says. What is printed is the same for every number of jobs.

use std::io::BufReader;
use std::process::Stdio;
use std::time::Instant;

use raddle_engine::each_test;
use raddle_report::words::count;
use raddle_report::{exit_code, TestReport, TestReports};

use raddle_engine::options::Options;

use super::artifacts::{self, Artifact};
use super::build::{not_started, succeeded, Cargo};
use super::error::CargoError;
use super::explore::Executable;
use super::junit::{self, Case, Suite};
use super::outcome::{Outcome, Verdict};
use super::output::{self, Paint};
use super::recording::{self, Recording};
use super::selection::{Selection, Shows, Tests};
use super::{doctests, pool};
use crate::arguments::cargo::{self as args, Words};
use crate::arguments::config;
use crate::arguments::resolve::{Resolved, Verbosity};
use crate::commands::test::{worst, Ended};
use crate::commands::{print, write_json};
use crate::display::interrupt;
use crate::error::Error;

/// What `cargo test` says of a failure.
const FAILED: u8 = 101;

pub fn run(args: &args::Test) -> Result<u8, CargoError> {
    let directory = std::env::current_dir().map_err(Error::Directory)?;
    let defaults = config::defaults(&directory).map_err(Error::from)?;
    let given = args.options.clone().or(defaults);
    let visible = args.visibility.visible(&given);
    let Resolved { engine: options, verbosity, .. } = Resolved::of(given).map_err(Error::from)?;
    let cargo = Cargo::prepare(&args.packages, visible)?;
    let artifacts = build(args, &cargo, &verbosity)?;
    let executables = record(args, &cargo, artifacts)?;
    let selection = Selection::new(&args.filters, &args.harness);
    if !options.seed_given && !verbosity.quiet && !selection.list {
        eprintln!("note: the seed is {0}; --seed {0} explores the same schedules again", options.seed);
    }
    let mut session = Session::new(args, options, verbosity, selection);
    let several = executables.iter().any(|(artifact, _)| artifact.manifest != executables[0].0.manifest);
    let mut failed = Vec::new();
    for (artifact, recording) in &executables {
        let passed = session.executable(artifact, recording)?;
        if !passed {
            let package = if several { format!("-p {} ", package(artifact, recording)) } else { String::new() };
            failed.push(format!("{package}{}", artifact.option()));
        }
        if interrupt::requested() || (!passed && !args.no_fail_fast) {
            break;
        }
    }
    say_failed(&failed, executables.len() > 1);
    if !is_chosen(args) {
        executables.iter().for_each(|(artifact, _)| say_doctests(artifact));
    }
    session.finish()
}

/// Whether the user has chosen targets.
fn is_chosen(args: &args::Test) -> bool {
    !args.targets.words().0.is_empty()
}

/// The options of `cargo test` for what is meant: without a choice, all that has tests but the documentation.
fn targets(args: &args::Test) -> Words {
    let mut words = args.targets.words();
    words.flag("--tests", !is_chosen(args));
    words
}

/// Builds the test executables.
fn build(args: &args::Test, cargo: &Cargo, verbosity: &Verbosity) -> Result<Vec<Artifact>, CargoError> {
    let mut command = cargo.command("test", &args.packages)?;
    command.args(targets(args).0).args(["--no-run", "--message-format=json-render-diagnostics"]);
    command.args(Words::default().flag("--quiet", verbosity.quiet).flag("--verbose", verbosity.verbose).0.iter());
    command.stdout(Stdio::piped());
    let mut child = command.spawn().map_err(not_started(command.get_program()))?;
    let artifacts = child.stdout.take().map(|messages| artifacts::read(BufReader::new(messages)));
    succeeded(child.wait().map_err(not_started(command.get_program()))?)?;
    artifacts.unwrap_or(Ok(Vec::new()))
}

/// Asks cargo how it would start each of them. They come in cargo's order, not in that in which they were built.
fn record(
    args: &args::Test,
    cargo: &Cargo,
    mut artifacts: Vec<Artifact>,
) -> Result<Vec<(Artifact, Recording)>, CargoError> {
    let folder = tempfile::tempdir().map_err(Error::Directory)?;
    let mut command = cargo.command("test", &args.packages)?;
    command.args(targets(args).0).args(["--quiet", "--no-fail-fast"]);
    cargo.record(&mut command, folder.path());
    let output = command.output().map_err(not_started(command.get_program()))?;
    let mut executables = Vec::new();
    for recording in recording::read(folder.path())? {
        if let Some(at) = artifacts.iter().position(|artifact| artifact.path == recording.program) {
            executables.push((artifacts.remove(at), recording));
        }
    }
    match artifacts.first() {
        None => Ok(executables),
        Some(missing) => Err(CargoError::NotRecorded {
            program: missing.path.display().to_string(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}

/// Doctests are programs of rustdoc's making, compiled and run one by one; we do not see them.
fn say_doctests(artifact: &Artifact) {
    if artifact.doctest && artifact.source.parent().is_some_and(doctests::has_any) {
        eprintln!("note: doctests of {} are not explored; `cargo test --doc` runs them", artifact.name);
    }
}

/// All executables of one command.
struct Session<'a> {
    args: &'a args::Test,
    options: Options,
    verbosity: Verbosity,
    selection: Selection,
    paint: Paint,
    /// Whether standard output is for JSON.
    to_stderr: bool,
    tests: usize,
    ended: Vec<Ended>,
    reports: Vec<TestReport>,
    suites: Vec<Suite>,
}

impl<'a> Session<'a> {
    fn new(args: &'a args::Test, options: Options, verbosity: Verbosity, selection: Selection) -> Session<'a> {
        let to_stderr = verbosity.json.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let paint = Paint(if to_stderr { console::colors_enabled_stderr() } else { console::colors_enabled() });
        let (ended, reports, suites) = (Vec::new(), Vec::new(), Vec::new());
        Session { args, options, verbosity, selection, paint, to_stderr, tests: 0, ended, reports, suites }
    }

    fn say(&self, text: &str) {
        if self.to_stderr {
            eprint!("{text}");
        } else {
            print(text);
        }
    }

    /// Explores the tests of an executable; says whether none failed.
    fn executable(&mut self, artifact: &Artifact, recording: &Recording) -> Result<bool, CargoError> {
        if !self.verbosity.quiet {
            eprint!("{}", output::running(&artifact.title(), &artifact.path, Paint(console::colors_enabled_stderr())));
        }
        let libtest = each_test::is_libtest(&artifact.path)?;
        let tests = match libtest {
            true => self.selection.of(recording)?,
            // Whatever it does, it does as a whole.
            false => Tests { selected: vec![artifact.name.clone()], ..Tests::default() },
        };
        self.tests += tests.count();
        if self.selection.list {
            self.list(&tests);
            return Ok(true);
        }
        let mut verbosity = self.verbosity.clone();
        // Several lines of progress would be in each other's way.
        verbosity.quiet |= self.options.jobs > 1;
        let executable = Executable::new(recording, &self.options, &verbosity, libtest)?;
        self.tell(&output::header(tests.shown().len()));
        let started = Instant::now();
        let outcomes = self.explore(&executable, &tests);
        let seconds = started.elapsed().as_secs_f64();
        let results: Vec<_> =
            tests.selected.iter().map(String::as_str).zip(outcomes.iter().map(Option::as_ref)).collect();
        let passed = outcomes.iter().flatten().all(|o| !matches!(o.verdict, Verdict::Failed | Verdict::Broken));
        if !self.verbosity.quiet || !passed {
            if self.selection.shows == Shows::Successes {
                self.say(&output::successes(&results));
            }
            self.say(&output::failures(&results));
            self.say(&output::result(&results, &tests, seconds, self.paint));
        }
        self.remember(artifact, recording, &tests, outcomes, seconds);
        Ok(passed)
    }

    /// Explores tests and prints their lines, with the ignored ones in their places.
    fn explore(&self, executable: &Executable, tests: &Tests) -> Vec<Option<Outcome>> {
        let shown = tests.shown();
        let mut lines = shown.iter();
        let mut outcomes = Vec::new();
        let mut ignored_up_to = |name: Option<&str>| {
            for (ignored, _) in lines.by_ref().take_while(|(shown, _)| Some(*shown) != name) {
                self.tell(&output::ignored(ignored, self.paint));
            }
        };
        pool::explore(
            tests.selected.len(),
            self.options.jobs,
            |test, core| executable.explore(&tests.selected[test], &self.selection, core),
            |test, outcome| {
                let name = &tests.selected[test];
                ignored_up_to(Some(name));
                if self.selection.shows == Shows::All {
                    self.tell(outcome.as_ref().map_or("", |outcome| &outcome.printed));
                }
                self.tell(&output::line(name, outcome.as_ref(), self.paint));
                outcomes.push(outcome);
            },
        );
        ignored_up_to(None);
        outcomes
    }

    /// Says what is no failure.
    fn tell(&self, text: &str) {
        if !self.verbosity.quiet {
            self.say(text);
        }
    }

    fn list(&self, tests: &Tests) {
        let names: String = tests.shown().iter().map(|(name, _)| format!("{name}: test\n")).collect();
        let count = tests.shown().len();
        self.say(&format!("{names}\n{count} test{}, 0 benchmarks\n", if count == 1 { "" } else { "s" }));
    }

    /// Keeps what the reports at the end need.
    fn remember(
        &mut self,
        artifact: &Artifact,
        recording: &Recording,
        tests: &Tests,
        outcomes: Vec<Option<Outcome>>,
        seconds: f64,
    ) {
        let package = package(artifact, recording);
        let suite = match artifact.kind {
            artifacts::Kind::Library => package,
            _ => format!("{package}::{}", artifact.name),
        };
        let mut cases = Vec::new();
        for (name, outcome) in tests.selected.iter().zip(outcomes) {
            let Some(outcome) = outcome else {
                cases.push(Case { name: name.clone(), result: junit::Result::Skipped("interrupted") });
                continue;
            };
            self.ended.push(outcome.ended());
            self.reports.push(report(&suite, name, &outcome));
            cases.push(Case { name: name.clone(), result: junit::Result::Explored(Box::new(outcome)) });
        }
        let ignored = tests.ignored.iter();
        cases.extend(ignored.map(|name| Case { name: name.clone(), result: junit::Result::Skipped("ignored") }));
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        self.suites.push(Suite { name: suite, cases, seconds });
    }

    /// How many tests ended so.
    fn number_of(&self, verdict: Verdict) -> u64 {
        self.reports.iter().filter(|report| report.verdict.as_deref() == Some(verdict.name())).count() as u64
    }

    /// Writes the reports; gives the exit status.
    fn finish(&self) -> Result<u8, CargoError> {
        if self.tests == 0 && !self.selection.list {
            return Err(CargoError::NoTests);
        }
        let status = match self.ended.is_empty() {
            true => exit_code::OK,
            false => worst(&self.ended),
        };
        let (not_explored, cut) = (self.number_of(Verdict::NotExplored), self.number_of(Verdict::Cut));
        if status == exit_code::NOTHING_CONTROLLED && not_explored + cut == 0 {
            eprintln!("note: nothing was under control: raddle saw no threads in any of these tests");
        }
        if not_explored > 0 {
            eprintln!(
                "note: {} had no time for a single run, so nothing is known about it; --time allows more",
                count(not_explored, "test")
            );
        }
        if cut > 0 {
            eprintln!(
                "note: {} never finished, so nothing is known about how it ends; --max-steps allows more steps",
                count(cut, "test")
            );
        }
        if let Some(path) = &self.verbosity.json {
            write_json(path, &TestReports { version: raddle_report::VERSION, tests: self.reports.clone() })?;
        }
        if let Some(path) = &self.args.junit {
            std::fs::write(path, junit::document(&self.suites))
                .map_err(|source| CargoError::Write { path: path.clone(), source })?;
        }
        Ok(match status {
            exit_code::FAILURE => FAILED,
            status => status,
        })
    }
}

/// The name of an executable's package.
fn package(artifact: &Artifact, recording: &Recording) -> String {
    let name = recording.environment.iter().find(|(name, _)| name == "CARGO_PKG_NAME");
    name.map_or(artifact.name.clone(), |(_, value)| value.to_string_lossy().into_owned())
}

/// What cargo says at the end of executables with failures, each by the options that choose it.
fn say_failed(failed: &[String], many: bool) {
    let error = console::style("error:").for_stderr().red().bold();
    match failed {
        [] => {}
        [one] if many => eprintln!("{error} test failed, to rerun pass `{one}`"),
        [_] => eprintln!("{error} test failed"),
        several => {
            eprintln!("{error} {} targets failed:", several.len());
            several.iter().for_each(|one| eprintln!("    `{one}`"));
        }
    }
}

/// The report of a test: that of its campaign, and whose it is.
fn report(suite: &str, test: &str, outcome: &Outcome) -> TestReport {
    TestReport {
        test: test.to_string(),
        suite: Some(suite.to_string()),
        verdict: Some(outcome.verdict.name().to_string()),
        report: outcome.report.as_deref().cloned(),
    }
}
