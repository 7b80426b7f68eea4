//! The library that raddle loads into the program under test.
//!
//! The folders are the boxes of the architecture: `points` (something is about to happen), `model`
//! (who could go on), `scheduler` (asks the policy, keeps the books) and `switch` (makes it so). The
//! policies themselves are in raddle-core.
//!
//! | module | one idea |
//! |---|---|
//! | [`points`], [`access`] | something is about to happen: a call; an access of an instrumented program |
//! | [`model`] | who could go on |
//! | [`scheduler`], [`policies`] | keeps the books, asks the policy; the policies that there are to ask |
//! | [`switch`] | makes it so |
//! | [`race`] | tells data races |
//! | [`signals`], [`dispatch`] | signals as decisions; system calls that are made past libc |
//! | [`start`], [`series`], [`check`] | from exec to main; many runs of a fork server; many runs in one process |
//! | [`control`], [`pointers`] | which threads are under control, and how the current one is found |
//! | [`failure`], [`output`] | the end of a run that failed; text without an allocation |
//! | [`tick`], [`memory`], [`tls`] | code without points; memory shared between processes; thread-local storage |
//! | [`library`], [`sys`] | what a library must contain once; raw system calls |
//! | `verify` | with the feature `verify`: the books, compared after every decision |
//!
//! Rules for code in here: it runs before main, inside other people's locks, in forked children and
//! in signal handlers. No thread-local state, no allocation, no libc call on the path of a schedule
//! point, no panic.
//!
//! The library itself is a crate of type `cdylib` that depends on this one and calls [`runtime!`], or [`register!`] if it
//! has policies of its own. raddle-runtime-image builds the library that comes with raddle.
//!
//! The functions that nearly every run calls lie together, in the section `raddle_run`: the child of a fork
//! server pays for each stretch of text that it is the first to touch, and the rest is eight times as long.

#![cfg_attr(not(test), no_std)]
// Interposed functions keep the contracts of the functions they stand for; see their manual pages.
#![allow(clippy::missing_safety_doc)]
// The bodies that `interpose!` takes are meant to be unsafe code.
#![allow(clippy::macro_metavars_in_unsafe)]

pub mod access;
pub mod check;
pub mod control;
pub mod dispatch;
pub mod failure;
pub mod library;
pub mod memory;
pub mod model;
pub mod output;
pub mod pointers;
pub mod points;
pub mod policies;
pub mod race;
pub mod scheduler;
pub mod series;
pub mod signals;
pub mod start;
pub mod switch;
pub mod sys;
pub mod tick;
pub mod tls;
#[cfg(feature = "verify")]
mod verify;
