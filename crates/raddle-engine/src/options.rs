//! What a campaign can be asked for. Everything has a default.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_core::decorators::guard;
use raddle_core::policy::Kind;
use raddle_protocol::{Heap, Points, RunSettings};
use raddle_schedule::MAX_DECISIONS;

use crate::error::Error;
pub use crate::error::RangeError;
pub use crate::os::folder::DEFAULT as DEFAULT_OUT;
use crate::os::sys;
use crate::plan::coverage::Coverage;
use crate::plan::own_policies;
use crate::plan::policy_choice::{PolicyChoice, PolicyError};
use crate::plan::stdin::Stdin;
use crate::plan::{Benign, Expectations, Switch};

/// Runs of a campaign when none are asked for.
pub const DEFAULT_RUNS: u64 = 1_000;
/// The policy when none is asked for.
pub const DEFAULT_POLICY: &str = "portfolio";
/// How long a run may take when nothing else is asked for.
pub const DEFAULT_RUN_TIMEOUT: Duration = Duration::from_secs(10);
/// The most jobs that make sense: each has a core of its own.
const MAX_JOBS: usize = 1024;

/// What is asked for. What is `None` follows from the program, or is the default.
#[derive(Clone, Debug)]
pub struct Options {
    pub policy: Option<PolicyChoice>,
    /// The starvation guard.
    pub guard: guard::Settings,
    /// How many runs.
    pub runs: Option<u64>,
    /// The seed of the campaign.
    pub seed: u64,
    /// Whether the seed was asked for; otherwise a check may ask for another one.
    pub seed_given: bool,
    /// Which operations are schedule points; `None`: all that the program offers.
    pub points: Option<Points>,
    /// Whether a data race is a failure.
    pub fail_on_race: bool,
    /// Races to ignore.
    pub benign: Benign,
    /// How many runs go on at once.
    pub jobs: usize,
    /// The cores that the jobs use; `None`: those of the thread that starts the campaign.
    pub cores: Option<Vec<usize>>,
    /// When to stop exploring.
    pub time: Option<Duration>,
    /// When a run has failed, by the wall clock.
    pub run_timeout: Duration,
    /// After how many steps a run is cut.
    pub max_steps: Option<u64>,
    /// See [`RunSettings::yields`].
    pub yields: u32,
    /// See [`RunSettings::lag`].
    pub lag: u64,
    /// How many CPUs the program is told that there are.
    pub cpus: u32,
    /// Whether system calls outside libc's functions are trapped.
    pub dispatch: bool,
    /// What becomes of freed memory.
    pub heap: Heap,
    /// Which runs are sampled for ordered pairs of events.
    pub coverage: Coverage,
    /// Where schedules of failures go.
    pub out: PathBuf,
    /// Whether schedules of failures are written.
    pub record: bool,
    /// Go on after a failure.
    pub keep_going: bool,
    /// Start the program anew for each run.
    pub exec: bool,
    /// How threads are switched.
    pub switch: Switch,
    /// What a good run looks like.
    pub expect: Expectations,
    /// Functions of the program whose calls are schedule points.
    pub sync_functions: Vec<String>,
    /// Variables for the program, besides those of this process.
    pub env: Vec<(String, String)>,
    /// Of which other variables a schedule file keeps the values; a name that ends with * stands for many.
    pub keep_env: Vec<String>,
    /// Give each run an empty working directory of its own.
    pub own_directory: bool,
    /// Where the program runs; `None`: in the directory of this process.
    pub directory: Option<PathBuf>,
    /// What the program reads.
    pub stdin: Stdin,
    /// The runtime library; `None`: raddle's own.
    pub runtime: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            policy: None,
            guard: guard::Settings::DEFAULT,
            runs: None,
            seed: random_seed(),
            seed_given: false,
            points: None,
            fail_on_race: false,
            benign: Benign::default(),
            jobs: 1,
            cores: None,
            time: None,
            run_timeout: DEFAULT_RUN_TIMEOUT,
            max_steps: None,
            yields: RunSettings::YIELDS,
            cpus: RunSettings::CPUS,
            lag: RunSettings::LAG,
            dispatch: true,
            heap: Heap::Mixed,
            coverage: Coverage::Some,
            out: DEFAULT_OUT.into(),
            record: true,
            keep_going: false,
            exec: false,
            switch: Switch::Fiber,
            expect: Expectations::default(),
            sync_functions: Vec::new(),
            env: Vec::new(),
            keep_env: Vec::new(),
            own_directory: false,
            directory: None,
            stdin: Stdin::Null,
            runtime: None,
        }
    }
}

impl Options {
    /// The policy, or the default one.
    pub fn policy(&self) -> PolicyChoice {
        self.policy.clone().unwrap_or_else(default_policy)
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.runs.unwrap_or(DEFAULT_RUNS)
    }

    /// After how many steps a run is cut.
    pub fn max_steps(&self) -> u64 {
        self.max_steps.unwrap_or(RunSettings::MAX_STEPS)
    }

