//! `raddle replay`: runs one recorded schedule again.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use raddle_core::block::{Stacks, STACKS};
use raddle_core::schedule::{self, Schedule};
use raddle_core::MAX_THREADS;

use super::bundle::{self, Opened};
use super::{print, program, write_json};
use crate::args;
use crate::campaign::output::Output;
use crate::campaign::plan::{Expectations, Plan, Recording, Target};
use crate::campaign::races::Place;
use crate::campaign::stdin::{self, Stdin};
use crate::campaign::worth::Coverage;
use crate::campaign::{self, End};
use crate::environment;
use crate::error::Error;
use crate::inspect::elf::{self, Program};
use crate::options::{self, Switch, DEFAULT_YIELDS};
use crate::policy_choice::PolicyChoice;
use crate::report::replay::{self, Replayed};
use crate::runtime_library;
use crate::sync_functions::SyncFunctions;

/// Runs the command.
pub fn run(args: &args::Replay) -> Result<u8, Error> {
    // Paths on the command line are relative to the directory that we are about to leave.
    let json = args.json.as_deref().map(outside);
    let runtime = runtime_library::find(args.runtime.as_deref())?;
    let bundle = bundle::open(&args.schedule)?;
    let file = outside(bundle.as_ref().map_or(&args.schedule, |bundle| &bundle.schedule));
    let recorded = read(&file)?;
    let replacement = if args.command.is_empty() { None } else { Some(replacement(&args.command)?) };
    let directory = enter(&recorded);
    let (program, executable, command) = match (replacement, &bundle) {
        (Some(program), _) => {
            let executable = program.path.clone();
            (program, executable, args.command.clone())
        }
        (None, Some(bundle)) => bundled(bundle, &recorded)?,
        (None, None) => {
            let command = words(&recorded);
            let program = program(&command)?;
            let executable = program.path.clone();
            (program, executable, command)
        }
    };
    let same_build = program.build_id.as_deref() == Some(recorded.build_id.as_str());
    if !same_build {
        eprintln!("warning: {}", changed(&program, &recorded));
    }
    let target = Target {
        program,
        executable,
        command,
        directory,
        own_directory: recorded.own_directory,
        environment: environment::for_replay(&recorded.environment),
        added: Vec::new(),
        runtime,
        stdin: input(&recorded, &file)?,
    };
    let plan = plan(args, &recorded, &file, target)?;
    let to_stderr = json.as_deref() == Some(Path::new("-"));
    let campaign = campaign::run(&plan, None, !args.quiet && args.runs > 1, |output| {
        if !args.quiet {
            show_output(output, to_stderr);
        }
    })?;
    if let End::Broken(error) = campaign.end {
        return Err(error.into());
    }
    let replayed = Replayed::new(&recorded, &campaign, same_build);
    let text = replay::text(&replayed, args.quiet);
    if to_stderr {
        eprint!("{text}");
    } else {
        print(&text);
    }
    if let Some(path) = json {
        write_json(&path, &replay::Report::new(&replayed, &plan, &args.schedule))?;
    }
    Ok(replayed.status())
}

