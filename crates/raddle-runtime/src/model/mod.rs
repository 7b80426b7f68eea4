//! The model: which threads can go on.
//!
//! One file per primitive. Each models the state of its object in place, in the layout of glibc
//! 2.34 and later, by pure operations: no operation sleeps, wakes, allocates or knows its caller.
//! Rule: an object that no thread holds or waits for has exactly the state that glibc gives it, so
//! that static initialisers work, destroyed objects can be reused, and a forked child can go on
//! with the real functions.

pub mod barrier;
pub mod descriptor;
pub mod destroyed;
pub mod mutex;
pub mod once;
pub mod requests;
pub mod rwlock;
pub mod semaphore;
pub mod signal_event;
pub mod spin_lock;
pub mod waiters;

/// A thread as the model knows it: its id plus one, so that 0 means no thread.
pub type Owner = u32;
