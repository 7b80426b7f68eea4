//! The command line, as clap reads it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use serde::Deserialize;

/// Finds, reproduces and explains concurrency bugs in native Linux programs.
#[derive(Parser, Debug)]
#[command(name = "raddle", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Explore schedules of a program until one fails
    Test(Box<Test>),
    /// Run one recorded schedule again
    Replay(Replay),
    /// Compare policies on a program or on a folder of programs
    Compare(Box<Compare>),
    /// Compile and link C so that raddle sees its atomics and memory accesses
    #[command(disable_help_flag = true)]
    Cc(Compile),
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compile),
    /// Pack a failure so that it replays elsewhere
    Bundle(Bundle),
    /// List the policies with their parameters and sources
    Policies(Policies),
    /// Say what works on this machine and what does not, and why
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// `raddle test`.
#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
pub struct Test {
    /// The options that a project file can set, too.
    #[command(flatten)]
    pub options: TestOptions,
    /// Say what would and would not be controlled, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// Options of `raddle test`; each can have a default in the section `[test]` of raddle.toml.
#[derive(Args, Deserialize, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "kebab-case", default)]
pub struct TestOptions {
    /// The policy that decides who goes next [default: portfolio]
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]")]
    pub policy: Option<String>,
    /// How many runs [default: 1000]
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// The seed that all choices come from [default: random, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Which operations are schedule points: sync, atomic, race or memory [default: the richest that
    /// the program offers, race or atomic for an instrumented one and sync for others]
    #[arg(long, value_name = "LEVEL")]
    pub points: Option<String>,
    /// What else is a failure: race (a data race)
    #[arg(long, value_name = "WHAT")]
    pub fail_on: Option<String>,
    /// Races that are not to be reported, in ThreadSanitizer's format
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
    /// How many runs go on at once, each on a core of its own [default: 1]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Stop exploring after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// A run that takes longer, by the wall clock, has failed [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub run_timeout: Option<f64>,
    /// Cut runs after so many steps [default: 1000000]
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// An OS thread that sleeps in the kernel for a reason that nobody models counts as blocked after so many looks at it
    /// by those who wait [default: 10]
    #[arg(long, value_name = "N")]
    pub yields: Option<u32>,
    /// Sample every N-th run for the ordered pairs of events that are covered; 0: none, 1: all, which
    /// costs speed [default: 138 of the first 1034 runs]
    #[arg(long, value_name = "N")]
    pub coverage: Option<u64>,
    /// Where schedules of failures go [default: .raddle]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print nothing but failures
    #[arg(long, short)]
    pub quiet: bool,
    /// Say more
    #[arg(long, short)]
    pub verbose: bool,
    /// Go on after a failure, and count how often each one happens
    #[arg(long)]
    pub keep_going: bool,
    /// Start the program anew for each run instead of forking it before main
    #[arg(long)]
    pub exec: bool,
    /// How threads are switched: fiber or os [default: fiber, where that is sound]
    #[arg(long, value_name = "HOW")]
    pub switch: Option<String>,
    /// The exit status of a good run [default: 0]
    #[arg(long, value_name = "CODE")]
    pub expect_exit: Option<i32>,
    /// The standard output of a good run
    #[arg(long, value_name = "FILE")]
    pub expect_output: Option<PathBuf>,
    /// A shell command that fails when a run was bad; it finds RADDLE_STDOUT and RADDLE_STDERR
    /// (files) and RADDLE_STATUS (the exit status) in its environment
    #[arg(long, value_name = "COMMAND")]
    pub check: Option<String>,
    /// The probability per point that the starvation guard overrides the policy [default: 0.001]
    #[arg(long, value_name = "P", conflicts_with = "no_guard")]
    pub guard: Option<f64>,
    /// Switch the starvation guard off
    #[arg(long)]
    pub no_guard: bool,
    /// Make calls of this function of the program schedule points (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub sync_function: Vec<String>,
    /// How many CPUs the program is told that there are [default: 4]
    #[arg(long, value_name = "N")]
    pub cpus: Option<u32>,
    /// Set a variable in the program's environment (can be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Give each run an empty working directory of its own
    #[arg(long)]
    pub own_cwd: bool,
    /// Explore each test of a GoogleTest, Catch2 or Rust test program on its own
    #[arg(long)]
    pub each_test: bool,
    /// Do not trap system calls that are made outside of libc's functions
    #[arg(long)]
    pub no_dispatch: bool,
    /// The runtime library [default: $RADDLE_RUNTIME, or near this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
}

