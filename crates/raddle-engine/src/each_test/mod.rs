//! Test frameworks: the test cases of a program, each to be explored on its own (`--each-test`), and what a framework
//! says of a failure ([`failure`]).
//!
//! A program with a hundred tests wastes nearly all of its steps on tests that have nothing to do
//! with each other, and stops at the first that fails. The frameworks can list their tests and run
//! one alone; this finds out which framework a program is made with, asks it for its tests, and says
//! how to run each.
//!
//! A program is only ever started with a framework's options when its file shows that it contains
//! that framework.

pub mod arguments;
mod boost;
pub mod c_assertion;
mod catch2;
mod detect;
mod doctest;
pub mod failure;
mod googletest;
mod libtest;
mod listing;
mod python;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use detect::Framework;
pub(crate) use libtest::is_of_harness;
pub use libtest::without_harness;

/// One test of a test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// The name, as the framework prints it.
    pub name: String,
    /// All arguments to start the program with so that it runs this test and no other: those that
    /// the user gave, without selections of their own, and the selection of this test.
    pub arguments: Vec<OsString>,
}

/// Why the tests of a test program are not known.
#[derive(Debug, thiserror::Error)]
pub enum EachTestError {
    /// The program's file cannot be read.
    #[error("cannot read {path} to find its test framework: {source}")]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot start {path} to list its tests: {source}")]
    NotStarted {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program did not answer.
    #[error(
        "{path} {options} was still running after {} s, and listing tests should take no time; \
         does the program's main function pass its arguments to the test framework?",
        limit.as_secs()
    )]
    Slow {
        /// The program.
        path: PathBuf,
        /// The options that ask for the list.
        options: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The program answered with a failure.
    #[error("{path} {options} ended with {status} instead of listing its tests: {message}")]
    Failed {
        /// The program.
        path: PathBuf,
        /// The options that ask for the list.
        options: String,
        /// How it ended.
        status: ExitStatus,
        /// The last of what it wrote to standard error.
        message: String,
    },
}

/// Whether a program is made with Rust's own test harness.
pub fn is_libtest(program: &Path) -> Result<bool, EachTestError> {
    let framework =
        detect::framework(program).map_err(|source| EachTestError::Unreadable { path: program.into(), source })?;
    Ok(framework == Some(Framework::Libtest))
}

/// The tests of a program made with GoogleTest, Catch2 (2 and 3), doctest or Rust's own test
/// harness, among those that the user's `arguments` select; `None` for any other program, which is
/// not started at all.
///
/// Tests that are disabled or ignored are left out unless the arguments ask for them.
pub fn list(program: &Path, arguments: &[OsString]) -> Result<Option<Vec<TestCase>>, EachTestError> {
    let framework =
        detect::framework(program).map_err(|source| EachTestError::Unreadable { path: program.into(), source })?;
    match framework {
        None => Ok(None),
        Some(Framework::GoogleTest) => googletest::list(program, arguments).map(Some),
        Some(Framework::Catch2(version)) => catch2::list(program, arguments, version).map(Some),
        Some(Framework::Doctest) => doctest::list(program, arguments).map(Some),
        Some(Framework::Libtest) => libtest::list(program, arguments).map(Some),
    }
}
