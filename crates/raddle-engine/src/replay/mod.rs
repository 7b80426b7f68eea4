//! A recorded schedule, made ready to run again, and what came of it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_core::{Decision, MAX_THREADS};
use raddle_inspect::elf::{self, Program, Refusal};
use raddle_protocol::settings::STACKS;
use raddle_protocol::Stacks;
use raddle_report::replay::{
    Decision as DecisionReport, Divergence as DivergenceReport, ReplayReport, ReplayedFailure,
};
use raddle_report::{exit_code, FailureKind};
use raddle_schedule::Schedule;

use crate::bundle::{self, Opened};
use crate::campaign::{Finding, Outcome};
use crate::error::Error;
use crate::options::within;
use crate::plan::circumstances;
use crate::plan::coverage::Coverage;
use crate::plan::environment;
use crate::plan::place::Place;
use crate::plan::policy_choice::PolicyChoice;
use crate::plan::stdin::{self, Stdin};
use crate::plan::suppressions::Suppressions;
use crate::plan::sync_functions::{self, SyncFunctions};
use crate::plan::{Benign, Expectations, LookAt, Plan, Recording, Switch, Target};
use crate::runtime;

/// How a schedule is to be run again.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// How often.
    pub runs: u64,
    /// When a run has failed, by the wall clock.
    pub run_timeout: Duration,
    /// How threads are switched.
    pub switch: Switch,
    /// Start the program anew for each run.
    pub exec: bool,
    /// The runtime library; `None`: raddle's own.
    pub runtime: Option<PathBuf>,
    /// A program and its arguments in place of the recorded ones; empty: the recorded ones.
    pub command: Vec<OsString>,
    /// Variables that are not as they were recorded make no difference.
    pub any_environment: bool,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            runs: 1,
            run_timeout: crate::options::DEFAULT_RUN_TIMEOUT,
            switch: Switch::Fiber,
            exec: false,
            runtime: None,
            command: Vec::new(),
            any_environment: false,
        }
    }
}

/// A schedule that can be run again.
#[derive(Debug)]
pub struct Replay {
    /// What is to be done.
    pub plan: Plan,
    /// What was recorded.
    pub recorded: Schedule,
    /// Whether the program is the build that was recorded.
    pub same_build: bool,
    /// What is different here and may make the replay diverge, in words.
    pub warnings: Vec<String>,
    /// What is different here besides the program, in words: if the failure does not happen, this may be why.
    pub differences: Vec<String>,
    /// The files of a bundle live as long as this does.
    _bundle: Option<Opened>,
}

impl Replay {
    /// Opens a schedule file or a bundle.
    pub fn open(path: &Path, options: &ReplayOptions) -> Result<Replay, Error> {
        within("runs", options.runs, 1, u64::MAX / 2)?;
        let runtime = runtime::find(options.runtime.as_deref())?;
        check_file(path)?;
        let bundle = bundle::open(path)?;
        let file = absolute(bundle.as_ref().map_or(path, |bundle| &bundle.schedule));
        let recorded = read(&file)?;
        let mut warnings = Vec::new();
        let directory = directory(&recorded, &mut warnings)?;
        let (program, executable, command) = match (&options.command[..], &bundle) {
            ([_, ..], _) => {
                let program = crate::subject::program(&options.command)?;
                let program = Program { path: absolute(&program.path), ..program };
                (program.clone(), program.path, options.command.clone())
            }
            ([], Some(bundle)) => bundled(bundle, &recorded, &mut warnings)?,
            ([], None) => {
                let command = words(&recorded);
                let program = recorded_program(&command, &directory)?;
                (program.clone(), program.path, command)
            }
        };
        let mut differences = warnings.clone();
        let same_build = program.build_id.as_deref() == Some(recorded.build_id.as_str());
        if !same_build {
            warnings.push(changed(&program, &recorded));
        }
        let target = Target {
            program,
            executable,
            command,
            directory,
            own_directory: recorded.own_directory,
            environment: environment::for_replay(&recorded.environment),
            added: Vec::new(),
            kept: Vec::new(),
            runtime,
            stdin: input(&recorded, &file)?,
        };
        if !options.any_environment {
            differences.extend(circumstances::different_variables(&target.environment, &recorded));
        }
        differences.extend(circumstances::different_files(&target.directory, &recorded, bundle.is_some()));
        let plan = plan(options, &recorded, &file, target)?;
        Ok(Replay { plan, recorded, same_build, warnings, differences, _bundle: bundle })
    }

