//! From the options of the command line to those of the engine: checked, with their defaults.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_core::decorators::guard;
use raddle_core::policy::Kind;
use raddle_engine::options::{self, within, Options, RangeError};
use raddle_engine::plan::coverage::Coverage;
use raddle_engine::plan::stdin::Stdin;
use raddle_engine::plan::{suggest, Benign, Expectations, Switch};
use raddle_engine::replay::read_benign;
use raddle_protocol::{Heap, Points, RunSettings};

use super::{ProcessOptions, TestOptions};

/// What can be wrong with an option.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// The engine does not accept it.
    #[error(transparent)]
    Engine(#[from] raddle_engine::Error),
    /// A number outside of its range.
    #[error("--{0}")]
    Range(#[from] RangeError),
    /// A value that the option does not know.
    #[error("--{option} {value} is not known; {hint}")]
    Unknown {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What may have been meant.
        hint: String,
    },
    /// Something that does not go together with something else.
    #[error("{what}")]
    NotBuilt {
        /// What that is, and what to do.
        what: String,
    },
    /// `--env` without a name or a value.
    #[error("--env {0} is not an assignment: expected NAME=VALUE")]
    Environment(String),
    /// A variable that raddle sets itself.
    #[error("--env {0}: raddle sets this variable itself{1}")]
    ReservedVariable(String, &'static str),
    /// Two options that exclude each other.
    #[error("{0} and {1} exclude each other")]
    Conflict(&'static str, &'static str),
    /// The file of `--expect-output`.
    #[error("cannot read {path} (--expect-output): {source}")]
    ExpectedOutput {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that cannot be read, or says nothing that makes sense.
    #[error("{path} (--{option}) cannot be used: {reason}")]
    Unusable {
        /// The option.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The folder for schedules.
    #[error("schedules of failures cannot be written to {path}: {reason}; choose another folder with --out")]
    Out {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// How much is said, and where.
#[derive(Clone, Debug, Default)]
pub struct Verbosity {
    /// Where JSON goes.
    pub json: Option<PathBuf>,
    /// Print only failures.
    pub quiet: bool,
    /// Print more.
    pub verbose: bool,
}

/// Checked options.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Those of the engine.
    pub engine: Options,
    /// How much is said.
    pub verbosity: Verbosity,
    /// A campaign for each test.
    pub each_test: bool,
}

impl Resolved {
    /// Checks options and fills in the defaults.
    pub fn of(given: TestOptions) -> Result<Resolved, OptionError> {
        let run = given.run;
        if run.guard.is_some() && run.no_guard {
            return Err(OptionError::Conflict("--guard", "--no-guard"));
        }
        if given.quiet && given.verbose {
            return Err(OptionError::Conflict("--quiet", "--verbose"));
        }
        let process = Process::of(&run.process)?;
        let runtime = run.process.runtime;
        let policy = given.policy.as_deref().map(|text| options::policy(text, runtime.as_deref())).transpose()?;
        let parallel = policy.as_ref().filter(|policy| policy.descriptor.kind == Kind::Parallel);
        let out = check_out(given.out.unwrap_or_else(|| options::DEFAULT_OUT.into()))?;
        let engine = Options {
            runs: given
                .runs
                .map(|runs| within("runs", runs, 1, u64::MAX / 2))
                .transpose()
                .map_err(OptionError::from)?,
            seed: run.seed.unwrap_or_else(options::random_seed),
            seed_given: run.seed.is_some(),
            guard: guard_settings(run.guard, run.no_guard)?,
            points: run.points.as_deref().map(points).transpose()?,
            fail_on_race: fail_on(given.fail_on.as_deref())?,
            benign: benign(given.suppressions.as_deref())?,
            jobs: run.jobs.unwrap_or(1),
            cores: None,
            time: given.time.map(|seconds| duration("time", seconds)).transpose()?,
            run_timeout: process.run_timeout,
            max_steps: run.max_steps,
            yields: run.yields.unwrap_or(RunSettings::YIELDS),
            cpus: run.cpus.unwrap_or(RunSettings::CPUS),
            lag: run.lag.unwrap_or(RunSettings::LAG),
            dispatch: !run.no_dispatch,
            heap: run.heap.as_deref().map_or(Ok(Heap::Mixed), heap)?,
            coverage: run.coverage.map_or(Coverage::Some, Coverage::Every),
            out,
            record: true,
            keep_going: given.keep_going,
            exec: run.process.exec,
            switch: process.switch,
            expect: Expectations {
                exit: run.expect_exit.unwrap_or(0),
                signal: run.expect_signal.as_deref().map(options::signal).transpose()?,
                output: given.expect_output.map(read_expected).transpose()?,
                oracle: given.check.map(OsString::from),
            },
            sync_functions: given.sync_function,
            env: run.env.iter().map(|text| assignment(text)).collect::<Result<_, _>>()?,
            keep_env: given.keep_env,
            own_directory: given.own_cwd,
            directory: None,
            stdin: Stdin::Null,
            runtime,
            policy: policy.clone(),
        };
        if let Some(policy) = parallel.filter(|_| run.process.switch.as_deref() == Some("fiber")) {
            return Err(options::not_in_parallel(policy, "--switch fiber, which runs one thread at a time").into());
        }
        engine.validate().map_err(with_dashes)?;
        let verbosity = Verbosity { json: given.json, quiet: given.quiet, verbose: given.verbose };
        Ok(Resolved { engine, verbosity, each_test: given.each_test })
    }
}

/// The engine knows options by their names, a command line with dashes before them.
pub fn with_dashes(error: raddle_engine::Error) -> OptionError {
    match error {
        raddle_engine::Error::Range(range) => OptionError::Range(range),
        other => other.into(),
    }
}

/// How the processes of runs are made.
pub struct Process {
    /// When a run has failed.
    pub run_timeout: Duration,
    /// How threads are switched.
    pub switch: Switch,
}

impl Process {
    /// Checks options and fills in the defaults.
    pub fn of(given: &ProcessOptions) -> Result<Process, OptionError> {
        let limit = given.run_timeout.map(|seconds| duration("run-timeout", seconds)).transpose()?;
        let run_timeout = limit.unwrap_or(options::DEFAULT_RUN_TIMEOUT);
        Ok(Process { run_timeout, switch: switch(given.switch.as_deref())? })
    }
}

/// The level of schedule points with this name.
fn points(text: &str) -> Result<Points, OptionError> {
    Points::from_name(text).ok_or_else(|| OptionError::Unknown {
        option: "points",
        value: text.to_string(),
        hint: suggest::hint(text, &Points::ALL.map(Points::name)),
    })
}

/// What becomes of freed memory, by its name.
fn heap(text: &str) -> Result<Heap, OptionError> {
    Heap::from_name(text).ok_or_else(|| OptionError::Unknown {
        option: "heap",
        value: text.to_string(),
        hint: suggest::hint(text, &Heap::ALL.map(Heap::name)),
    })
}

/// Races to ignore.
fn benign(path: Option<&Path>) -> Result<Benign, OptionError> {
    let Some(path) = path else { return Ok(Benign::default()) };
    let benign = read_benign(path).map_err(|error| {
        let reason = match error {
            raddle_engine::Error::Unusable { reason, .. } => reason,
            other => other.to_string(),
        };
        OptionError::Unusable { option: "suppressions", path: path.to_path_buf(), reason }
    })?;
    for (line, text) in &benign.suppressions.ignored {
        eprintln!("note: {}, line {line}: {text} has no effect here", path.display());
    }
    Ok(benign)
}

/// Whether data races are failures.
fn fail_on(text: Option<&str>) -> Result<bool, OptionError> {
    match text {
        None => Ok(false),
        Some("race") => Ok(true),
        Some(other) => Err(OptionError::Unknown {
            option: "fail-on",
            value: other.to_string(),
            hint: suggest::hint(other, &["race"]),
        }),
    }
}

/// How threads are switched, by its name.
fn switch(text: Option<&str>) -> Result<Switch, OptionError> {
    match text {
        None | Some("fiber") => Ok(Switch::Fiber),
        Some("os") => Ok(Switch::Os),
        Some(other) => Err(OptionError::Unknown {
            option: "switch",
            value: other.to_string(),
            hint: suggest::hint(other, &["os", "fiber"]),
        }),
    }
}

/// Seconds of an option as a duration.
pub fn duration(option: &'static str, seconds: f64) -> Result<Duration, OptionError> {
    let valid = seconds > 0.0 && seconds <= 1e9;
    if valid {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let expected = "a number of seconds above 0".to_string();
    Err(RangeError { option, value: seconds.to_string(), expected }.into())
}

fn guard_settings(probability: Option<f64>, off: bool) -> Result<guard::Settings, OptionError> {
    match probability {
        _ if off => Ok(guard::Settings::OFF),
        None => Ok(guard::Settings::DEFAULT),
        Some(p) => {
            Ok(guard::Settings { override_probability: within("guard", p, 0.0, 1.0)?, ..guard::Settings::DEFAULT })
        }
    }
}

fn assignment(text: &str) -> Result<(String, String), OptionError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !text.contains('\0') => match name {
            "TMPDIR" => Err(OptionError::ReservedVariable(
                text.to_string(),
                ", a private directory per run; it makes these in its own TMPDIR",
            )),
            raddle_protocol::block::FD_VARIABLE => Err(OptionError::ReservedVariable(text.to_string(), "")),
            _ => Ok((name.to_string(), value.to_string())),
        },
        _ => Err(OptionError::Environment(text.to_string())),
    }
}

fn read_expected(path: PathBuf) -> Result<(PathBuf, Vec<u8>), OptionError> {
    match std::fs::read(&path) {
        Ok(bytes) => Ok((path, bytes)),
        Err(source) => Err(OptionError::ExpectedOutput { path, source }),
    }
}

/// Notices before the first run that the last one could not be stored; creates nothing.
fn check_out(path: PathBuf) -> Result<PathBuf, OptionError> {
    let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    let existing = absolute.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new("/"));
    let reason = if existing.is_dir() {
        match writable(existing) {
            Ok(()) => return Ok(path),
            Err(error) => error.to_string(),
        }
    } else {
        format!("{} is not a directory", existing.display())
    };
    Err(OptionError::Out { path, reason })
}

fn writable(folder: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: the path is a valid C string.
    raddle_engine::os::sys::errno(unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut TestOptions)) -> String {
        let mut given = TestOptions::default();
        change(&mut given);
        Resolved::of(given).expect_err("is wrong").to_string()
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let options = Resolved::of(TestOptions::default()).expect("is right").engine;
        assert_eq!(options.runs(), 1000);
        assert_eq!(options.policy().to_string(), "portfolio");
        assert_eq!(options.out, Path::new(".raddle"));
        assert_eq!((options.jobs, options.cpus, options.expect.exit), (1, 4, 0));
    }

    #[test]
    fn senseless_numbers_are_errors() {
        assert_eq!(
            error(|o| o.runs = Some(0)),
            format!("--runs 0 is not valid: expected a number from 1 to {}", u64::MAX / 2)
        );
        assert_eq!(error(|o| o.run.jobs = Some(0)), "--jobs 0 is not valid: expected a number from 1 to 1024");
        assert_eq!(error(|o| o.run.guard = Some(2.0)), "--guard 2 is not valid: expected a number from 0 to 1");
        assert_eq!(error(|o| o.time = Some(f64::NAN)), "--time NaN is not valid: expected a number of seconds above 0");
    }

    #[test]
    fn what_is_not_built_says_so() {
        assert_eq!(
            error(|o| o.run.points = Some("atomics".into())),
            "--points atomics is not known; did you mean `atomic`?"
        );
    }

    #[test]
    fn what_parallel_threads_exclude_says_so() {
        let parallel = |change: fn(&mut TestOptions)| {
            error(|o| {
                o.policy = Some("ppct:d=2".into());
                change(o);
            })
        };
        assert_eq!(
            parallel(|o| o.fail_on = Some("race".into())),
            "the policy `ppct` runs threads in parallel and excludes --fail-on race: it cannot be known which access \
             comes first; choose another"
        );
        assert!(parallel(|o| o.run.points = Some("race".into())).contains("excludes --points race"));
        assert!(parallel(|o| o.run.process.switch = Some("fiber".into())).contains("excludes --switch fiber"));
    }

    #[test]
    fn a_bad_output_folder_is_noticed_early() {
        let message = error(|o| o.out = Some("/proc/version/here".into()));
        assert_eq!(
            message,
            "schedules of failures cannot be written to /proc/version/here: \
             /proc/version is not a directory; choose another folder with --out"
        );
    }

    #[test]
    fn environment_needs_a_name_and_a_value() {
        assert_eq!(error(|o| o.run.env = vec!["PATH".into()]), "--env PATH is not an assignment: expected NAME=VALUE");
        assert!(error(|o| o.run.env = vec!["TMPDIR=/x".into()]).contains("raddle sets this variable itself"));
    }

    #[test]
    fn a_missing_expected_output_is_an_error() {
        let message = error(|o| o.expect_output = Some("/no/such/file".into()));
        assert!(message.starts_with("cannot read /no/such/file (--expect-output)"), "{message}");
    }
}
