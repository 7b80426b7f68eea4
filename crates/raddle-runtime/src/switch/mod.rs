//! The switch: makes a decision so. Only this part sleeps and wakes.
//!
//! Back-ends: [`os`] hands a baton between OS threads. Fibers and the parallel gate come behind the
//! same three calls: `run`, `wait_turn`, `leave`.

pub mod os;
