//! What a campaign is to do. The plan is made once and shared by all jobs.
//!
//! | file | one idea |
//! |---|---|
//! | `policy_choice`, `own_policies` | which policy, with which parameters |
//! | `parameters` | parameters that follow from the number of planned runs |
//! | `coverage`, `rounds` | the numbers at which runs are sampled, and at which runs learn from earlier ones |
//! | `environment`, `stdin` | what the program gets |
//! | `circumstances` | what of that a schedule file keeps, and what is different at a replay |
//! | `sync_functions`, `suppressions`, `place` | places in the program |
//! | `suggest` | what may have been meant |

pub(crate) mod circumstances;
pub mod coverage;
pub(crate) mod environment;
pub mod own_policies;
pub(crate) mod parameters;
pub mod place;
pub mod policy_choice;
pub(crate) mod rounds;
pub mod stdin;
pub mod suggest;
pub mod suppressions;
pub mod sync_functions;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use raddle_core::policy::{Kind, Profile};
use raddle_core::{delays, Decision, Delay};
use raddle_inspect::elf::Program;
use raddle_protocol::settings::{flag, INHERITED, SEARCH_BYTES, STACKS, SYNC_FUNCTIONS};
use raddle_protocol::{Points, RunSettings, Settings, Stacks};

use crate::os::sys::Ending;
use coverage::Coverage;
use environment::Variables;
use place::Place;
use policy_choice::PolicyChoice;
use stdin::Stdin;
use suppressions::Suppressions;
use sync_functions::SyncFunctions;

/// The most decisions that a block has room for; longer logs are cut.
const MAX_LOG: u64 = 16 << 20;

/// How threads are switched. Both ways give the same runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Switch {
    /// As fibers where that is sound, otherwise as OS threads.
    #[default]
    Fiber,
    /// As OS threads.
    Os,
}

/// A campaign: one target, one policy, many runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is run.
    pub target: Target,
    /// What decides a run.
    pub settings: RunSettings,
    /// The policy, as it was asked for.
    pub policy: PolicyChoice,
    /// Races to ignore, where a data race is a failure.
    pub benign: Option<Benign>,
    /// How threads are switched.
    pub switch: Switch,
    /// Functions whose calls are points.
    pub sync_functions: SyncFunctions,
    /// When the threads are looked at although the run goes on.
    pub look_at: Option<LookAt>,
    /// What a good run looks like.
    pub expect: Expectations,
    /// How many runs.
    pub runs: u64,
    /// How many at once.
    pub jobs: usize,
    /// The cores that the jobs use; `None`: those of the thread that starts the campaign.
    pub cores: Option<Vec<usize>>,
    /// When to stop exploring.
    pub time: Option<Duration>,
    /// When a run has failed.
    pub run_timeout: Duration,
    /// Go on after a failure.
    pub keep_going: bool,
    /// No fork server.
    pub exec: bool,
    /// Which check of the program makes the runs, in one process; `None`: the program has none.
    pub check: Option<u32>,
    /// Threads that are not the program's own but its test harness's: runs that never have more show nothing,
    /// and the first round of them is enough. 0: every run is wanted.
    pub harness: u64,
    /// Which runs are sampled for ordered pairs of events.
    pub coverage: Coverage,
    /// Whether the threads of failing runs are looked at. A campaign that only counts failures can do without.
    pub inspect: bool,
    /// Where schedules go.
    pub out: PathBuf,
    /// Whether schedules of failures are written.
    pub record: bool,
    /// Whether a program that crashes leaves the core file that its limit allows.
    pub core_dumps: bool,
    /// The recording to follow instead of exploring.
    pub recording: Option<Recording>,
}

/// A program with everything that it gets.
#[derive(Clone, Debug)]
pub struct Target {
    /// What the program's file is made of.
    pub program: Program,
    /// The file to execute: the program's, but for a bundle that brings its own loader.
    pub executable: PathBuf,
    /// Its name and arguments, as the user wrote them.
    pub command: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Whether each run has a directory of its own instead.
    pub own_directory: bool,
    /// Its environment, without what raddle adds.
    pub environment: Variables,
    /// What the user added to it on the command line.
    pub added: Vec<(String, String)>,
    /// Of which other variables a schedule file keeps the values: the patterns of `--keep-env`.
    pub kept: Vec<String>,
    /// The library to preload.
    pub runtime: PathBuf,
    /// What it reads.
    pub stdin: Stdin,
}

/// When the threads of a run are looked at although it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LookAt {
    /// When the function of the program is called that has this address in its file.
    Call(u64),
    /// When memory is freed for the N-th time.
    Free(u64),
}

/// What a good run looks like.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// The exit status.
    pub exit: i32,
    /// The signal that ends it instead.
    pub signal: Option<i32>,
    /// The standard output, and the file that it comes from.
    pub output: Option<(PathBuf, Vec<u8>)>,
    /// A shell command that looks at the results of a run.
    pub oracle: Option<OsString>,
}

impl Expectations {
    /// How the process of a good run ends.
    pub fn ending(&self) -> Ending {
        self.signal.map_or(Ending::Exit(self.exit), Ending::Signal)
    }
}

