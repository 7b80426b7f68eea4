//! Explores schedules of a program: the campaigns of raddle as a library.
//!
//! ```no_run
//! use raddle_engine::{Campaign, Event};
//!
//! # fn main() -> Result<(), raddle_engine::Error> {
//! let campaign = Campaign::builder("./bank").argument("3").policy("pct:d=3").runs(1_000).start()?;
//! for event in campaign {
//!     match event {
//!         Event::Finding(finding) => println!("{}", finding.failure.message),
//!         Event::Over(outcome) => println!("{} runs", outcome.tally.runs),
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The engine prints nothing. It installs no signal handler, does not change the directory of its process and starts no
//! process but the program under test, the user's oracle and, to ask a runtime for its policies, `/bin/true`. Its jobs
//! are threads, so a process may run several campaigns at once. The host must not wait for children that it did not
//! start, and must not ignore SIGCHLD.
//!
//! | module | one idea |
//! |---|---|
//! | `builder`, `options`, `subject` | what is asked for, and the program that it is asked of |
//! | `campaign` | many runs with one result; the events |
//! | `preview` | what of a program would be controlled, without running it |
//! | `replay`, `bundle` | a recorded run, again; packed to replay elsewhere |
//! | `each_test` | the tests of a program, one by one |
//! | `report` | from an outcome to what other tools read |
//! | `job` | a thread that makes runs |
//! | `run` | one run: started, watched, looked at and judged |
//! | `plan` | what a campaign is to do |
//! | `runtime` | the library that is loaded into programs |
//! | `statistics` | what many runs say, and how sure that is |
//! | `os` | what the standard library does not have of the operating system |

mod builder;
pub mod bundle;
pub mod campaign;
pub mod each_test;
pub mod error;
mod job;
pub mod options;
pub mod os;
pub mod plan;
pub mod preview;
pub mod replay;
pub mod report;
pub mod run;
pub mod runtime;
pub mod statistics;
pub mod subject;

pub use builder::Builder;
pub use campaign::{Campaign, End, Event, Finding, Outcome};
pub use error::Error;
pub use options::Options;
pub use plan::policy_choice::PolicyChoice;
pub use plan::Plan;
pub use subject::Subject;
