//! Spin locks, after POSIX pthread_spin_lock. On x86 glibc keeps 1 in a free one and 0 in a held
//! one.

use libc::EBUSY;

/// glibc's pthread_spinlock_t.
#[repr(transparent)]
#[derive(Debug)]
pub struct SpinLock(i32);

/// What is neither free nor held.
const DESTROYED: i32 = -0x6465_7374;

impl SpinLock {
    /// Whether it was destroyed, and nothing was written over it since.
    pub fn destroyed(&self) -> bool {
        self.0 == DESTROYED
    }

    /// pthread_spin_destroy.
    pub fn destroy(&mut self) {
        self.0 = DESTROYED;
    }

    /// Whether it can be taken.
    pub fn ready(&self) -> bool {
        self.0 > 0 || self.destroyed()
    }

    /// pthread_spin_trylock.
    pub fn try_lock(&mut self) -> i32 {
        if self.0 <= 0 {
            return EBUSY;
        }
        self.0 = 0;
        0
    }

    /// pthread_spin_unlock.
    pub fn unlock(&mut self) {
        self.0 = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder() {
        let mut spin = SpinLock(1);
        assert_eq!((spin.try_lock(), spin.try_lock()), (0, EBUSY));
        assert!(!spin.ready());
        spin.unlock();
        assert!(spin.ready());
        spin.destroy();
        assert!(spin.destroyed() && spin.ready(), "the call ends the run at once");
    }
}
