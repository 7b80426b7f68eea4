//! A program that is to be explored: looked at once, and then the subject of one or more campaigns.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use raddle_core::decorators::guard;
use raddle_core::policy::Kind;
use raddle_inspect::elf::{self, Language, Program, Refusal};
use raddle_protocol::hooks::offers;
use raddle_protocol::{Points, RunSettings};
use raddle_schedule::MAX_DECISIONS;

use crate::campaign;
use crate::each_test::{self, TestCase};
use crate::error::Error;
use crate::options::{self, not_in_parallel, within, Options};
use crate::plan::environment;
use crate::plan::policy_choice::PolicyChoice;
use crate::plan::sync_functions::SyncFunctions;
use crate::plan::{Plan, Target};
use crate::run::oracle;
use crate::run::report::CheckRequest;
use crate::runtime;

/// Finds the program of a command line and looks at it.
pub fn program(command: &[OsString]) -> Result<Program, Error> {
    let name = command.first().cloned().unwrap_or_default();
    let refused = |refusal| Error::Refused { program: name.to_string_lossy().into_owned(), refusal };
    let path = elf::find_in_path(&name).or_else(|| elf::find_here(&name));
    elf::inspect(&path.ok_or_else(|| refused(Refusal::NotFound))?).map_err(refused)
}

/// A program, and how it is to be explored.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What was asked for.
    pub options: Options,
    pub program: Program,
    /// The program and its arguments, as they were given.
    pub command: Vec<OsString>,
    /// Its functions that are schedule points.
    pub sync_functions: SyncFunctions,
    /// What is loaded into it.
    pub runtime: PathBuf,
    /// Where it runs.
    pub directory: PathBuf,
}

impl Subject {
    /// Looks at the program of a command.
    pub fn new(command: Vec<OsString>, options: Options) -> Result<Subject, Error> {
        let program = program(&command)?;
        Subject::of_program(program, command, options)
    }

    /// For a program that was looked at already.
    pub fn of_program(program: Program, command: Vec<OsString>, options: Options) -> Result<Subject, Error> {
        options.validate()?;
        if options.fail_on_race {
            can_tell_races(&program)?;
        }
        let directory = match &options.directory {
            Some(directory) => directory.clone(),
            None => std::env::current_dir().map_err(Error::Directory)?,
        };
        let sync_functions = SyncFunctions::find(&program.path, &options.sync_functions)?;
        let runtime = runtime::find(options.runtime.as_deref())?;
        if let Some(command) = options.oracle().filter(|_| !options.own_directory) {
            let shown = || command.to_string_lossy().into_owned();
            match oracle::look(command, &directory) {
                Ok(None) => {}
                Ok(Some(reason)) => return Err(Error::Oracle { command: shown(), reason }),
                Err(error) => return Err(Error::Oracle { command: shown(), reason: error.to_string() }),
            }
        }
        Ok(Subject { options, program, command, sync_functions, runtime, directory })
    }

    /// Whether the program has checks: tests that make their runs in one process.
    pub fn has_checks(&self) -> bool {
        self.program.checks
    }

    /// The plan for the program as a whole.
    pub fn plan(&self) -> Plan {
        self.plan_of(self.command.clone())
    }

    /// The plan for one of the program's checks, counted from 1, with what the check asks for; `None`: the program does
    /// not reach it, or `interrupted` said so.
    pub fn plan_of_check(
        &self,
        number: u32,
        interrupted: impl Fn() -> bool,
    ) -> Result<Option<(CheckRequest, Plan)>, Error> {
        if self.options.oracle().is_some() || self.options.expect.output.is_some() {
            let what = "--check and --expect-output judge whole runs of a program, but this program has checks, which \
                        make their runs in one process";
            return Err(Error::Excluded(what.to_string()));
        }
        let mut plan = self.plan();
        plan.check = Some(number);
        let Some(request) = campaign::survey(&plan, interrupted)? else { return Ok(None) };
        self.grant(&request, &mut plan)?;
        Ok(Some((request, plan)))
    }

    /// The tests of the program, if it is built with a test framework that lists them.
    pub fn tests(&self) -> Result<Vec<TestCase>, Error> {
        let name = || self.command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default();
        let tests = each_test::list(&self.program.path, self.command.get(1..).unwrap_or_default())?;
        tests.filter(|tests| !tests.is_empty()).ok_or_else(|| Error::NoTests { program: name() })
    }

