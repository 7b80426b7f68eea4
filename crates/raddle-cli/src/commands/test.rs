//! `raddle test`: explores schedules of a program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use raddle_core::block::Points;
use raddle_core::decorators::guard;
use raddle_core::hooks::offers;
use raddle_core::policy::Kind;
use raddle_core::schedule::MAX_DECISIONS;

use super::{dry_run, print, program, write_json};
use crate::args;
use crate::campaign::each_test::{self, TestCase};
use crate::campaign::plan::{Expectations, Plan, Target};
use crate::campaign::recorder::Recorder;
use crate::campaign::stdin::{Notice, Stdin};
use crate::campaign::target_error::TargetError;
use crate::campaign::wire::Wishes;
use crate::campaign::{self, Campaign, End};
use crate::config;
use crate::environment;
use crate::error::Error;
use crate::exit_code;
use crate::inspect::elf::{Language, Program};
use crate::options::{self, OptionError, Options};
use crate::policy_choice::PolicyChoice;
use crate::report::json::Report;
use crate::report::text::{self, Amount};
use crate::report::Summary;
use crate::runtime_library;
use crate::sync_functions::SyncFunctions;

/// Runs the command.
pub fn run(args: &args::Test) -> Result<u8, Error> {
    let directory = std::env::current_dir().map_err(Error::Directory)?;
    let defaults = config::defaults(&directory)?;
    let options = Options::resolve(args.options.clone().or(defaults))?;
    let program = program(&args.command)?;
    let runtime = runtime_library::find(options.runtime.as_deref())?;
    if options.verbose {
        eprintln!("note: the runtime library is {}", runtime.display());
    }
    if args.dry_run {
        return dry_run::run(&program, &runtime, options.points);
    }
    if options.fail_on_race {
        can_tell_races(&program)?;
    }
    let sync_functions = SyncFunctions::find(&program.path, &options.sync_functions)?;
    let stdin = Stdin::from_ours(|notice| {
        // That a terminal is not passed on is what everybody expects.
        if options.verbose || notice != Notice::Terminal {
            eprintln!("note: {}", notice.text());
        }
    });
    let stdin = stdin.map_err(Error::Stdin)?;
    let said = Said::by(&args.options);
    let tester = Tester { said, options, program, sync_functions, runtime, directory, stdin };
    if tester.options.each_test {
        tester.each_test(&args.command)
    } else if tester.program.checks {
        tester.checks(&args.command)
    } else {
        tester.whole(args.command.clone())
    }
}

/// Which options the user gave: they come before what a check asks for.
pub struct Said {
    policy: bool,
    runs: bool,
    seed: bool,
    max_steps: bool,
}

impl Said {
    /// Every one: nothing that a check asks for counts.
    pub fn all() -> Said {
        Said { policy: true, runs: true, seed: true, max_steps: true }
    }

    /// All that were given.
    pub fn by(options: &args::TestOptions) -> Said {
        Said {
            policy: options.policy.is_some(),
            runs: options.runs.is_some(),
            seed: options.seed.is_some(),
            max_steps: options.max_steps.is_some(),
        }
    }
}

/// One program to be explored.
pub struct Tester {
    /// What the user asked for in so many words.
    pub said: Said,
    /// What holds.
    pub options: Options,
    /// The program.
    pub program: Program,
    /// Its functions that are points.
    pub sync_functions: SyncFunctions,
    /// What is loaded into it.
    pub runtime: PathBuf,
    /// Where it runs.
    pub directory: PathBuf,
    /// What it reads.
    pub stdin: Stdin,
}

impl Tester {
    /// One campaign for the whole program.
    fn whole(&self, command: Vec<OsString>) -> Result<u8, Error> {
        let plan = self.plan(command);
        let campaign = self.campaign(&plan)?;
        let summary = Summary { plan: &plan, campaign: &campaign };
        self.print_summary(&summary, None);
        let status = status(&campaign);
        self.write_json(|| Report::new(&summary), status)
    }

    /// A campaign for each check that the program reaches, each in one process.
    fn checks(&self, command: &[OsString]) -> Result<u8, Error> {
        if self.options.check.is_some() || self.options.expect_output.is_some() {
            let what = "--check and --expect-output look at whole runs of a program, and the checks of this one make \
                        theirs in one process";
            return Err(OptionError::NotBuilt { what: what.to_string() }.into());
        }
        let mut statuses = Vec::new();
        let mut reports = Vec::new();
        let wanted = self.options.json.is_some();
        for number in 1.. {
            let mut plan = self.plan(command.to_vec());
            plan.check = Some(number);
            let explored = self.explore_check(&mut plan);
            let (wishes, campaign) = match explored {
                Ok(Some(explored)) => explored,
                Ok(None) if number == 1 => return Err(TargetError::CheckNotReached.into()),
                Ok(None) => break,
                // What earlier checks have shown is not lost.
                Err(error) if number > 1 => {
                    eprintln!("error: {error}");
                    statuses.push(exit_code::USAGE);
                    break;
                }
                Err(error) => return Err(error),
            };
            let summary = Summary { plan: &plan, campaign: &campaign };
            let name = wishes.name.unwrap_or_else(|| format!("check {number}"));
            self.print_summary(&summary, Some(&name));
            statuses.push(status(&campaign));
            reports.extend(wanted.then(|| TestReport { test: name, report: Report::new(&summary) }));
            if campaign.end == End::Interrupted {
                break;
            }
        }
        if let ([report], [status]) = (&reports[..], &statuses[..]) {
            return self.write_json(|| report, *status);
        }
        self.write_json(|| EachReport { version: 1, tests: reports }, worst(&statuses))
    }