/// `raddle replay`.
#[derive(Args, Debug)]
pub struct Replay {
    /// The schedule file or bundle
    pub schedule: PathBuf,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub runs: u64,
    /// Write the results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// A run that takes longer, by the wall clock, has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub run_timeout: f64,
    /// How threads are switched: fiber or os [default: fiber, where that is sound]
    #[arg(long, value_name = "HOW")]
    pub switch: Option<String>,
    /// Print nothing but the verdict
    #[arg(long, short)]
    pub quiet: bool,
    /// Start the program anew for each run instead of forking it before main
    #[arg(long)]
    pub exec: bool,
    /// The runtime library [default: $RADDLE_RUNTIME, or near this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
    /// A program and its arguments in place of the recorded ones
    #[arg(last = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// `raddle compare`.
#[derive(Args, Clone, Debug, Default)]
#[command(allow_negative_numbers = true)]
pub struct Compare {
    /// The policies, separated by commas or semicolons (can be repeated) [default: all]
    #[arg(long, visible_alias = "policy", value_name = "A,B:KEY=VALUE,…")]
    pub policies: Vec<String>,
    /// How many runs of each program under each policy [default: 1000]
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,
    /// How many campaigns, each with a seed of its own, for the runs to the first failure [default: 5]
    #[arg(long, value_name = "R")]
    pub repeat: Option<u64>,
    /// The seed that all choices come from [default: random, printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Compare on all programs of a folder that have a header; raddle compiles them
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
    /// Only programs of the folder whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// An experiment of a paper, on the programs that stand for the paper's, or several, separated by
    /// commas; `list` lists them, `papers`, `ours` and `all` make several
    #[arg(long, value_name = "NAME,…")]
    pub experiment: Option<String>,
    /// Write the results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a line for each program and policy; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a page with charts; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a line for each run
    #[arg(long, value_name = "FILE")]
    pub raw: Option<PathBuf>,
    /// Write the tables of experiments, ours beside the papers', as a page in Markdown; - is standard output
    #[arg(long, value_name = "FILE", requires = "experiment")]
    pub markdown: Option<PathBuf>,
    /// Which operations are schedule points: sync, atomic, race or memory [default: what a header
    /// says, or the richest that the program offers]
    #[arg(long, value_name = "LEVEL")]
    pub points: Option<String>,
    /// How many runs go on at once, each on a core of its own [default: 1]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Stop comparing after so many seconds, with what there is
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// Give one policy on one program at most so many seconds: what is cut short has fewer runs, and says so
    #[arg(long, value_name = "SECONDS")]
    pub limit: Option<f64>,
    /// A run that takes longer, by the wall clock, has failed [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub run_timeout: Option<f64>,
    /// Cut runs after so many steps [default: 1000000]
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// An OS thread that sleeps in the kernel for a reason that nobody models counts as blocked after so many looks at it
    /// by those who wait [default: 10]
    #[arg(long, value_name = "N")]
    pub yields: Option<u32>,
    /// Sample every N-th run for the ordered pairs of steps that are covered
    #[arg(long, value_name = "N")]
    pub coverage: Option<u64>,
    /// Where the programs of a folder are built, in a folder `build` [default: .raddle]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print no table and no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Start the program anew for each run instead of forking it before main
    #[arg(long)]
    pub exec: bool,
    /// How threads are switched: fiber or os [default: fiber, where that is sound]
    #[arg(long, value_name = "HOW")]
    pub switch: Option<String>,
    /// The exit status of a good run [default: 0]
    #[arg(long, value_name = "CODE")]
    pub expect_exit: Option<i32>,
    /// The probability per point that the starvation guard overrides the policy [default: 0.001]
    #[arg(long, value_name = "P", conflicts_with = "no_guard")]
    pub guard: Option<f64>,
    /// Switch the starvation guard off
    #[arg(long)]
    pub no_guard: bool,
    /// Set a variable in the program's environment (can be repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// The runtime library [default: $RADDLE_RUNTIME, or near this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// `raddle cc` and `raddle c++`. They are run before clap sees their words, all of which are the compiler's;
/// this is for the help and the manual.
#[derive(Args, Debug)]
pub struct Compile {
    /// The compiler's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,
}

/// `raddle bundle`.
#[derive(Args, Debug)]
pub struct Bundle {
    /// The schedule file
    pub schedule: PathBuf,
    /// Where the bundle goes [default: the schedule's name with .tar]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// `raddle policies`.
#[derive(Args, Debug)]
pub struct Policies {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// List the policies of this runtime library, its own ones too
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
}

/// `raddle doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// The runtime library [default: $RADDLE_RUNTIME, or near this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
}

/// `raddle completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_program_follows_two_dashes() {
        let cli = Cli::try_parse_from(["raddle", "test", "--runs", "5", "--", "./a", "--runs"]);
        let Command::Test(test) = cli.expect("is right").command else { panic!("is not test") };
        assert_eq!(test.options.runs, Some(5));
        assert_eq!(test.command, ["./a", "--runs"]);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(Cli::try_parse_from(["raddle", "test"]).is_err());
        assert!(Cli::try_parse_from(["raddle", "test", "./a"]).is_err());
    }
}
