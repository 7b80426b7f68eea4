//! The command line, as clap reads it; the project file; and what both come to.
//!
//! An option of runs stands in three places: its name and help in [`options`], what it comes to in [`resolve`], and, if
//! it decides a run, how it is printed in `text::command_line`.

pub mod amount;
pub mod cargo;
pub mod config;
pub mod options;
pub mod resolve;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use options::{ProcessOptions, RunOptions, TestOptions};

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
    /// Compile and link C++ so that raddle sees its atomics and memory accesses
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compile),
    /// Pack a failure so that it replays elsewhere
    Bundle(Bundle),
    /// List the policies with their parameters and sources
    Policies(Policies),
    /// Report what works on this machine, what does not, and why
    Doctor(Doctor),
    /// Print the folder of raddle.h: cc -I"$(raddle header)" test.c
    Header(Header),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(Man),
}

/// `raddle test`.
#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
pub struct Test {
    /// The options that a project file can set, too.
    #[command(flatten)]
    pub options: TestOptions,
    /// Report what would and would not be controlled, without running anything
    #[arg(long)]
    pub dry_run: bool,
    /// The program and its arguments; -- before it keeps its name from being read as an option
    #[arg(trailing_var_arg = true, required = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// `raddle replay`.
#[derive(Args, Debug)]
pub struct Replay {
    /// The schedule file or bundle
    pub schedule: PathBuf,
    /// Replay it N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = amount::count)]
    pub runs: u64,
    /// Write the results as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print nothing but the verdict
    #[arg(long, short)]
    pub quiet: bool,
    /// Do not compare the environment with the recorded one
    #[arg(long)]
    pub any_env: bool,
    /// How the processes of runs are made.
    #[command(flatten)]
    pub process: ProcessOptions,
    /// A program and its arguments in place of the recorded ones
    #[arg(trailing_var_arg = true, value_name = "PROGRAM [ARGS]")]
    pub command: Vec<OsString>,
}

/// `raddle compare`.
#[derive(Args, Clone, Debug, Default)]
#[command(allow_negative_numbers = true)]
pub struct Compare {
    /// Compare these policies, separated by commas or semicolons (can be repeated) [default: all]
    #[arg(long, visible_alias = "policy", value_name = "A,B:KEY=VALUE,…")]
    pub policies: Vec<String>,
    /// Make N runs of each program under each policy [default: 1000]
    #[arg(long, value_name = "N", value_parser = amount::count)]
    pub runs: Option<u64>,
    /// Make R campaigns, each with its own seed, to measure the runs to the first failure [default: 5]
    #[arg(long, value_name = "R")]
    pub repeat: Option<u64>,
    /// Compare on all programs of a folder that have a header; raddle compiles them
    #[arg(long, value_name = "DIR")]
    pub suite: Option<PathBuf>,
    /// Take only programs of the folder whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
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
    /// Stop comparing after N seconds (or 5m, 2h) and report what there is
    #[arg(long, value_name = "N", value_parser = amount::seconds)]
    pub time: Option<f64>,
    /// Spend at most N seconds on each policy and program; results with fewer runs are marked
    #[arg(long, value_name = "N", value_parser = amount::seconds)]
    pub limit: Option<f64>,
    /// Build the programs of a folder below this one, in `build` [default: .raddle]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print no table and no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// What decides the runs.
    #[command(flatten)]
    pub run: RunOptions,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROGRAM [ARGS]")]
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
    /// The runtime library [default: $RADDLE_RUNTIME, or the one in this program]
    #[arg(long, value_name = "FILE")]
    pub runtime: Option<PathBuf>,
}

/// `raddle header`.
#[derive(Args, Debug)]
pub struct Header {
    /// Print the header itself, to keep in a project
    #[arg(long)]
    pub text: bool,
}

/// `raddle completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
    /// Write the scripts for raddle and cargo-raddle to a folder, named as the shell expects
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `raddle man`.
#[derive(Args, Debug)]
pub struct Man {
    /// Write a page for each command of raddle and cargo raddle to a folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
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
    fn the_dashes_can_be_left_out() {
        let command = |words: &[&str]| match Cli::try_parse_from(words).expect("is right").command {
            Command::Test(test) => (test.options.runs, test.command),
            Command::Compare(compare) => (compare.runs, compare.command),
            Command::Replay(replay) => (Some(replay.runs), replay.command),
            other => panic!("{other:?}"),
        };
        let expected = (Some(5), vec!["./a".into(), "--runs".into(), "7".into()]);
        assert_eq!(command(&["raddle", "test", "--runs", "5", "./a", "--runs", "7"]), expected);
        assert_eq!(command(&["raddle", "compare", "--runs", "5", "./a", "--runs", "7"]), expected);
        assert_eq!(command(&["raddle", "replay", "it", "--runs", "5", "./a", "--runs", "7"]), expected);
        assert_eq!(command(&["raddle", "replay", "--runs", "5", "it", "--", "./a", "--runs", "7"]), expected);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(Cli::try_parse_from(["raddle", "test"]).is_err());
        assert!(Cli::try_parse_from(["raddle", "compare", "--runs"]).is_err());
    }
}