    /// A campaign for the plan's check; `None`: the program does not reach it.
    fn explore_check(&self, plan: &mut Plan) -> Result<Option<(Wishes, Campaign)>, Error> {
        let Some(wishes) = campaign::survey(plan)? else { return Ok(None) };
        self.grant(&wishes, plan)?;
        can_check(plan)?;
        let campaign = self.campaign(plan)?;
        Ok(Some((wishes, campaign)))
    }

    /// Gives a check what it asks for, where the command line is silent.
    fn grant(&self, wishes: &Wishes, plan: &mut Plan) -> Result<(), Error> {
        if let Some(text) = wishes.policy.as_deref().filter(|_| !self.said.policy) {
            self.choose(options::policy(text, self.options.runtime.as_deref())?, plan);
        }
        if let Some(runs) = wishes.runs.filter(|_| !self.said.runs) {
            plan.runs = runs;
        }
        if let Some(seed) = wishes.seed.filter(|_| !self.said.seed) {
            plan.seed = seed;
        }
        if let Some(steps) = wishes.max_steps.filter(|_| !self.said.max_steps) {
            plan.max_steps = options::within("max-steps", steps, 1, MAX_DECISIONS)?;
        }
        Ok(())
    }

    /// A campaign for each test of the program.
    fn each_test(&self, command: &[OsString]) -> Result<u8, Error> {
        let name = || command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default();
        let tests = each_test::list(&self.program.path, &command[1..])?;
        let tests = tests.filter(|tests| !tests.is_empty()).ok_or_else(|| Error::NoTests { program: name() })?;
        let mut statuses = Vec::new();
        let mut reports = Vec::new();
        let wanted = self.options.json.is_some();
        for TestCase { name, arguments } in tests {
            let plan = self.plan_of_test(command[..1].iter().cloned().chain(arguments).collect())?;
            let campaign = self.campaign(&plan)?;
            let summary = Summary { plan: &plan, campaign: &campaign };
            self.print_summary(&summary, Some(&name));
            statuses.push(status(&campaign));
            reports.extend(wanted.then(|| TestReport { test: name, report: Report::new(&summary) }));
            if campaign.end == End::Interrupted {
                break;
            }
        }
        self.write_json(|| EachReport { version: 1, tests: reports }, worst(&statuses))
    }

    /// The plan for a program that was told to run one of its tests.
    pub fn plan_of_test(&self, command: Vec<OsString>) -> Result<Plan, Error> {
        let mut plan = self.plan(command);
        if self.program.checks {
            // A test without a check is a run of the whole program.
            plan.check = Some(1);
            match campaign::survey(&plan)? {
                Some(wishes) => {
                    self.grant(&wishes, &mut plan)?;
                    can_check(&plan)?;
                }
                None => plan.check = None,
            }
        }
        Ok(plan)
    }

    /// Explores, as planned.
    pub fn campaign(&self, plan: &Plan) -> Result<Campaign, Error> {
        let recorder = Recorder {
            out: self.options.out.clone(),
            environment: environment::recorded(&plan.target.environment, &self.options.env),
        };
        if self.options.verbose && plan.searches() && plan.jobs > 1 {
            eprintln!("note: {} makes one run after the other, in one job", plan.policy.descriptor.name);
        }
        let campaign = campaign::run(plan, Some(&recorder), !self.options.quiet, |_| {})?;
        if let End::Broken(error) = &campaign.end {
            // Before the first run there is nothing else to say; later no finding may be lost.
            if campaign.tally.runs == 0 {
                return Err(error.clone().into());
            }
            eprintln!("error: {error}");
        }
        Ok(campaign)
    }

    /// Gives a plan another policy, and the guard that goes with it.
    pub fn choose(&self, policy: PolicyChoice, plan: &mut Plan) {
        plan.guard = self.guard(&policy);
        plan.policy = policy;
    }

    /// The starvation guard for a policy. A search has its own rule for threads that wait busily, and would miss
    /// what chance decides.
    fn guard(&self, policy: &PolicyChoice) -> guard::Settings {
        match policy.descriptor.kind {
            Kind::Systematic => guard::Settings::OFF,
            _ => self.options.guard,
        }
    }

