//! The part of raddle that needs no process: events, thread ids, the [`policy::Policy`] contract, the policies and
//! their decorators.
//!
//! The runtime uses this crate inside other people's processes, so it works without `std` and without allocation.
//!
//! | module | one idea |
//! |---|---|
//! | `policy` | the contract of a policy |
//! | `policies` | the policies, one file each |
//! | `decorators` | policies around policies: record, replay, guard |
//! | `delays` | time that passes although threads could run |
//! | `event`, `thread`, `enabled` | what a thread is about to do, which thread it is, and who could go on |
//! | `lessons` | what a policy is told of earlier runs |
//! | `rng` | the one random generator |
//! | `toy` | programs in memory, to test policies without a process |

#![cfg_attr(not(test), no_std)]

pub mod decorators;
pub mod delays;
pub mod enabled;
pub mod event;
pub mod lessons;
pub mod policies;
pub mod policy;
pub mod rng;
pub mod thread;

#[cfg(test)]
mod toy;

pub use decorators::replay::Decision;
pub use delays::Delay;
pub use enabled::EnabledSet;
pub use event::{Event, EventKind};
pub use policy::{Point, Policy};
pub use rng::Rng;
pub use thread::{ThreadId, MAX_THREADS};
