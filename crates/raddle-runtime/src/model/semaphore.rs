//! Semaphores, after POSIX sem_wait and sem_post. Any waiter, or a newcomer, may take a unit.

use libc::{EAGAIN, EOVERFLOW};

/// glibc's `struct new_sem` for 64-bit machines: the value is the low half of its first word.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Semaphore {
    value: u32,
    kernel_waiters: u32,
    private: u32,
    padding: [u32; 3],
    /// glibc does not use it.
    mark: u64,
}

/// The mark of a destroyed semaphore.
const DESTROYED: u64 = 0x6465_7374_726f_7965;

const MOST: u32 = 0x7fff_ffff;

impl Semaphore {
    /// Whether it was destroyed, and not initialised since.
    #[inline]
    pub fn destroyed(&self) -> bool {
        self.mark == DESTROYED
    }

    /// sem_destroy, or the beginning of sem_init, which leaves the mark alone.
    pub fn set_destroyed(&mut self, destroyed: bool) {
        self.mark = if destroyed { DESTROYED } else { 0 };
    }

    /// Whether it lives in memory that other processes share.
    pub fn shared(&self) -> bool {
        self.private != 0
    }

    /// Whether a unit can be taken.
    pub fn ready(&self) -> bool {
        self.value > 0 || self.destroyed()
    }

    /// sem_trywait: 0 or EAGAIN.
    pub fn try_take(&mut self) -> i32 {
        if self.value == 0 {
            return EAGAIN;
        }
        self.value -= 1;
        0
    }

    /// sem_post: 0 or EOVERFLOW.
    pub fn post(&mut self) -> i32 {
        if self.value >= MOST {
            return EOVERFLOW;
        }
        self.value += 1;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut semaphore = Semaphore { value: 1, ..Semaphore::default() };
        assert_eq!((semaphore.try_take(), semaphore.try_take()), (0, EAGAIN));
        assert!(!semaphore.ready());
        assert_eq!(semaphore.post(), 0);
        assert!(semaphore.ready());
        semaphore.value = MOST;
        assert_eq!(semaphore.post(), EOVERFLOW);
    }
}
