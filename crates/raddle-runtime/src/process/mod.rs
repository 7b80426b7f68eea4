//! The process under test, from exec to its end: how it finds the block, becomes a fork server, makes one run or many,
//! and how a run that failed ends.

pub mod attach;
pub mod check;
mod environment;
pub mod failure;
mod fork_server;
pub mod forkable;
pub mod library;
mod pipes;
pub mod policies;
pub mod series;
pub mod start;
