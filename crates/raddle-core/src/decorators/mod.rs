//! Decorators: things that wrap a policy instead of being flags inside one.

pub mod guard;
pub mod parallel_replay;
pub mod replay;
pub mod round_robin;
