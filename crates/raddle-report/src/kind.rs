//! The kinds of failures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// A failed assertion or a panic.
    Assert,
    /// A fatal signal.
    Signal,
    /// A wrong exit status.
    Exit,
    /// Threads that wait for each other.
    Deadlock,
    /// Many steps without progress.
    Livelock,
    /// Too long by the wall clock.
    Timeout,
    /// Wrong output.
    Output,
    /// The user's check failed.
    Check,
    /// A sanitizer's report.
    Sanitizer,
    /// The body of a check left threads running.
    Threads,
    /// State leaks between the iterations of a check.
    Leak,
    /// A data race.
    Race,
    /// A destroyed or overwritten object was used, or freed memory.
    Misuse,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [FailureKind; 13] = [
        FailureKind::Assert,
        FailureKind::Signal,
        FailureKind::Exit,
        FailureKind::Deadlock,
        FailureKind::Livelock,
        FailureKind::Timeout,
        FailureKind::Output,
        FailureKind::Check,
        FailureKind::Sanitizer,
        FailureKind::Threads,
        FailureKind::Leak,
        FailureKind::Race,
        FailureKind::Misuse,
    ];

    /// The name in JSON, in schedule files and in their names.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Assert => "assert",
            FailureKind::Signal => "signal",
            FailureKind::Exit => "exit",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Livelock => "livelock",
            FailureKind::Timeout => "timeout",
            FailureKind::Output => "output",
            FailureKind::Check => "check",
            FailureKind::Sanitizer => "sanitizer",
            FailureKind::Threads => "threads",
            FailureKind::Leak => "leak",
            FailureKind::Race => "race",
            FailureKind::Misuse => "misuse",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<FailureKind> {
        FailureKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// For a person.
    pub fn title(self) -> &'static str {
        match self {
            FailureKind::Assert => "assertion failure",
            FailureKind::Signal => "fatal signal",
            FailureKind::Exit => "wrong exit status",
            FailureKind::Deadlock => "deadlock",
            FailureKind::Livelock => "livelock",
            FailureKind::Timeout => "time-out",
            FailureKind::Output => "wrong output",
            FailureKind::Check => "failed check",
            FailureKind::Sanitizer => "sanitizer report",
            FailureKind::Threads => "threads left behind",
            FailureKind::Leak => "leaking state",
            FailureKind::Race => "data race",
            FailureKind::Misuse => "misuse",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for kind in FailureKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("a name"), kind.name());
            assert_eq!(FailureKind::from_name(kind.name()), Some(kind));
        }
    }
}
