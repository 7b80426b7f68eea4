//! The part of raddle that needs no process: events, thread ids, the [`policy::Policy`] contract, the policies and
//! their decorators.
//!
//! The runtime uses this crate inside other people's processes, so it works without `std` and without allocation.

#![cfg_attr(not(test), no_std)]

pub mod decorators;
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
pub use enabled::EnabledSet;
pub use event::{Event, EventKind};
pub use policy::{Point, Policy};
pub use rng::Rng;
pub use thread::{ThreadId, MAX_THREADS};
