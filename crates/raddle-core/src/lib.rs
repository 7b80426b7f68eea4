//! The part of raddle that needs no process: events, thread ids, the [`policy::Policy`] contract,
//! the policies, the schedule format and the layout of the memory that the command line and the
//! runtime share.
//!
//! The runtime uses this crate inside other people's processes, so everything but the text formats
//! works without `std` and without allocation.

#![cfg_attr(not(any(test, feature = "std")), no_std)]

pub mod block;
pub mod decorators;
pub mod enabled;
pub mod event;
pub mod hooks;
pub mod lessons;
pub mod policies;
pub mod policy;
pub mod policy_list;
pub mod races;
pub mod rng;
#[cfg(feature = "std")]
pub mod schedule;
pub mod thread;

#[cfg(test)]
mod toy;

pub use decorators::replay::Decision;
pub use enabled::EnabledSet;
pub use event::{Event, EventKind};
pub use policy::{Point, Policy};
pub use rng::Rng;
pub use thread::{ThreadId, MAX_THREADS};
