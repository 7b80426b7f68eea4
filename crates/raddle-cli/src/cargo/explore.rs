//! Exploring the tests of one executable.

use std::ffi::OsString;

use raddle_engine::campaign::End;
use raddle_engine::each_test::without_harness;
use raddle_engine::options::Options;
use raddle_engine::plan::Plan;
use raddle_engine::report::Summary;
use raddle_engine::run::output::Capture;
use raddle_engine::subject::Subject;
use raddle_inspect::elf;
use raddle_report::exit_code;

use super::error::CargoError;
use super::outcome::{Outcome, Verdict};
use super::recording::Recording;
use super::selection::{Selection, Shows};
use crate::arguments::resolve::Verbosity;
use crate::commands::test;
use crate::display::interrupt;
use crate::error::Error;
use crate::text::campaign::{self, Amount};
use crate::text::screen::Screen;

/// Threads of a program whose harness runs one test: the main one, which waits, and the one of the test. The harness
/// starts a thread for each test, even for the only one of `--test-threads=1`.
const LIBTEST: u64 = 2;

/// Threads of a check's body before it starts any.
const CHECK: u64 = 1;

/// A test executable, ready to be explored.
pub struct Executable {
    subject: Subject,
    verbosity: Verbosity,
    /// Whether it has Rust's test harness; else it is one test as a whole.
    libtest: bool,
}

impl Executable {
    /// Looks at what cargo would start.
    pub fn new(
        recording: &Recording,
        options: &Options,
        verbosity: &Verbosity,
        libtest: bool,
    ) -> Result<Executable, CargoError> {
        let refused =
            |refusal| raddle_engine::Error::Refused { program: recording.program.display().to_string(), refusal };
        let program = elf::inspect(&recording.program).map_err(refused).map_err(Error::from)?;
        let mut options = options.clone();
        // Several tests go on at once, each on one core.
        options.jobs = 1;
        // A panic that prints its stack takes a hundred times as long, and the report has the stack anyway. Not that a
        // package's configuration could ask for it, but what the user asks for wins.
        let asked = std::env::var_os("RUST_BACKTRACE").is_some();
        let quick = (!asked).then(|| ("RUST_BACKTRACE".to_string(), "0".to_string()));
        options.env = quick.into_iter().chain(recording.additions()).chain(options.env).collect();
        options.directory = Some(recording.directory.clone());
        let command = vec![program.path.clone().into_os_string()];
        let subject = Subject::of_program(program, command, options).map_err(Error::from)?;
        Ok(Executable { subject, verbosity: verbosity.clone(), libtest })
    }

    /// Explores one test, on this core if there is one.
    pub fn explore(&self, test: &str, selection: &Selection, core: Option<usize>) -> Outcome {
        let arguments = if self.libtest { selection.arguments(test) } else { Vec::new() };
        let shows = selection.shows != Shows::Failures;
        self.campaign(arguments, core, shows)
            .unwrap_or_else(|error| Outcome::broken(error.to_string(), error.exit_code()))
    }

    /// What a test prints in its first run, without the lines of its harness.
    fn printed(&self, plan: &Plan) -> Result<String, Error> {
        let plan = Plan { runs: 1, record: false, ..plan.clone() };
        let quiet = Verbosity { quiet: true, ..self.verbosity.clone() };
        let Some(output) = test::explore(&plan, &quiet)?.output else { return Ok(String::new()) };
        let read = |capture: &Capture| capture.read().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        // What cannot be read is not there to be shown.
        let (stdout, stderr) = (read(&output.stdout).unwrap_or_default(), read(&output.stderr).unwrap_or_default());
        let own = if self.libtest { without_harness(&stdout.lines().collect::<Vec<_>>()) } else { vec![stdout] };
        let lines = own.iter().map(String::as_str).chain(stderr.lines());
        Ok(lines.map(|line| format!("{line}\n")).collect())
    }

    fn campaign(&self, arguments: Vec<OsString>, core: Option<usize>, shows: bool) -> Result<Outcome, Error> {
        let command = self.subject.command.iter().cloned().chain(arguments).collect();
        let mut plan = self.subject.plan_of_test(command, interrupt::requested)?;
        plan.cores = core.map(|core| vec![core]);
        plan.harness = match (self.libtest, plan.check) {
            (_, Some(_)) => CHECK,
            (true, None) => LIBTEST,
            (false, None) => 0,
        };
        let printed = if shows { self.printed(&plan)? } else { String::new() };
        let campaign = test::explore(&plan, &self.verbosity)?;
        let summary = Summary { plan: &plan, campaign: &campaign };
        let failure = campaign.findings.first().map(|finding| &finding.failure);
        let verdict = Verdict::of(&campaign, plan.harness);
        let status = match verdict {
            Verdict::NotConcurrent | Verdict::NotControlled | Verdict::NotExplored => exit_code::NOTHING_CONTROLLED,
            _ => summary.status(),
        };
        Ok(Outcome {
            verdict,
            status,
            runs: campaign.tally.runs,
            planned: (campaign.end == End::Time).then_some(plan.runs),
            cut_runs: campaign.tally.cut_runs,
            schedules: campaign.tally.distinct_schedules(),
            seconds: campaign.seconds,
            failure: failure.map(|failure| (failure.kind.name().to_string(), failure.message.clone())),
            text: campaign::summary(&summary, Amount::Quiet, Screen::stdout()),
            printed,
            report: self.verbosity.json.as_ref().map(|_| Box::new(summary.report())),
        })
    }
}
