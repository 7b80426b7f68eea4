//! Exploring the tests of one executable.

use std::ffi::OsString;

use super::error::CargoError;
use super::outcome::{Outcome, Verdict};
use super::recording::Recording;
use super::selection::Selection;
use crate::args::TestOptions;
use crate::campaign::stdin::Stdin;
use crate::commands::test::{self, Said, Tester};
use crate::error::Error;
use crate::exit_code;
use crate::inspect::elf;
use crate::options::Options;
use crate::report::json::Report;
use crate::report::text::{self, Amount};
use crate::report::Summary;
use crate::runtime_library;
use crate::sync_functions::SyncFunctions;

/// Threads of a program whose harness runs one test: the main one, which waits, and the one of the test. The harness
/// starts a thread for each test, even for the only one of `--test-threads=1`.
const LIBTEST: u64 = 2;

/// Threads of a check's body before it starts any.
const CHECK: u64 = 1;

/// A test executable, ready to be explored.
pub struct Executable {
    tester: Tester,
    /// Whether it has Rust's test harness; else it is one test as a whole.
    libtest: bool,
}

impl Executable {
    /// Looks at what cargo would start.
    pub fn new(
        recording: &Recording,
        given: &TestOptions,
        options: &Options,
        libtest: bool,
    ) -> Result<Executable, CargoError> {
        let refused = |refusal| Error::Refused { program: recording.program.display().to_string(), refusal };
        let program = elf::inspect(&recording.program).map_err(refused)?;
        if options.fail_on_race {
            test::can_tell_races(&program).map_err(Error::from)?;
        }
        let mut options = options.clone();
        // Several tests go on at once, each on one core.
        options.jobs = 1;
        // A panic that prints its stack takes a hundred times as long, and the report has the stack anyway. What the
        // user asks for comes last and wins.
        let quick = [("RUST_BACKTRACE".to_string(), "0".to_string())];
        options.env = quick.into_iter().chain(recording.additions()).chain(options.env).collect();
        let tester = Tester {
            said: Said::by(given),
            sync_functions: SyncFunctions::find(&program.path, &options.sync_functions).map_err(Error::from)?,
            runtime: runtime_library::find(options.runtime.as_deref()).map_err(Error::from)?,
            directory: recording.directory.clone(),
            stdin: Stdin::Null,
            options,
            program,
        };
        Ok(Executable { tester, libtest })
    }

    /// Explores one test.
    pub fn explore(&self, test: &str, selection: &Selection) -> Outcome {
        let arguments = if self.libtest { selection.arguments(test) } else { Vec::new() };
        self.campaign(arguments).unwrap_or_else(|error| Outcome::broken(error.to_string(), error.exit_code()))
    }

    fn campaign(&self, arguments: Vec<OsString>) -> Result<Outcome, Error> {
        let program = self.tester.program.path.clone().into_os_string();
        let mut plan = self.tester.plan_of_test(std::iter::once(program).chain(arguments).collect())?;
        plan.harness = match (self.libtest, plan.check) {
            (_, Some(_)) => CHECK,
            (true, None) => LIBTEST,
            (false, None) => 0,
        };
        let campaign = self.tester.campaign(&plan)?;
        let summary = Summary { plan: &plan, campaign: &campaign };
        let failure = campaign.findings.first().map(|finding| &finding.failure);
        let verdict = Verdict::of(&campaign, plan.harness);
        let status = match verdict {
            Verdict::NotConcurrent | Verdict::NotControlled => exit_code::NOTHING_CONTROLLED,
            _ => test::status(&campaign),
        };
        Ok(Outcome {
            verdict,
            status,
            runs: campaign.tally.runs,
            cut_runs: campaign.tally.cut_runs,
            schedules: campaign.tally.distinct_schedules(),
            seconds: campaign.seconds,
            failure: failure.map(|failure| (failure.kind.name().to_string(), failure.message.clone())),
            text: text::summary(&summary, Amount::Quiet, console::colors_enabled()),
            report: self.tester.options.json.as_ref().and_then(|_| serde_json::to_value(Report::new(&summary)).ok()),
        })
    }
}
