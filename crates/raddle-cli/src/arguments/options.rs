//! The options of runs, which several commands share and a project file can set.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::amount;

/// Options that defaults can stand in for.
pub trait Merge {
    /// These options, with the defaults for what they leave open.
    fn or(self, defaults: Self) -> Self;
}

impl<T> Merge for Option<T> {
    fn or(self, defaults: Self) -> Self {
        Option::or(self, defaults)
    }
}

impl Merge for bool {
    fn or(self, defaults: bool) -> bool {
        self || defaults
    }
}

/// What can be repeated adds up.
impl<T> Merge for Vec<T> {
    fn or(self, mut defaults: Vec<T>) -> Vec<T> {
        defaults.extend(self);
        defaults
    }
}

/// Defines options that can be merged, field by field.
macro_rules! options {
    ($($(#[$attribute:meta])* pub struct $name:ident {
        $($(#[$field_attribute:meta])* pub $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$attribute])*
            #[derive(Args, Deserialize, Debug, Clone, Default, PartialEq)]
            #[serde(rename_all = "kebab-case", default)]
            pub struct $name {
                $($(#[$field_attribute])* pub $field: $type,)*
            }

            impl Merge for $name {
                fn or(self, defaults: Self) -> Self {
                    $name { $($field: Merge::or(self.$field, defaults.$field),)* }
                }
            }
        )*
    };
}

options! {
    /// How the processes of runs are made.
    pub struct ProcessOptions {
        /// Fail a run that takes longer than N seconds (or 2m, 1h) of wall-clock time [default: 10]
        #[arg(long, value_name = "N", value_parser = amount::seconds)]
        #[serde(deserialize_with = "amount::seconds_in_file")]
        pub run_timeout: Option<f64>,
        /// Start the program anew for each run instead of forking it before main
        #[arg(long)]
        pub exec: bool,
        /// Switch threads as fibers or as OS threads: fiber or os [default: fiber, where that is sound]
        #[arg(long, value_name = "HOW")]
        pub switch: Option<String>,
        /// Load this runtime library, for policies of your own [default: $RADDLE_RUNTIME, or raddle's own]
        #[arg(long, value_name = "FILE")]
        pub runtime: Option<PathBuf>,
    }

    /// What decides runs, and how they are made.
    pub struct RunOptions {
        /// Draw all choices from this seed [default: random, printed]
        #[arg(long, value_name = "S")]
        pub seed: Option<u64>,
        /// Choose which operations are schedule points: sync, atomic, race or memory [default: the richest that
        /// the program offers, race or atomic for an instrumented one and sync for others]
        #[arg(long, value_name = "LEVEL")]
        pub points: Option<String>,
        /// Make N runs at once, each on a core of its own [default: 1]
        #[arg(long, value_name = "N")]
        pub jobs: Option<usize>,
        /// Stop a run after N steps [default: 1000000]
        #[arg(long, value_name = "N", value_parser = amount::count)]
        #[serde(deserialize_with = "amount::count_in_file")]
        pub max_steps: Option<u64>,
        /// Treat an OS thread as blocked after N polls that found it asleep in the kernel for a reason outside the model
        /// [default: 10]
        #[arg(long, value_name = "N")]
        pub yields: Option<u32>,
        /// Sample every N-th run for the ordered pairs of events that are covered; 0: none, 1: all, which
        /// costs speed [default: 138 of the first 1034 runs]
        #[arg(long, value_name = "N")]
        pub coverage: Option<u64>,
        /// Expect good runs to exit with this status [default: 0]
        #[arg(long, value_name = "CODE")]
        pub expect_exit: Option<i32>,
        /// Expect good runs to end by this signal, given by name or number (TERM, SIGTERM, 15)
        #[arg(long, value_name = "SIGNAL", conflicts_with = "expect_exit")]
        pub expect_signal: Option<String>,
        /// Let the starvation guard override the policy with probability P per point [default: 0.001]
        #[arg(long, value_name = "P", conflicts_with = "no_guard")]
        pub guard: Option<f64>,
        /// Turn the starvation guard off
        #[arg(long)]
        pub no_guard: bool,
        /// Tell the program that there are N CPUs [default: 4]
        #[arg(long, value_name = "N")]
        pub cpus: Option<u32>,
        /// Let at most N milliseconds pass in a run while threads can run, as on a busy machine; 0: none [default: 100]
        #[arg(long, value_name = "N")]
        pub lag: Option<u64>,
        /// Do not trap system calls made outside libc's functions
        #[arg(long)]
        pub no_dispatch: bool,
        /// Choose what becomes of freed memory: mixed (half of the runs hold it back for a while, so that a use of it
        /// shows, the others reuse it at once), hold, reuse or off [default: mixed]
        #[arg(long, value_name = "HOW")]
        pub heap: Option<String>,
        /// Set a variable in the program's environment (can be repeated)
        #[arg(long, value_name = "NAME=VALUE")]
        pub env: Vec<String>,
        /// How the processes of runs are made.
        #[command(flatten)]
        #[serde(flatten)]
        pub process: ProcessOptions,
    }

    /// Options of `raddle test`; each can have a default in the section `[test]` of raddle.toml.
    pub struct TestOptions {
        /// Choose the policy that decides which thread goes next [default: portfolio]
        #[arg(long, value_name = "NAME[:KEY=VALUE,…]")]
        pub policy: Option<String>,
        /// Make N runs [default: 1000]
        #[arg(long, value_name = "N", value_parser = amount::count)]
        #[serde(deserialize_with = "amount::count_in_file")]
        pub runs: Option<u64>,
        /// What decides the runs.
        #[command(flatten)]
        #[serde(flatten)]
        pub run: RunOptions,
        /// Also treat this as a failure: race (a data race)
        #[arg(long, value_name = "WHAT")]
        pub fail_on: Option<String>,
        /// Ignore the races that a file lists, in ThreadSanitizer's format
        #[arg(long, value_name = "FILE")]
        pub suppressions: Option<PathBuf>,
        /// Stop exploring after N seconds (or 5m, 2h)
        #[arg(long, value_name = "N", value_parser = amount::seconds)]
        #[serde(deserialize_with = "amount::seconds_in_file")]
        pub time: Option<f64>,
        /// Write schedules of failures to this folder [default: .raddle]
        #[arg(long, value_name = "DIR")]
        pub out: Option<PathBuf>,
        /// Write the results as JSON; - is standard output
        #[arg(long, value_name = "FILE")]
        pub json: Option<PathBuf>,
        /// Print nothing but failures
        #[arg(long, short)]
        pub quiet: bool,
        /// Print more
        #[arg(long, short)]
        pub verbose: bool,
        /// Continue after a failure, and count how often each one happens
        #[arg(long)]
        pub keep_going: bool,
        /// Expect good runs to print what is in this file to standard output
        #[arg(long, value_name = "FILE")]
        pub expect_output: Option<PathBuf>,
        /// Judge each run by a shell command, which fails when the run was bad; it finds RADDLE_STDOUT and
        /// RADDLE_STDERR (files) and RADDLE_STATUS (the exit status) in its environment
        #[arg(long, value_name = "COMMAND")]
        pub check: Option<String>,
        /// Make calls of this function of the program schedule points (can be repeated)
        #[arg(long, value_name = "NAME")]
        pub sync_function: Vec<String>,
        /// Keep the value of this variable in schedules of failures; NAME* stands for all names that begin with NAME (can be
        /// repeated) [default: what --env sets, locale, time zone, the loader's, malloc's, OpenMP's, Rust's, the test
        /// frameworks' and the sanitizers' options; of all others a name and a hash are kept]
        #[arg(long, value_name = "NAME")]
        pub keep_env: Vec<String>,
        /// Give each run an empty working directory of its own
        #[arg(long)]
        pub own_cwd: bool,
        /// Explore each test of a GoogleTest, Catch2 or Rust test program on its own
        #[arg(long)]
        pub each_test: bool,
    }
}

impl TestOptions {
    /// These options of the command line, with those of the project for what they leave open.
    pub fn or(self, mut project: TestOptions) -> TestOptions {
        // A guard setting on the command line replaces the project's as a whole.
        if self.run.guard.is_some() || self.run.no_guard {
            (project.run.guard, project.run.no_guard) = (None, false);
        }
        Merge::or(self, project)
    }
}