    fn plan(&self, command: Vec<OsString>) -> Plan {
        let options = &self.options;
        Plan {
            target: Target {
                program: self.program.clone(),
                executable: self.program.path.clone(),
                command,
                directory: self.directory.clone(),
                own_directory: options.own_cwd,
                environment: environment::for_test(&options.env),
                added: options.env.clone(),
                runtime: self.runtime.clone(),
                stdin: self.stdin.clone(),
            },
            policy: options.policy.clone(),
            guard: self.guard(&options.policy),
            seed: options.seed,
            points: options.points.unwrap_or_else(|| self.richest_points()),
            fail_on_race: options.fail_on_race.then(|| options.benign.clone()),
            realtime: now(),
            cpus: options.cpus,
            max_steps: options.max_steps,
            yields: options.yields,
            dispatch: options.dispatch,
            switch: options.switch,
            sync_functions: self.sync_functions.clone(),
            expect: Expectations {
                exit: options.expect_exit,
                output: options.expect_output.clone(),
                check: options.check.clone().map(OsString::from),
            },
            runs: options.runs,
            jobs: options.jobs,
            time: options.time,
            run_timeout: options.run_timeout,
            keep_going: options.keep_going,
            exec: options.exec,
            check: None,
            harness: 0,
            coverage: options.coverage,
            inspect: true,
            out: options.out.clone(),
            recording: None,
        }
    }

    /// All that the program offers and the policy can use.
    fn richest_points(&self) -> Points {
        let richest = self.program.richest_points();
        match self.options.policy.descriptor.kind {
            // Races are not told.
            Kind::Parallel => richest.min(Points::Atomic),
            _ => richest,
        }
    }

    fn print_summary(&self, summary: &Summary<'_>, test: Option<&str>) {
        let amount = match (self.options.quiet, self.options.verbose) {
            (true, _) => Amount::Quiet,
            (_, true) => Amount::Verbose,
            (false, false) => Amount::Normal,
        };
        let to_stderr = self.options.json.as_deref() == Some(Path::new("-"));
        let colors = if to_stderr { console::colors_enabled_stderr() } else { console::colors_enabled() };
        let mut text = text::summary(summary, amount, colors);
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
        match self.options.json.as_deref().map(|path| write_json(path, &report())) {
            Some(Err(error)) if status == exit_code::FAILURE => {
                eprintln!("error: {error}");
                Ok(status)
            }
            Some(Err(error)) => Err(error),
            None | Some(Ok(())) => Ok(status),
        }
    }
}

#[derive(serde::Serialize)]
struct EachReport {
    version: u32,
    tests: Vec<TestReport>,
}

#[derive(serde::Serialize)]
struct TestReport {
    test: String,
    #[serde(flatten)]
    report: Report,
}

/// The exit status of a campaign.
pub fn status(campaign: &Campaign) -> u8 {
    if !campaign.findings.is_empty() {
        return exit_code::FAILURE;
    }
    match &campaign.end {
        End::Broken(error) => error.exit_code(),
        _ if campaign.tally.nothing_controlled().is_some() => exit_code::NOTHING_CONTROLLED,
        _ => exit_code::OK,
    }
}

/// The exit status of several campaigns: a failure before all, then what is wrong with raddle or
/// the set-up. A test without threads among others that have some is no mistake.
pub fn worst(statuses: &[u8]) -> u8 {
    let order = [exit_code::FAILURE, exit_code::INTERNAL, exit_code::USAGE, exit_code::OK];
    order.into_iter().find(|status| statuses.contains(status)).unwrap_or(exit_code::NOTHING_CONTROLLED)
}

/// Whether the runs of a check can be made: they share a process, and threads must not outlive them.
fn can_check(plan: &Plan) -> Result<(), OptionError> {
    match plan.is_parallel() {
        true => Err(options::not_in_parallel(&plan.policy, "checks, whose runs share one process")),
        false => Ok(()),
    }
}

/// Whether races can be told in a program: what orders accesses must be seen.
pub fn can_tell_races(program: &Program) -> Result<(), OptionError> {
    let what = if program.language == Language::Rust && program.offers & offers::STD == 0 {
        "--fail-on race needs Rust's standard library to be instrumented, because what its channels, barriers and \
         reference counts order is not seen otherwise, and races would be reported that are none: build the program \
         with cargo raddle --std --memory"
    } else if program.offers & offers::MEMORY == 0 {
        "--fail-on race needs a program whose accesses are visible: build it with raddle cc, raddle c++ or cargo raddle \
         --memory"
    } else {
        return Ok(());
    };
    Err(OptionError::NotBuilt { what: what.to_string() })
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failing_test_fails_all() {
        use exit_code::{FAILURE, INTERNAL, NOTHING_CONTROLLED, OK};
        assert_eq!(worst(&[OK, FAILURE, INTERNAL]), FAILURE);
        assert_eq!(worst(&[OK, NOTHING_CONTROLLED]), OK);
        assert_eq!(worst(&[NOTHING_CONTROLLED]), NOTHING_CONTROLLED);
    }
}
