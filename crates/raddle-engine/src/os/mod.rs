//! What the standard library does not have of the operating system: memfds, futexes, cores, processes by pidfd, and
//! directories for a while.

pub mod ask;
pub mod folder;
pub(crate) mod process;
pub(crate) mod scratch;
pub mod sys;
