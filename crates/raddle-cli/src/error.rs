//! What goes wrong in a command, and the exit status that says so.

use std::io;
use std::path::PathBuf;

use raddle_core::schedule::ParseError;

use crate::campaign::each_test::EachTestError;
use crate::campaign::target_error::TargetError;
use crate::compile::CompileError;
use crate::config::ConfigError;
use crate::exit_code;
use crate::inspect::elf::Refusal;
use crate::options::OptionError;
use crate::own_policies::OwnPoliciesError;
use crate::policy_choice::PolicyError;
use crate::runtime_library::RuntimeError;
use crate::sync_functions::SyncFunctionError;

/// A command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The project file is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An option is wrong.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// A function of `--sync-function` is not there.
    #[error(transparent)]
    SyncFunction(#[from] SyncFunctionError),
    /// There is no runtime library.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A runtime library does not say which policies it has.
    #[error(transparent)]
    OwnPolicies(#[from] OwnPoliciesError),
    /// The program cannot be controlled.
    #[error("{program}: {refusal}")]
    Refused {
        /// As the user named it.
        program: String,
        /// Why.
        refusal: Refusal,
    },
    /// The program cannot be run.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The tests of a program cannot be listed.
    #[error(transparent)]
    EachTest(#[from] EachTestError),
    /// The compiler of `raddle cc` or `raddle c++` could not do its work.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// It has no tests that could be listed.
    #[error(
        "{program} does not list its tests: --each-test works for GoogleTest, Catch2 and Rust's own test programs"
    )]
    NoTests {
        /// The program.
        program: String,
    },
    /// A schedule file is damaged.
    #[error("{path} is not a good schedule file: {source}")]
    Schedule {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: ParseError,
    },
    /// A schedule file has parameters of a policy that this version does not know.
    #[error("{path} cannot be replayed by this version of raddle: {source}")]
    SchedulePolicy {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PolicyError,
    },
    /// A schedule file that another version wrote, or that was edited, has something unknown.
    #[error("{path} cannot be replayed: {reason}")]
    NotReplayable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Standard input cannot be captured.
    #[error("cannot capture standard input: {0}")]
    Stdin(#[source] io::Error),
    /// The current directory is gone.
    #[error("the current directory cannot be used: {0}")]
    Directory(#[source] io::Error),
    /// The process cannot be put on other cores.
    #[error("cannot choose the cores to run on: {0}")]
    Cores(#[source] io::Error),
    /// `raddle compare` without a program.
    #[error("there is nothing to compare: name a program after --, a folder with --suite or an experiment with --experiment")]
    NothingToCompare,
    /// A folder without programs.
    #[error("{suite} has no program that was asked for: a program is a .c, .cc or .rs file with a header (`// bug:`, `// kind:`)")]
    NoPrograms {
        /// The folder.
        suite: PathBuf,
    },
    /// The one program cannot be compared.
    #[error("{program} cannot be compared: {reason}")]
    NotCompared {
        /// The program.
        program: String,
        /// Why.
        reason: String,
    },
    /// There is no such experiment.
    #[error("there is no experiment `{name}`; {hint}")]
    NoExperiment {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// Something else, with its reasons.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl Error {
    /// The exit status that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Target(error) => error.exit_code(),
            Error::Compile(error) => error.exit_code(),
            _ => exit_code::USAGE,
        }
    }
}