    /// Compares the failures of the replay with the recorded one.
    pub fn compare<'a>(&'a self, outcome: &'a Outcome) -> Replayed<'a> {
        let mut replayed = Replayed { replay: self, outcome, again: 0, different: 0 };
        // In one run there may be other races beside the recorded one, and in another build two that look like it.
        let again = outcome.findings.iter().filter(|finding| replayed.is_recorded(finding)).map(|f| f.count).sum();
        let failing = outcome.tally.failing_runs;
        replayed.again = failing.min(again);
        replayed.different = failing - replayed.again;
        replayed
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Whether there is a file at all.
fn check_file(path: &Path) -> Result<(), Error> {
    let no_schedule = |what| Error::NoSchedule { path: path.to_path_buf(), what };
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(no_schedule("it is a folder")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(no_schedule("there is no such file")),
        Err(source) => Err(Error::Read { path: path.to_path_buf(), source }),
    }
}

/// Reads a schedule file.
pub fn read(file: &Path) -> Result<Schedule, Error> {
    let bytes = std::fs::read(file).map_err(|source| Error::Read { path: file.to_path_buf(), source })?;
    raddle_schedule::parse(&bytes).map_err(|source| Error::Schedule { path: file.to_path_buf(), source })
}

/// Where the recorded command was run, if that is still there.
fn directory(recorded: &Schedule, warnings: &mut Vec<String>) -> Result<PathBuf, Error> {
    let directory = PathBuf::from(OsString::from_vec(recorded.directory.clone()));
    // Reading it says why it cannot be used.
    if let Err(error) = std::fs::read_dir(&directory) {
        warnings.push(format!(
            "the recorded directory {} cannot be used ({error}); the program runs in this one",
            directory.display()
        ));
        return std::env::current_dir().map_err(Error::Directory);
    }
    Ok(directory)
}

fn words(recorded: &Schedule) -> Vec<OsString> {
    recorded.command.iter().cloned().map(OsString::from_vec).collect()
}

/// The program of the recorded command, which may be named relative to the recorded directory.
fn recorded_program(command: &[OsString], directory: &Path) -> Result<Program, Error> {
    let name = command.first().map_or(OsStr::new(""), |name| name);
    let refused = |refusal| Error::Refused { program: name.to_string_lossy().into_owned(), refusal };
    let path = match name.as_bytes().contains(&b'/') {
        true => elf::find_in_path(directory.join(name).as_os_str()),
        false => elf::find_in_path(name),
    };
    elf::inspect(&path.ok_or_else(|| refused(Refusal::NotFound))?).map_err(refused)
}

/// The program of a bundle, the file to execute, and the command line that runs it.
fn bundled(
    bundle: &Opened,
    recorded: &Schedule,
    warnings: &mut Vec<String>,
) -> Result<(Program, PathBuf, Vec<OsString>), Error> {
    let differences = bundle.differences().into_iter();
    warnings.extend(differences.map(|difference| format!("{difference}; the replay may diverge")));
    let refused = |refusal| Error::Refused { program: bundle.program.display().to_string(), refusal };
    let program = elf::inspect(&bundle.program).map_err(refused)?;
    let words = words(recorded);
    // invariant: a schedule file without a program in its command is refused by the parser.
    let (executable, command) = bundle.command(&words[0], &words[1..]);
    Ok((Program { preload_first: bundle.preload_first(), ..program }, executable, command))
}

fn changed(program: &Program, recorded: &Schedule) -> String {
    format!(
        "the program has changed since the recording: build-id {}, recorded {}; the replay may diverge",
        program.build_id.as_deref().unwrap_or("unknown"),
        recorded.build_id
    )
}

/// What the recorded run could read.
fn input(recorded: &Schedule, file: &Path) -> Result<Stdin, Error> {
    let path = match &recorded.stdin {
        raddle_schedule::Stdin::Null => return Ok(Stdin::Null),
        raddle_schedule::Stdin::Bytes(bytes) => return Stdin::from_bytes(bytes).map_err(Error::Stdin),
        raddle_schedule::Stdin::File(path) => PathBuf::from(OsString::from_vec(path.clone())),
        raddle_schedule::Stdin::Beside(name) => file.with_file_name(OsString::from_vec(name.clone())),
    };
    let failed = |source| Error::Read { path: path.clone(), source };
    if stdin::fits(&path) {
        std::fs::File::open(&path).map_err(failed)?;
        return Ok(Stdin::File(path));
    }
    let bytes = std::fs::read(&path).map_err(failed)?;
    Stdin::from_bytes(&bytes).map_err(Error::Stdin)
}

fn plan(options: &ReplayOptions, recorded: &Schedule, file: &Path, target: Target) -> Result<Plan, Error> {
    let policy = PolicyChoice::from_recording(&recorded.settings.policy)
        .map_err(|source| Error::SchedulePolicy { path: file.to_path_buf(), source })?;
    let output = match &recorded.expect.output {
        None => None,
        Some(path) => {
            let path = PathBuf::from(OsString::from_vec(path.clone()));
            let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
            Some((path, bytes))
        }
    };
    let suppressions = recorded.suppressions.clone().map(|path| PathBuf::from(OsString::from_vec(path)));
    let benign = suppressions.as_deref().map_or(Ok(Benign::default()), read_benign)?;
    let sync_functions = SyncFunctions::find(&target.program.path, &recorded.sync_functions)?;
    // A panic has unwound the stack when its run ends. In a check the program's text is that of many runs.
    let panics = recorded.failure.kind == FailureKind::Assert.name() && recorded.check == 0;
    let look_at = panics.then(|| sync_functions::panic(&target.program.path)).flatten().map(LookAt::Call);
    Ok(Plan {
        target,
        settings: recorded.settings,
        policy,
        benign: recorded.settings.fail_on_race.then_some(benign),
        switch: options.switch,
        sync_functions,
        look_at,
        expect: Expectations {
            exit: recorded.expect.exit,
            signal: Some(recorded.expect.signal).filter(|&signal| signal != 0),
            output,
            oracle: recorded.expect.check.clone().map(OsString::from_vec),
        },
        runs: options.runs,
        jobs: 1,
        cores: None,
        time: None,
        run_timeout: options.run_timeout,
        keep_going: true,
        exec: options.exec,
        check: (recorded.check != 0).then_some(recorded.check),
        harness: 0,
        coverage: Coverage::Every(0),
        inspect: true,
        out: PathBuf::new(),
        record: false,
        // One is what a debugger needs; a campaign would fill a disk.
        core_dumps: options.runs == 1,
        recording: Some(Recording {
            decisions: recorded.decisions.clone(),
            every: false,
            run_seed: recorded.run_seed,
            fair_from: recorded.fair_from,
            delays: recorded.delays.iter().map(|late| late.delay).collect(),
            profile: recorded.profile,
            stacks: stacks(&recorded.identities),
            places: places(&recorded.racing),
        }),
    })
}

/// The races that a file says are to be ignored.
pub fn read_benign(path: &Path) -> Result<Benign, Error> {
    let failed = |reason: String| Error::Unusable { path: path.to_path_buf(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let suppressions = Suppressions::parse(&text).map_err(|error| failed(error.to_string()))?;
    Ok(Benign { path: Some(path.to_path_buf()), suppressions })
}

/// Places that were known to race.
fn places(racing: &[(Vec<u8>, u64)]) -> Vec<Place> {
    let place = |(file, address): &(Vec<u8>, u64)| Place {
        file: String::from_utf8_lossy(file).into_owned(),
        address: *address,
    };
    racing.iter().map(place).collect()
}

/// Identities that were ready, as the block has them.
fn stacks(identities: &[[u64; 3]]) -> [Stacks; STACKS] {
    let mut stacks = [Stacks::default(); STACKS];
    for (to, &[size, guard, count]) in stacks.iter_mut().zip(identities) {
        *to = Stacks { size, guard: guard as u32, count: count.min(MAX_THREADS as u64) as u32 };
    }
    stacks
}

/// A replay that is over.
pub struct Replayed<'a> {
    /// What was replayed.
    pub replay: &'a Replay,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// Runs with the recorded failure.
    pub again: u64,
    /// Runs with another one.
    pub different: u64,
}

impl Replayed<'_> {
    /// Whether a failure is the recorded one.
    pub fn is_recorded(&self, finding: &Finding) -> bool {
        let (recorded, found) = (&self.replay.recorded.failure, &finding.failure);
        let same_place = if self.replay.same_build {
            recorded.place == found.place
        } else {
            // In another build the same code has moved.
            without_numbers(&recorded.place) == without_numbers(&found.place)
        };
        recorded.kind == found.kind.name() && same_place
    }

    /// The exit status that says so.
    pub fn status(&self) -> u8 {
        if self.again > 0 {
            exit_code::FAILURE
        } else if self.outcome.tally.diverged_runs > 0 {
            exit_code::DIVERGED
        } else if self.outcome.tally.runs == 0 {
            exit_code::NOTHING_CONTROLLED
        } else if !self.replay.differences.is_empty() {
            // It may be there still: this is not what was recorded.
            exit_code::DIVERGED
        } else {
            exit_code::OK
        }
    }

    /// The recorded failure for a person.
    pub fn title(&self) -> &str {
        let kind = &self.replay.recorded.failure.kind;
        FailureKind::from_name(kind).map_or(kind.as_str(), |kind| kind.title())
    }

    /// The replay for other tools.
    pub fn report(&self, schedule: &Path) -> ReplayReport {
        let decision = |packed| DecisionReport {
            thread: Decision(packed).thread().0,
            event: Decision(packed).kind().map(|kind| kind.name().to_string()),
        };
        let (outcome, target) = (self.outcome, &self.replay.plan.target);
        ReplayReport {
            version: raddle_report::VERSION,
            schedule: schedule.display().to_string(),
            command: target.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            kind: self.replay.recorded.failure.kind.clone(),
            runs: outcome.tally.runs,
            happened_again: self.again,
            different_failures: self.different,
            diverged: outcome.tally.diverged_runs,
            divergence: outcome.divergence.as_ref().map(|(_, divergence)| DivergenceReport {
                step: divergence.step,
                expected: divergence.expected.map(decision),
                found: decision(divergence.found),
                enabled: divergence.enabled,
            }),
            same_build: self.replay.same_build,
            differences: self.replay.differences.clone(),
            seconds: outcome.seconds,
            failures: outcome.findings.iter().map(|finding| self.failure(finding)).collect(),
        }
    }

    fn failure(&self, finding: &Finding) -> ReplayedFailure {
        ReplayedFailure {
            kind: finding.failure.kind.name().to_string(),
            message: finding.failure.message.clone(),
            place: finding.failure.place.clone(),
            count: finding.count,
            step: finding.failure.step,
            recorded: self.is_recorded(finding),
        }
    }
}

/// A place without line numbers.
fn without_numbers(place: &str) -> String {
    let mut text = String::new();
    let mut parts = place.split(':');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        text.push(':');
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_another_build_is_compared_without_lines() {
        assert_eq!(without_numbers("lock in a (x.c:12); lock in b (x.c:7)"), "lock in a (x.c:); lock in b (x.c:)");
        assert_eq!(without_numbers("a::b (x.rs:1)"), "a::b (x.rs:)");
    }
}
