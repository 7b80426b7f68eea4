//! Read-write locks, after POSIX pthread_rwlock_rdlock and glibc's preferences.
//!
//! By default readers get in while others read even if a writer waits; with
//! PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP a waiting writer keeps new readers out, so a thread
//! that reads twice can deadlock with it, as it really can.

use libc::{EBUSY, EDEADLK, EPERM};

use super::Owner;

/// glibc's `struct __pthread_rwlock_arch_t`; the model counts in its two padding words.
#[repr(C)]
#[derive(Debug, Default)]
pub struct RwLock {
    /// The real functions' count of readers, above the three bits below.
    state: u32,
    glibc: [u32; 3],
    readers: u32,
    waiting_writers: u32,
    writer: u32,
    shared: u32,
    elision: [u8; 8],
    /// glibc does not use it, and every way to initialise the lock clears it.
    mark: u64,
    preference: u32,
}

/// In `state`: it is the writers' turn.
const WRITERS_TURN: u32 = 1;
/// In `state`: a writer holds it, or waits for the readers to leave.
const WRITER: u32 = 2;
/// In `state`: where the count of readers starts.
const READERS: u32 = 8;

/// The mark of a destroyed lock.
const DESTROYED: u64 = 0x6465_7374_726f_7965;

const PREFER_WRITER_NONRECURSIVE: u32 = 2;

impl RwLock {
    /// Whether it was destroyed, and nothing was written over it since.
    #[inline]
    pub fn destroyed(&self) -> bool {
        self.mark == DESTROYED
    }

    /// pthread_rwlock_destroy.
    pub fn destroy(&mut self) {
        self.mark = DESTROYED;
    }

    /// Whether it lives in memory that other processes share.
    pub fn shared(&self) -> bool {
        self.shared != 0
    }

    /// The writer that holds it; 0 if it is free, or held by readers.
    pub fn holder(&self) -> Owner {
        self.writer
    }

    /// Whether a call for reading goes on: it gets the lock, or fails at once.
    pub fn ready_to_read(&self, me: Owner) -> bool {
        self.writer == me || self.readable() || self.destroyed()
    }

    fn readable(&self) -> bool {
        self.writer == 0 && !(self.preference == PREFER_WRITER_NONRECURSIVE && self.waiting_writers > 0)
    }

    /// Whether a call for writing goes on: it gets the lock, or fails at once.
    pub fn ready_to_write(&self, me: Owner) -> bool {
        self.writer == me || self.writable() || self.destroyed()
    }

    fn writable(&self) -> bool {
        self.writer == 0 && self.readers == 0
    }

    /// pthread_rwlock_rdlock; EBUSY when it would have to wait.
    pub fn lock_for_reading(&mut self, me: Owner) -> i32 {
        if self.writer == me {
            return EDEADLK;
        }
        if !self.readable() {
            return EBUSY;
        }
        self.readers += 1;
        0
    }

    /// pthread_rwlock_wrlock; EBUSY when it would have to wait.
    pub fn lock_for_writing(&mut self, me: Owner) -> i32 {
        if self.writer == me {
            return EDEADLK;
        }
        if !self.writable() {
            return EBUSY;
        }
        self.writer = me;
        0
    }

    /// Whether the real function may let a reader in.
    pub fn looks_readable(&self) -> bool {
        self.state & WRITERS_TURN == 0 || self.state & WRITER == 0
    }

    /// Whether the real function may let a writer in.
    pub fn looks_writable(&self) -> bool {
        self.state & WRITER == 0 && (self.state & WRITERS_TURN != 0 || self.state < READERS)
    }

    /// A writer starts to wait.
    pub fn writer_waits(&mut self) {
        self.waiting_writers += 1;
    }

    /// A writer waits no longer.
    pub fn writer_stops_waiting(&mut self) {
        self.waiting_writers = self.waiting_writers.saturating_sub(1);
    }

    /// pthread_rwlock_unlock.
    pub fn unlock(&mut self, me: Owner) -> i32 {
        if self.writer == me {
            self.writer = 0;
        } else if self.readers > 0 {
            self.readers -= 1;
        } else {
            return EPERM;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_writers_do_not() {
        let mut lock = RwLock::default();
        assert_eq!((lock.lock_for_reading(1), lock.lock_for_reading(2)), (0, 0));
        assert!(!lock.ready_to_write(3));
        assert_eq!(lock.lock_for_writing(3), EBUSY);
        assert_eq!((lock.unlock(1), lock.unlock(2)), (0, 0));
        assert_eq!(lock.lock_for_writing(3), 0);
        assert!(!lock.ready_to_read(1) && !lock.ready_to_write(1));
        assert_eq!((lock.lock_for_writing(3), lock.lock_for_reading(3)), (EDEADLK, EDEADLK));
        assert_eq!(lock.unlock(3), 0);
        assert_eq!(lock.unlock(3), EPERM);
        assert_eq!((lock.readers, lock.writer, lock.waiting_writers), (0, 0, 0));
    }

    #[test]
    fn preference_decides_who_gets_in_past_a_waiting_writer() {
        for (preference, gets_in) in [(0, true), (1, true), (2, false)] {
            let mut lock = RwLock { preference, ..RwLock::default() };
            lock.lock_for_reading(1);
            lock.writer_waits();
            assert_eq!(lock.ready_to_read(2), gets_in);
            lock.writer_stops_waiting();
            assert!(lock.ready_to_read(2));
        }
    }
}
