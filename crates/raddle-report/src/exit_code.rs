//! The exit statuses of `raddle`. They are part of the contract with scripts and CI pipelines.

/// No failure was found; for `replay`: the recorded failure did not happen.
pub const OK: u8 = 0;

/// A failure was found; for `replay`: it happened again.
pub const FAILURE: u8 = 1;

/// The command line, an input file or the set-up is wrong.
pub const USAGE: u8 = 2;

/// Nothing was under control or explored: no schedule point was seen with two threads alive, the program never
/// started a thread, or no run finished.
pub const NOTHING_CONTROLLED: u8 = 3;

/// A replay diverged from its recording.
pub const DIVERGED: u8 = 4;

/// raddle itself failed.
pub const INTERNAL: u8 = 5;

/// What is added to the number of the signal that stopped a command, as shells do.
pub const SIGNAL: u8 = 128;