    /// Whether all of it makes sense, alone and together.
    pub fn validate(&self) -> Result<(), Error> {
        within("runs", self.runs(), 1, u64::MAX / 2)?;
        within("jobs", self.jobs, 1, MAX_JOBS)?;
        within("max-steps", self.max_steps(), 1, MAX_DECISIONS)?;
        within("yields", self.yields, 1, 1_000_000)?;
        within("lag", self.lag, 0, 86_400_000)?;
        within("expect-exit", self.expect.exit, 0, 255)?;
        within("cpus", self.cpus, 1, 1024)?;
        within("guard", self.guard.override_probability, 0.0, 1.0)?;
        self.check_parallel(&self.policy())
    }

    /// Refuses what makes no sense while threads run in parallel.
    pub fn check_parallel(&self, policy: &PolicyChoice) -> Result<(), Error> {
        if policy.descriptor.kind != Kind::Parallel {
            return Ok(());
        }
        let excluded = [
            (self.fail_on_race, "--fail-on race: it cannot be known which access comes first"),
            (self.points == Some(Points::Race), "--points race, which needs to detect races"),
        ];
        match excluded.into_iter().find(|(there, _)| *there) {
            Some((_, what)) => Err(not_in_parallel(policy, what)),
            None => Ok(()),
        }
    }

    /// The command of the user's oracle.
    pub fn oracle(&self) -> Option<&OsString> {
        self.expect.oracle.as_ref()
    }
}

fn default_policy() -> PolicyChoice {
    let descriptor = &raddle_core::policies::portfolio::DESCRIPTOR;
    debug_assert_eq!(descriptor.name, DEFAULT_POLICY);
    PolicyChoice { descriptor, values: descriptor.parameters.iter().map(|parameter| parameter.default).collect() }
}

/// A policy that runs threads in parallel does not go together with something.
pub fn not_in_parallel(policy: &PolicyChoice, what: &str) -> Error {
    let name = policy.descriptor.name;
    Error::Excluded(format!("the policy `{name}` runs threads in parallel and excludes {what}; choose another"))
}

/// A policy by its text: one that comes with raddle, or one of the runtime's own, which is asked for them.
pub fn policy(text: &str, runtime: Option<&Path>) -> Result<PolicyChoice, Error> {
    let unknown = match PolicyChoice::parse(text) {
        Err(error @ PolicyError::Unknown { .. }) => error,
        known => return Ok(known?),
    };
    match own_policies::of_named_runtime(runtime) {
        Ok(None) => Err(unknown.into()),
        Ok(Some(all)) => Ok(PolicyChoice::parse_among(text, all)?),
        Err(error) => Err(Error::OwnPolicy { unknown, source: Box::new(error) }),
    }
}

/// A signal by its name or number.
pub fn signal(text: &str) -> Result<i32, Error> {
    let is_meant = |signal: &i32| {
        let name = sys::signal_name(*signal);
        [&name, name.trim_start_matches("SIG"), &signal.to_string()].contains(&text)
    };
    let expected = "a signal: a name such as TERM or SIGTERM, or a number from 1 to 64".to_string();
    let found = (1..=64).find(is_meant);
    Ok(found.ok_or_else(|| RangeError { option: "expect-signal", value: text.to_string(), expected })?)
}

/// A value that must lie within bounds.
pub fn within<T: PartialOrd + std::fmt::Display>(
    option: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<T, RangeError> {
    if value >= least && value <= most {
        return Ok(value);
    }
    let expected = format!("a number from {least} to {most}");
    Err(RangeError { option, value: value.to_string(), expected })
}

/// A seed when none is asked for: short enough to be typed again.
pub fn random_seed() -> u64 {
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

    fn parallel(change: fn(&mut Options)) -> String {
        let mut options =
            Options { policy: Some(PolicyChoice::parse("ppct:d=2").expect("a policy")), ..Options::default() };
        change(&mut options);
        options.validate().expect_err("is wrong").to_string()
    }

    #[test]
    fn what_parallel_threads_exclude_is_named() {
        assert_eq!(
            parallel(|o| o.fail_on_race = true),
            "the policy `ppct` runs threads in parallel and excludes --fail-on race: it cannot be known which access \
             comes first; choose another"
        );
        assert!(parallel(|o| o.points = Some(Points::Race)).contains("excludes --points race"));
    }

    #[test]
    fn signals_have_names_and_numbers() {
        for text in ["TERM", "SIGTERM", "15"] {
            assert_eq!(signal(text).ok(), Some(libc::SIGTERM), "{text}");
        }
        for text in ["0", "65", "SIG", "", "term", "no"] {
            assert!(signal(text).is_err(), "{text}");
        }
        let error = signal("0").expect_err("no signal").to_string();
        assert!(error.starts_with("expect-signal 0 is not valid: expected a signal: a name such as"), "{error}");
    }

    #[test]
    fn senseless_numbers_are_errors() {
        let error = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.validate().expect_err("is wrong").to_string()
        };
        assert_eq!(
            error(|o| o.runs = Some(0)),
            format!("runs 0 is not valid: expected a number from 1 to {}", u64::MAX / 2)
        );
        assert_eq!(error(|o| o.jobs = 0), "jobs 0 is not valid: expected a number from 1 to 1024");
    }
}
