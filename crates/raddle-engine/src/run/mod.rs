//! One run after the other: the target is started, watched, looked at and judged.
//!
//! | file | one idea |
//! |---|---|
//! | `runner` | runs with their verdicts: what a job calls |
//! | `assignment` | which runs a job is to make, and those that passed |
//! | `executor` | makes a run happen: in a fork server, in a process of its own, in a check |
//! | `launch` | starts the target |
//! | `shared_block` | the engine's side of the shared memory |
//! | `watch` | waits for what happens |
//! | `strays` | ends what a run leaves behind |
//! | `output` | what a run prints |
//! | `classify`, `said`, `oracle` | from the traces of a run to a verdict |
//! | `threads`, `frames`, `library_waits`, `calls`, `races` | what a failed run looked like |
//! | `heap` | who freed and allocated the block that a failure is about |
//! | `observed` | what later runs can learn from a run |
//! | `retrace` | a failure of a parallel run, looked for in a serial one |
//! | `lateness` | the smallest delays with which a failure happens |
//! | `report` | what is reported of a run |

pub(crate) mod assignment;
pub(crate) mod calls;
pub(crate) mod classify;
pub(crate) mod executor;
pub mod frames;
pub(crate) mod heap;
pub mod lateness;
pub(crate) mod launch;
pub(crate) mod library_waits;
pub(crate) mod observed;
pub(crate) mod oracle;
pub mod output;
pub(crate) mod races;
pub mod report;
pub(crate) mod retrace;
pub(crate) mod runner;
pub mod said;
pub(crate) mod shared_block;

pub(crate) mod strays;
pub mod target_error;
pub mod threads;
pub(crate) mod watch;

pub(crate) use assignment::{Assignment, Batch};
