//! The options of `raddle test`, checked and with their defaults.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_core::block::Points;
use raddle_core::decorators::guard;
use raddle_core::policy::Kind;
use raddle_core::schedule::MAX_DECISIONS;

use crate::args::TestOptions;
use crate::campaign::plan::Benign;
use crate::campaign::worth::Coverage;
use crate::own_policies::{self, OwnPoliciesError};
use crate::policy_choice::{PolicyChoice, PolicyError};
use crate::suggest;
use crate::suppressions::Suppressions;

/// Runs of a campaign when none are asked for.
pub const DEFAULT_RUNS: u64 = 1_000;
/// The policy when none is asked for.
pub const DEFAULT_POLICY: &str = "portfolio";
/// Steps after which a run is cut.
pub const DEFAULT_MAX_STEPS: u64 = 1_000_000;
/// When an OS thread that sleeps in the kernel counts as blocked, when nothing is said.
pub const DEFAULT_YIELDS: u32 = 10;
/// Seconds after which a run has failed.
pub const DEFAULT_RUN_TIMEOUT: f64 = 10.0;
/// CPUs that a program is told of.
pub const DEFAULT_CPUS: u32 = 4;
/// Where schedules go.
pub const DEFAULT_OUT: &str = ".raddle";
/// The most jobs that make sense: each is a process with a core of its own.
const MAX_JOBS: usize = 1024;

