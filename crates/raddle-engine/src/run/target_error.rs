//! Why a target cannot be run at all, as opposed to a run that fails.

use serde::{Deserialize, Serialize};

use raddle_report::exit_code;

/// The target or the runtime in it does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum TargetError {
    /// It could not be started.
    #[error("{0}")]
    Launch(String),
    /// It ended before the runtime was attached.
    #[error(
        "the program could not be put under control: it ended ({ending}) before the runtime library \
         was loaded into it{}", said(.stderr)
    )]
    NotLoaded {
        /// How it ended.
        ending: String,
        /// What it printed.
        stderr: Vec<String>,
    },
    /// It runs, but without the runtime.
    #[error(
        "the program runs, but the runtime library was not loaded into it within {seconds} s; \
         is it statically linked, or does it start another program that is?"
    )]
    NotAttached {
        /// How long we waited.
        seconds: u64,
    },
    /// A program with checks does not reach the one that is to make the runs.
    #[error("the program did not reach its check within {seconds} s; --run-timeout gives it more time")]
    NoCheck {
        /// How long we waited.
        seconds: u64,
    },
    /// A program with checks ended without the one that is to make the runs.
    #[error("the program ended without reaching its check; do its arguments select a test that has one?")]
    CheckNotReached,
    /// More threads than the runtime has room for.
    #[error(
        "run {run} started more than {} threads, which is the most that can be controlled",
        raddle_core::MAX_THREADS
    )]
    TooManyThreads { run: u64 },
    /// The program has written where only raddle writes.
    #[error(
        "in run {run} the program wrote over the memory that it shares with raddle, so nothing is known about that run; \
         look for a write through a wrong pointer, for example with AddressSanitizer"
    )]
    Overwritten { run: u64 },
    /// The runtime failed.
    #[error("the runtime failed in run {run}: {message}; please report this with the command and the seed")]
    Internal {
        run: u64,
        /// What it said.
        message: String,
    },
    /// The campaign could not be set up.
    #[error("the campaign could not be set up: {0}")]
    SetUp(String),
    /// The machine does not play along.
    #[error("{0}")]
    System(String),
}

impl TargetError {
    /// The exit status that says so.
    pub fn exit_code(&self) -> u8 {
        match self {
            TargetError::Internal { .. } | TargetError::System(_) => exit_code::INTERNAL,
            _ => exit_code::USAGE,
        }
    }
}

fn said(stderr: &[String]) -> String {
    if stderr.is_empty() {
        "; it printed nothing on standard error".to_string()
    } else {
        format!("; it said:\n  {}", stderr.join("\n  "))
    }
}
