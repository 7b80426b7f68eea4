//! What the standard library does not have of the operating system: memfds, futexes, cores, processes by pidfd, and
//! directories for a while.

pub mod ask;
pub mod process;
pub mod scratch;
pub mod sys;