/// What can be wrong with an option.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// See [`PolicyError`].
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy may be one of the runtime's own, but the runtime does not say which it has.
    #[error("{unknown}; {source}")]
    OwnPolicy {
        /// What is known without the runtime.
        unknown: PolicyError,
        /// Why the runtime does not say.
        source: Box<OwnPoliciesError>,
    },
    /// A number outside of its range.
    #[error("--{option} {value} makes no sense: expected {expected}")]
    Range {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: String,
    },
    /// A word that is none of those that the option knows.
    #[error("--{option} {value} is not known; {hint}")]
    Unknown {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What may have been meant.
        hint: String,
    },
    /// Something that is planned but not there.
    #[error("{what}")]
    NotBuilt {
        /// What is missing and what is there instead.
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

/// The level of schedule points with this name.
pub fn points(text: &str) -> Result<Points, OptionError> {
    Points::from_name(text).ok_or_else(|| OptionError::Unknown {
        option: "points",
        value: text.to_string(),
        hint: suggest::hint(text, &Points::ALL.map(Points::name)),
    })
}

/// Races that are none.
pub fn benign(path: Option<&Path>) -> Result<Benign, OptionError> {
    let Some(path) = path else { return Ok(Benign::default()) };
    let failed = |reason: String| OptionError::Unusable { option: "suppressions", path: path.to_path_buf(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let suppressions = Suppressions::parse(&text).map_err(|error| failed(error.to_string()))?;
    for (line, text) in &suppressions.ignored {
        eprintln!("note: {}, line {line}: {text} has no effect here", path.display());
    }
    Ok(Benign { path: Some(path.to_path_buf()), suppressions })
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

/// Checked options.
#[derive(Clone, Debug)]
pub struct Options {
    /// The policy.
    pub policy: PolicyChoice,
    /// The starvation guard.
    pub guard: guard::Settings,
    /// How many runs.
    pub runs: u64,
    /// The campaign's seed.
    pub seed: u64,
    /// What is a schedule point; `None`: all that the program offers.
    pub points: Option<Points>,
    /// Whether a data race is a failure.
    pub fail_on_race: bool,
    /// Races that are none.
    pub benign: Benign,
    /// How many runs at once.
    pub jobs: usize,
    /// When to stop exploring.
    pub time: Option<Duration>,
    /// When a run has failed.
    pub run_timeout: Duration,
    /// When a run is cut.
    pub max_steps: u64,
    /// When an OS thread that sleeps in the kernel counts as blocked.
    pub yields: u32,
    /// Which runs are sampled for ordered pairs of events.
    pub coverage: Coverage,
    /// Where schedules go.
    pub out: PathBuf,
    /// Where JSON goes.
    pub json: Option<PathBuf>,
    /// Print only failures.
    pub quiet: bool,
    /// Print more.
    pub verbose: bool,
    /// Go on after a failure.
    pub keep_going: bool,
    /// No fork server.
    pub exec: bool,
    /// The exit status of a good run.
    pub expect_exit: i32,
    /// The output of a good run, and the file that it comes from.
    pub expect_output: Option<(PathBuf, Vec<u8>)>,
    /// The user's check.
    pub check: Option<String>,
    /// Functions whose calls are points.
    pub sync_functions: Vec<String>,
    /// What the program is told.
    pub cpus: u32,
    /// Variables for the program.
    pub env: Vec<(String, String)>,
    /// A working directory for each run.
    pub own_cwd: bool,
    /// A campaign for each test.
    pub each_test: bool,
    /// Trap system calls outside of libc's functions.
    pub dispatch: bool,
    /// How threads are switched.
    pub switch: Switch,
    /// The runtime library.
    pub runtime: Option<PathBuf>,
}

impl Options {
    /// Checks options and fills in the defaults.
    pub fn resolve(given: TestOptions) -> Result<Options, OptionError> {
        if given.guard.is_some() && given.no_guard {
            return Err(OptionError::Conflict("--guard", "--no-guard"));
        }
        if given.quiet && given.verbose {
            return Err(OptionError::Conflict("--quiet", "--verbose"));
        }
        let wants_fibers = given.switch.as_deref() == Some("fiber");
        let options = Options {
            policy: policy(given.policy.as_deref().unwrap_or(DEFAULT_POLICY), given.runtime.as_deref())?,
            guard: guard_settings(given.guard, given.no_guard)?,
            runs: within("runs", given.runs.unwrap_or(DEFAULT_RUNS), 1, u64::MAX / 2)?,
            seed: given.seed.unwrap_or_else(random_seed),
            points: given.points.as_deref().map(points).transpose()?,
            fail_on_race: fail_on(given.fail_on.as_deref())?,
            benign: benign(given.suppressions.as_deref())?,
            jobs: within("jobs", given.jobs.unwrap_or(1), 1, MAX_JOBS)?,
            time: given.time.map(|seconds| duration("time", seconds)).transpose()?,
            run_timeout: duration("run-timeout", given.run_timeout.unwrap_or(DEFAULT_RUN_TIMEOUT))?,
            max_steps: within("max-steps", given.max_steps.unwrap_or(DEFAULT_MAX_STEPS), 1, MAX_DECISIONS)?,
            yields: within("yields", given.yields.unwrap_or(DEFAULT_YIELDS), 1, 1_000_000)?,
            coverage: given.coverage.map_or(Coverage::Some, Coverage::Every),
            out: check_out(given.out.unwrap_or_else(|| DEFAULT_OUT.into()))?,
            json: given.json,
            quiet: given.quiet,
            verbose: given.verbose,
            keep_going: given.keep_going,
            exec: given.exec,
            expect_exit: within("expect-exit", given.expect_exit.unwrap_or(0), 0, 255)?,
            expect_output: given.expect_output.map(read_expected).transpose()?,
            check: given.check,
            sync_functions: given.sync_function,
            cpus: within("cpus", given.cpus.unwrap_or(DEFAULT_CPUS), 1, 1024)?,
            env: given.env.iter().map(|text| assignment(text)).collect::<Result<_, _>>()?,
            own_cwd: given.own_cwd,
            each_test: given.each_test,
            dispatch: !given.no_dispatch,
            switch: Switch::parse(given.switch.as_deref())?,
            runtime: given.runtime,
        };
        parallel(&options.policy, &options, wants_fibers)?;
        Ok(options)
    }
}

/// Refuses what makes no sense while threads run in parallel.
fn parallel(policy: &PolicyChoice, options: &Options, wants_fibers: bool) -> Result<(), OptionError> {
    if policy.descriptor.kind != Kind::Parallel {
        return Ok(());
    }
    let excluded = [
        (options.fail_on_race, "--fail-on race: which access comes first is not known then"),
        (options.points == Some(Points::Race), "--points race, which needs races to be told"),
        (!options.sync_functions.is_empty(), "--sync-function, whose breakpoints others would run past"),
        (wants_fibers, "--switch fiber, which runs one thread at a time"),
    ];
    match excluded.into_iter().find(|(there, _)| *there) {
        Some((_, what)) => Err(not_in_parallel(policy, what)),
        None => Ok(()),
    }
}

/// A policy that runs threads in parallel does not go together with something.
pub fn not_in_parallel(policy: &PolicyChoice, what: &str) -> OptionError {
    let what =
        format!("the policy `{}` runs threads in parallel and excludes {what}; choose another", policy.descriptor.name);
    OptionError::NotBuilt { what }
}

/// A policy that comes with raddle, or else one of the runtime's own, which must then be asked.
pub fn policy(text: &str, runtime: Option<&Path>) -> Result<PolicyChoice, OptionError> {
    let unknown = match PolicyChoice::parse(text) {
        Err(error @ PolicyError::Unknown { .. }) => error,
        known => return Ok(known?),
    };
    match own_policies::of_named_runtime(runtime) {
        Ok(None) => Err(unknown.into()),
        Ok(Some(all)) => Ok(PolicyChoice::parse_among(text, all)?),
        Err(error) => Err(OptionError::OwnPolicy { unknown, source: Box::new(error) }),
    }
}

/// A value that must lie within bounds.
pub fn within<T: PartialOrd + std::fmt::Display>(
    option: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<T, OptionError> {
    if value >= least && value <= most {
        return Ok(value);
    }
    let expected = format!("a number from {least} to {most}");
    Err(OptionError::Range { option, value: value.to_string(), expected })
}

/// Seconds of an option as a duration.
pub fn duration(option: &'static str, seconds: f64) -> Result<Duration, OptionError> {
    let valid = seconds > 0.0 && seconds <= 1e9;
    if valid {
        return Ok(Duration::from_secs_f64(seconds));
    }
    let expected = "a number of seconds above 0".to_string();
    Err(OptionError::Range { option, value: seconds.to_string(), expected })
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

/// How threads are switched. Both ways give the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Switch {
    /// As fibers where that is sound, else as OS threads.
    #[default]
    Fiber,
    /// As OS threads.
    Os,
}

impl Switch {
    /// By its name on the command line.
    pub fn parse(text: Option<&str>) -> Result<Switch, OptionError> {
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
}

fn assignment(text: &str) -> Result<(String, String), OptionError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !text.contains('\0') => match name {
            "TMPDIR" => Err(OptionError::ReservedVariable(
                text.to_string(),
                ", a private directory per run; it makes these in its own TMPDIR",
            )),
            raddle_core::block::FD_VARIABLE => Err(OptionError::ReservedVariable(text.to_string(), "")),
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
    crate::sys::check(unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) }).map(drop)
}

/// A seed for who gave none: short enough to be typed again.
fn random_seed() -> u64 {
    let mut bytes = [0; 4];
    // SAFETY: the buffer has the size that is passed.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == bytes.len() as isize {
        return u64::from(u32::from_ne_bytes(bytes));
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| u64::from(since.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut TestOptions)) -> String {
        let mut given = TestOptions::default();
        change(&mut given);
        Options::resolve(given).expect_err("is wrong").to_string()
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let options = Options::resolve(TestOptions::default()).expect("is right");
        assert_eq!(options.runs, 1000);
        assert_eq!(options.policy.to_string(), "portfolio");
        assert_eq!(options.out, Path::new(".raddle"));
        assert_eq!((options.jobs, options.cpus, options.expect_exit), (1, 4, 0));
    }

    #[test]
    fn senseless_numbers_are_errors() {
        assert_eq!(
            error(|o| o.runs = Some(0)),
            format!("--runs 0 makes no sense: expected a number from 1 to {}", u64::MAX / 2)
        );
        assert_eq!(error(|o| o.jobs = Some(0)), "--jobs 0 makes no sense: expected a number from 1 to 1024");
        assert_eq!(error(|o| o.guard = Some(2.0)), "--guard 2 makes no sense: expected a number from 0 to 1");
        assert_eq!(
            error(|o| o.time = Some(f64::NAN)),
            "--time NaN makes no sense: expected a number of seconds above 0"
        );
    }

    #[test]
    fn what_is_not_built_says_so() {
        assert_eq!(
            error(|o| o.points = Some("atomics".into())),
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
            "the policy `ppct` runs threads in parallel and excludes --fail-on race: which access comes first is not \
             known then; choose another"
        );
        assert!(parallel(|o| o.points = Some("race".into())).contains("excludes --points race"));
        assert!(parallel(|o| o.sync_function = vec!["f".into()]).contains("excludes --sync-function"));
        assert!(parallel(|o| o.switch = Some("fiber".into())).contains("excludes --switch fiber"));
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
        assert_eq!(error(|o| o.env = vec!["PATH".into()]), "--env PATH is not an assignment: expected NAME=VALUE");
        assert!(error(|o| o.env = vec!["TMPDIR=/x".into()]).contains("raddle sets this variable itself"));
    }

    #[test]
    fn a_missing_expected_output_is_an_error() {
        let message = error(|o| o.expect_output = Some("/no/such/file".into()));
        assert!(message.starts_with("cannot read /no/such/file (--expect-output)"), "{message}");
    }
}
