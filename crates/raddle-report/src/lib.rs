//! The results of raddle, for other tools: what `--json` writes, with serde both ways, and the exit statuses.
//!
//! Fields are added, never changed or removed, so a tool that ignores what it does not know keeps working. The JSON
//! schemas stand in the folder `schema` of this crate; [`schema`] makes them.
//!
//! | module | one idea |
//! |---|---|
//! | `campaign` | the result of `raddle test`, and of each test of a program |
//! | `worth` | what a campaign is worth: bounds, schedules, orders of steps |
//! | `search` | a systematic search that came to its end |
//! | `replay` | the result of `raddle replay` |
//! | `kind` | the kinds of failures |
//! | `exit_code` | the exit statuses |
//! | `schema` | the JSON schemas of all of these |
//! | `words` | numbers as people read them |

#![warn(missing_docs)]

pub mod campaign;
pub mod exit_code;
pub mod kind;
pub mod replay;
pub mod schema;
pub mod search;
pub mod words;
pub mod worth;

pub use campaign::{Failure, RacingPlace, Report, TestReport, TestReports, Thread};
pub use kind::FailureKind;
pub use replay::ReplayReport;

/// The version of the format of every document.
pub const VERSION: u32 = 1;
