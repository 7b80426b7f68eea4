//! Thread identities.
//!
//! A thread's id is its number in the order of creation within one run; the main thread is 0. The
//! order of creation is itself decided by the schedule, so the same seed gives the same ids.

use core::fmt;

/// The most threads that one run may have, counted over its whole life.
pub const MAX_THREADS: usize = 4096;

/// The number of a thread in the order of creation; the main thread is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct ThreadId(pub u16);

impl ThreadId {
    /// The thread that the process starts with.
    pub const MAIN: ThreadId = ThreadId(0);

    /// The id as an index into per-thread tables.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}