/// An absolute path; `-` stays what it is.
fn outside(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return path.to_path_buf();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn read(file: &Path) -> Result<Schedule, Error> {
    let bytes = std::fs::read(file).map_err(|source| Error::Read { path: file.to_path_buf(), source })?;
    schedule::parse(&bytes).map_err(|source| Error::Schedule { path: file.to_path_buf(), source })
}

/// Goes where the recorded command was run, if that is still there.
fn enter(recorded: &Schedule) -> PathBuf {
    let directory = PathBuf::from(OsString::from_vec(recorded.directory.clone()));
    if let Err(error) = std::env::set_current_dir(&directory) {
        eprintln!(
            "warning: the recorded directory {} cannot be used ({error}); the program runs in this one",
            directory.display()
        );
        return std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    }
    directory
}

/// The recorded command.
fn words(recorded: &Schedule) -> Vec<OsString> {
    recorded.command.iter().cloned().map(OsString::from_vec).collect()
}

/// A program that replaces the recorded one.
fn replacement(command: &[OsString]) -> Result<Program, Error> {
    let program = program(command)?;
    Ok(Program { path: outside(&program.path), ..program })
}

/// The program of a bundle, the file to execute, and the command line that runs it.
fn bundled(bundle: &Opened, recorded: &Schedule) -> Result<(Program, PathBuf, Vec<OsString>), Error> {
    for difference in bundle.differences() {
        eprintln!("warning: {difference}; the replay may diverge");
    }
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
        schedule::Stdin::Null => return Ok(Stdin::Null),
        schedule::Stdin::Bytes(bytes) => return Stdin::from_bytes(bytes).map_err(Error::Stdin),
        schedule::Stdin::File(path) => PathBuf::from(OsString::from_vec(path.clone())),
        schedule::Stdin::Beside(name) => file.with_file_name(OsString::from_vec(name.clone())),
    };
    let failed = |source| Error::Read { path: path.clone(), source };
    if stdin::fits(&path) {
        std::fs::File::open(&path).map_err(failed)?;
        return Ok(Stdin::File(path));
    }
    let bytes = std::fs::read(&path).map_err(failed)?;
    Stdin::from_bytes(&bytes).map_err(Error::Stdin)
}

fn plan(args: &args::Replay, recorded: &Schedule, file: &Path, target: Target) -> Result<Plan, Error> {
    let policy = PolicyChoice::from_recording(&recorded.policy, &recorded.parameters)
        .map_err(|source| Error::SchedulePolicy { path: file.to_path_buf(), source })?;
    let not_replayable = |reason| Error::NotReplayable { path: file.to_path_buf(), reason };
    let points = options::points(&recorded.points).map_err(|error| not_replayable(error.to_string()))?;
    if args.runs == 0 {
        return Err(not_replayable("--runs 0 makes no sense: expected at least 1".to_string()));
    }
    let output = match &recorded.expect.output {
        None => None,
        Some(path) => {
            let path = PathBuf::from(OsString::from_vec(path.clone()));
            let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
            Some((path, bytes))
        }
    };
    let suppressions = recorded.suppressions.clone().map(|path| PathBuf::from(OsString::from_vec(path)));
    let benign = options::benign(suppressions.as_deref())?;
    let sync_functions = SyncFunctions::find(&target.program.path, &recorded.sync_functions)?;
    Ok(Plan {
        target,
        policy,
        guard: recorded.guard,
        seed: recorded.seed,
        points,
        fail_on_race: recorded.fail_on_race.then_some(benign),
        realtime: recorded.realtime,
        cpus: recorded.cpus,
        max_steps: recorded.max_steps,
        yields: DEFAULT_YIELDS,
        dispatch: recorded.dispatch,
        switch: Switch::parse(args.switch.as_deref())?,
        sync_functions,
        expect: Expectations {
            exit: recorded.expect.exit,
            output,
            check: recorded.expect.check.clone().map(OsString::from_vec),
        },
        runs: args.runs,
        jobs: 1,
        time: None,
        run_timeout: options::duration("run-timeout", args.run_timeout)?,
        keep_going: true,
        exec: args.exec,
        check: (recorded.check != 0).then_some(recorded.check),
        harness: 0,
        coverage: Coverage::Every(0),
        inspect: true,
        out: PathBuf::new(),
        recording: Some(Recording {
            decisions: recorded.decisions.clone(),
            every: false,
            run_seed: recorded.run_seed,
            profile: recorded.profile,
            stacks: stacks(&recorded.identities),
            places: places(&recorded.racing),
        }),
    })
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

/// Shows what the last run printed.
fn show_output(output: &Output, to_stderr: bool) {
    let stdout = output.stdout.read().unwrap_or_default();
    let stderr = output.stderr.read().unwrap_or_default();
    // A reader that has gone away is no error.
    let _ = match to_stderr {
        true => std::io::stderr().write_all(&stdout),
        false => std::io::stdout().write_all(&stdout),
    };
    let _ = std::io::stderr().write_all(&stderr);
}
