//! What raddle and the runtime in the program under test say to each other: the shared [`block`] in its parts, the table
//! of [`hooks`] in instrumented programs, the list of a runtime's policies, and the note in a runtime library.
//!
//! | module | one idea |
//! |---|---|
//! | `block`, `layout` | the whole block, where it lies, and the hash of its layout |
//! | `run_settings` | what decides a run, from the option to the schedule file |
//! | `settings` | what else is wanted of the runs |
//! | `control` | the turn-taking: commands, events, why something is not possible |
//! | `results` | what a run did, how it ended, what escaped control |
//! | `threads` | where each thread stood when a run failed |
//! | `trace` | what later runs can learn from a run |
//! | `heap` | what becomes of freed memory, and the block that a failure is about |
//! | `races` | places that race go in, races that were seen come out |
//! | `check` | what a program with checks asks for |
//! | `hooks` | the table through which instrumented programs call |
//! | `policy_list` | how a runtime lists its policies |
//! | `runtime_note` | how a runtime library names its layout of the block |
//!
//! What policies are told of earlier runs is part of their contract: [`lessons`] stands in `raddle-core` and lies in the
//! block as it is.

#![cfg_attr(not(test), no_std)]

pub mod block;
pub mod check;
pub mod control;
pub mod heap;
pub mod hooks;
pub mod layout;
pub mod policy_list;
pub mod races;
pub mod results;
pub mod run_settings;
pub mod runtime_note;
pub mod settings;
pub mod threads;
pub mod trace;

pub use block::{text, Block};
pub use check::CheckRequest;
pub use control::{Control, Fallback, OsReason};
pub use heap::Heap;
pub use raddle_core::lessons;
pub use results::{Escape, Outcome, Results, Summary};
pub use run_settings::{PolicySettings, RunSettings, Setting};
pub use settings::{Points, Settings, Stacks};
pub use threads::{NamedCall, ThreadReport, ThreadState};
pub use trace::Trace;
