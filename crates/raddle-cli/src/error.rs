//! What goes wrong in a command, and the exit status that says so.

use std::io;
use std::path::PathBuf;

use raddle_report::exit_code;

use crate::arguments::config::ConfigError;
use crate::arguments::resolve::OptionError;
use crate::compile::CompileError;

/// A command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The project file is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An option is wrong.
    #[error(transparent)]
    Options(OptionError),
    /// The engine cannot do it.
    #[error(transparent)]
    Engine(#[from] raddle_engine::Error),
    /// A runtime library does not say which policies it has.
    #[error(transparent)]
    OwnPolicies(#[from] raddle_engine::plan::own_policies::OwnPoliciesError),
    /// The compiler of `raddle cc` or `raddle c++` could not do its work.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// There is no folder for `raddle.h`.
    #[error(transparent)]
    Header(#[from] raddle_runtime_image::NoFolder),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
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
    #[error("there is nothing to compare: name a program after -- or a folder with --suite")]
    NothingToCompare,
    /// A folder without programs.
    #[error(
        "{suite} has no matching program: a program is a .c, .cc or .rs file with a header (`// bug:`, `// \
             kind:`)"
    )]
    NoPrograms {
        /// The folder.
        suite: PathBuf,
    },
    /// The one program cannot be compared.
    #[error("{program} cannot be compared: {reason}")]
    NotCompared {
        program: String,
        /// Why.
        reason: String,
    },
    /// Something else, with its reasons.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        match error {
            OptionError::Engine(error) => Error::Engine(error),
            error => Error::Options(error),
        }
    }
}

impl Error {
    /// The exit status that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Engine(error) => error.exit_code(),
            Error::Compile(error) => error.exit_code(),
            _ => exit_code::USAGE,
        }
    }
}