    /// The plan for the program when it is told to run one of its tests.
    pub fn plan_of_test(&self, command: Vec<OsString>, interrupted: impl Fn() -> bool) -> Result<Plan, Error> {
        let mut plan = self.plan_of(command);
        if self.program.checks {
            // A test without a check is a run of the whole program.
            plan.check = Some(1);
            match campaign::survey(&plan, interrupted)? {
                Some(request) => self.grant(&request, &mut plan)?,
                None => plan.check = None,
            }
        }
        Ok(plan)
    }

    /// Gives a check what it asks for, where the options are silent.
    fn grant(&self, request: &CheckRequest, plan: &mut Plan) -> Result<(), Error> {
        let options = &self.options;
        if let Some(runs) = request.runs.filter(|_| options.runs.is_none()) {
            plan.runs = runs;
        }
        match request.policy.as_deref().filter(|_| options.policy.is_none()) {
            Some(text) => self.choose(options::policy(text, options.runtime.as_deref())?, plan),
            None => plan.resolve(),
        }
        if let Some(seed) = request.seed.filter(|_| !options.seed_given) {
            plan.settings.seed = seed;
        }
        if let Some(steps) = request.max_steps.filter(|_| options.max_steps.is_none()) {
            plan.settings.max_steps = within("max-steps", steps, 1, MAX_DECISIONS)?;
        }
        // The runs of a check share a process, and threads must not outlive them.
        match plan.is_parallel() {
            true => Err(not_in_parallel(&plan.policy, "checks, whose runs share one process")),
            false => Ok(()),
        }
    }

    /// Gives a plan another policy, and the guard that goes with it.
    pub fn choose(&self, policy: PolicyChoice, plan: &mut Plan) {
        plan.settings.guard = self.guard(&policy);
        plan.policy = policy;
        plan.resolve();
    }

    /// The starvation guard for a policy. A search has its own rule for threads that wait busily, and would miss
    /// what chance decides.
    fn guard(&self, policy: &PolicyChoice) -> guard::Settings {
        match policy.descriptor.kind {
            Kind::Systematic => guard::Settings::OFF,
            _ => self.options.guard,
        }
    }

    /// The level of schedule points: what was asked for, or all that the program offers and the policy can use.
    pub fn points(&self) -> Points {
        let richest = self.program.richest_points();
        self.options.points.unwrap_or(match self.options.policy().descriptor.kind {
            // Races are not told.
            Kind::Parallel => richest.min(Points::Atomic),
            _ => richest,
        })
    }

    fn plan_of(&self, command: Vec<OsString>) -> Plan {
        let options = &self.options;
        let policy = options.policy();
        let runs = options.runs();
        Plan {
            target: Target {
                program: self.program.clone(),
                executable: self.program.path.clone(),
                command,
                directory: self.directory.clone(),
                own_directory: options.own_directory,
                environment: environment::for_test(&options.env),
                added: options.env.clone(),
                kept: options.keep_env.clone(),
                runtime: self.runtime.clone(),
                stdin: options.stdin.clone(),
            },
            settings: RunSettings {
                policy: policy.clone().resolved(runs).settings(),
                guard: self.guard(&policy),
                seed: options.seed,
                points: self.points(),
                fail_on_race: options.fail_on_race,
                cpus: options.cpus,
                realtime: now(),
                max_steps: options.max_steps(),
                yields: options.yields,
                lag: options.lag,
                dispatch: options.dispatch,
                heap: options.heap,
            },
            policy,
            benign: options.fail_on_race.then(|| options.benign.clone()),
            switch: options.switch,
            sync_functions: self.sync_functions.clone(),
            look_at: None,
            expect: options.expect.clone(),
            runs,
            jobs: options.jobs,
            cores: options.cores.clone(),
            time: options.time,
            run_timeout: options.run_timeout,
            keep_going: options.keep_going,
            exec: options.exec,
            check: None,
            harness: 0,
            coverage: options.coverage,
            inspect: true,
            out: options.out.clone(),
            record: options.record,
            core_dumps: false,
            recording: None,
        }
    }
}

/// Whether races can be told in a program: what orders accesses must be seen.
pub fn can_tell_races(program: &Program) -> Result<(), Error> {
    let what = if program.language == Language::Rust && program.offers & offers::STD == 0 {
        "--fail-on race needs Rust's standard library to be instrumented, because raddle does not otherwise see what its \
         channels, barriers and reference counts order, and would report false races: build the program with \
         cargo raddle --std --memory"
    } else if program.offers & offers::MEMORY == 0 {
        "--fail-on race needs a program whose accesses are visible: build it with raddle cc, raddle c++ or cargo raddle \
         --memory"
    } else {
        return Ok(());
    };
    Err(Error::Excluded(what.to_string()))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(u64::MAX)
}
