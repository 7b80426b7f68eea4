//! What goes wrong in `cargo raddle`, and the exit status that says so.

use std::io;
use std::path::PathBuf;

use crate::error::Error;
use raddle_engine::each_test::EachTestError;
use raddle_report::exit_code;

/// A command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// Cargo ended with this status and has said why.
    #[error("cargo failed")]
    Cargo(u8),
    /// There is no cargo.
    #[error("cannot start {program}: {source}")]
    NotStarted {
        /// What should have been started.
        program: String,
        source: io::Error,
    },
    /// Cargo said something that is not understood.
    #[error("cannot understand {what} from cargo: {reason}")]
    NotUnderstood { what: &'static str, reason: String },
    /// Cargo built a program and then did not start it.
    #[error("cargo reported no command line for {program}; its output was:\n{said}")]
    NotRecorded { program: String, said: String },
    /// A target other than the one.
    #[error(
        "--target {0} is not supported: raddle only controls programs for {target}",
        target = crate::compile::rustc::TARGET
    )]
    Target(String),
    /// A machine that is none of ours.
    #[error(
        "this toolchain is for {0}, but raddle only controls programs for {target}; activate a toolchain for that \
         target (`rustup default stable-{target}`)",
        target = crate::compile::rustc::TARGET
    )]
    Host(String),
    /// `--std` without the sources of the standard library.
    #[error(
        "--std rebuilds the standard library, but its sources are not installed ({0} is missing): \
         `rustup component add rust-src` installs them"
    )]
    NoStdSources(PathBuf),
    /// There is nothing to explore.
    #[error("there are no tests here: none of the test executables that cargo built has a #[test]")]
    NoTests,
    /// A file or folder of ours.
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Listing(#[from] EachTestError),
    /// What `raddle test` would say, too.
    #[error(transparent)]
    Raddle(#[from] Error),
}

impl CargoError {
    /// The exit status that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            CargoError::Cargo(status) => *status,
            CargoError::NoTests => exit_code::NOTHING_CONTROLLED,
            CargoError::Raddle(error) => error.exit_code(),
            _ => exit_code::USAGE,
        }
    }
}