/// Races to ignore.
#[derive(Clone, Debug, Default)]
pub struct Benign {
    /// The file that they come from.
    pub path: Option<PathBuf>,
    /// What it says.
    pub suppressions: Suppressions,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The decisions to follow.
    pub decisions: Vec<Decision>,
    /// Whether they are the order of a parallel run: one for every point, followed as far as that is possible. Each run
    /// is given its own.
    pub every: bool,
    /// The seed of the run.
    pub run_seed: u64,
    /// The point from which a fair schedule decided; 0: none did.
    pub fair_from: u64,
    /// The delays of the run.
    pub delays: Vec<Delay>,
    /// What the policy knew.
    pub profile: Profile,
    /// Identities that were ready.
    pub stacks: [Stacks; STACKS],
    /// Places that were known to race.
    pub places: Vec<Place>,
}

impl Plan {
    /// The seed of a run.
    pub fn run_seed(&self, run: u64) -> u64 {
        match &self.recording {
            Some(recording) => recording.run_seed,
            // As [`Settings::run_seed`] has it in the target.
            None => raddle_core::rng::run_seed(self.settings.seed, if self.searches() { 1 } else { run }),
        }
    }

    /// Whether a run brings its decisions along. Those of a replay are known.
    pub fn samples(&self, run: u64) -> bool {
        self.recording.is_none() && self.coverage.samples(run)
    }

    /// The policy with all that follows from the number of runs, as the settings have it.
    pub fn resolved_policy(&self) -> PolicyChoice {
        PolicyChoice { descriptor: self.policy.descriptor, values: self.settings.policy.values().to_vec() }
    }

    /// Brings the settings up to date after a change of the policy or of the number of runs.
    pub fn resolve(&mut self) {
        self.settings.policy = self.policy.clone().resolved(self.runs).settings();
    }

    /// Whether each run depends on the one before it: there is one job, and one seed for all runs.
    pub fn searches(&self) -> bool {
        self.policy.descriptor.kind == Kind::Systematic && self.recording.is_none()
    }

    /// Whether threads really run at the same time.
    pub fn is_parallel(&self) -> bool {
        self.policy.descriptor.kind == Kind::Parallel && self.recording.is_none()
    }

    /// Whether a run that ended well can be told by its status alone.
    pub fn status_tells(&self) -> bool {
        let expect = &self.expect;
        expect.output.is_none() && expect.oracle.is_none() && !self.target.own_directory && self.recording.is_none()
    }

    /// The settings that all runs share.
    pub fn block_settings(&self) -> Settings {
        let mut sync_offsets = [0; SYNC_FUNCTIONS];
        let addresses = &self.sync_functions.addresses;
        sync_offsets[..addresses.len()].copy_from_slice(addresses);
        Settings {
            run: self.settings,
            number: 0,
            seed: 0,
            profile: Profile::default(),
            flags: self.flags(),
            log_capacity: self.settings.max_steps.min(MAX_LOG),
            search_bytes: if self.searches() { SEARCH_BYTES as u64 } else { 0 },
            replay_len: self.recording.as_ref().map_or(0, |recording| match recording.every {
                // There is room for any order of a run.
                true => self.settings.max_steps.min(MAX_LOG),
                false => recording.decisions.len() as u64,
            }),
            delays: self.recording.as_ref().map_or_else(Default::default, |r| self::delays(&r.delays)),
            delay_count: self.recording.as_ref().map_or(0, |r| r.delays.len().min(delays::MOST) as u64),
            fair_from: self.recording.as_ref().map_or(0, |r| r.fair_from),
            stacks: Default::default(),
            check_number: self.check.unwrap_or(0),
            first_run: 0,
            last_run: 0,
            // What a signal ends is looked at run by run.
            expect_exit: if self.expect.signal.is_some() { -1 } else { self.expect.exit },
            scratch: [0; 512],
            sync_offsets,
            look_offset: if let Some(LookAt::Call(offset)) = self.look_at { offset } else { 0 },
            look_at_free: if let Some(LookAt::Free(number)) = self.look_at { number } else { 0 },
            stdin: [0; 128],
            directory: [0; 512],
            block_path: [0; 64],
            inherited: [0; INHERITED],
        }
    }

    fn flags(&self) -> u32 {
        let mut flags = if self.inspect { flag::FREEZE } else { 0 };
        if self.recording.is_some() {
            flags |= flag::REPLAY | flag::GIVEN_DELAYS;
            // In a check, one run's locks would be the next one's.
            flags |= if self.check.is_none() { flag::LOCK_WORDS } else { 0 };
        }
        if self.settings.points == Points::Race || self.settings.fail_on_race {
            flags |= flag::DETECT_RACES;
        }
        // In a check, control starts with the test.
        if self.harness > 0 && self.check.is_none() {
            flags |= flag::HARNESS;
        }
        if self.is_parallel() {
            // The kernel preempts, and threads that wait look at those that run.
            flags |= flag::PARALLEL | flag::NO_TICK;
        } else if self.switch == Switch::Fiber {
            flags |= flag::FIBERS;
        }
        if self.recording.as_ref().is_some_and(|recording| recording.every) {
            flags |= flag::PARALLEL_REPLAY;
        }
        flags
    }
}

/// Delays as settings have them; of too many, the first.
pub fn delays(of: &[Delay]) -> [Delay; delays::MOST] {
    let mut delays = [Delay::default(); delays::MOST];
    delays.iter_mut().zip(of).for_each(|(to, delay)| *to = *delay);
    delays
}
