//! Why something cannot be explored, replayed or bundled.

use std::io;
use std::path::PathBuf;

use raddle_inspect::elf::Refusal;
use raddle_report::exit_code;
use raddle_schedule::ParseError;

use crate::each_test::EachTestError;
use crate::plan::own_policies::OwnPoliciesError;
use crate::plan::policy_choice::PolicyError;
use crate::plan::sync_functions::SyncFunctionError;
use crate::run::target_error::TargetError;
use crate::runtime::RuntimeError;

/// A number outside of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option} {value} is not valid: expected {expected}")]
pub struct RangeError {
    pub option: &'static str,
    /// What was given.
    pub value: String,
    /// What would do.
    pub expected: String,
}

/// The engine cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A number outside of its range.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// A text is not a policy.
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
    /// Things that do not go together, with the reason.
    #[error("{0}")]
    Excluded(String),
    /// A function that is to be a schedule point is not there.
    #[error(transparent)]
    SyncFunction(#[from] SyncFunctionError),
    /// There is no runtime library.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The program cannot be controlled.
    #[error("{program}: {refusal}")]
    Refused {
        /// As it was named.
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
    /// The program has no tests that could be listed.
    #[error(
        "{program} does not list its tests: --each-test works for GoogleTest, Catch2 and Rust's own test programs"
    )]
    NoTests { program: String },
    /// The user's oracle cannot be asked.
    #[error("the check `{command}` cannot be run: {reason}")]
    Oracle {
        command: String,
        /// Why.
        reason: String,
    },
    /// There is no schedule to replay.
    #[error("{path}: {what}; expected a bundle or a schedule file, such as raddle test writes to .raddle")]
    NoSchedule {
        /// As it was named.
        path: PathBuf,
        /// What is there instead.
        what: &'static str,
    },
    /// A schedule file is damaged.
    #[error("{path} is not a valid schedule file: {source}")]
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
        source: PolicyError,
    },
    /// A file cannot be used.
    #[error("{path} cannot be used: {reason}")]
    Unusable {
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
        source: io::Error,
    },
    /// An input cannot be kept.
    #[error("cannot keep the standard input: {0}")]
    Stdin(#[source] io::Error),
    /// The current directory is gone.
    #[error("the current directory cannot be used: {0}")]
    Directory(#[source] io::Error),
    /// A bundle cannot be made or opened.
    #[error(transparent)]
    Bundle(#[from] crate::bundle::BundleError),
}

impl Error {
    /// The exit status that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Target(error) => error.exit_code(),
            _ => exit_code::USAGE,
        }
    }
}
