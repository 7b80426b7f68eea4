//! Mutexes, after POSIX pthread_mutex_lock and glibc's types.
//!
//! Barging is possible: an unlocked mutex has no owner, and any thread, waiting or not, may be
//! the next owner. Priority-inheritance and priority-ceiling mutexes behave as plain ones, because
//! priorities have no meaning under a controlled schedule.

use libc::{EAGAIN, EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM};

use super::Owner;

/// glibc's `struct __pthread_mutex_s`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Mutex {
    lock: u32,
    count: u32,
    owner: u32,
    users: u32,
    kind: u32,
    spins: i16,
    elision: i16,
    list: [usize; 2],
}

/// glibc's mutex types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// PTHREAD_MUTEX_NORMAL: locking twice deadlocks.
    Normal,
    /// PTHREAD_MUTEX_RECURSIVE.
    Recursive,
    /// PTHREAD_MUTEX_ERRORCHECK.
    ErrorCheck,
}

const ROBUST: u32 = 16;
const SHARED: u32 = 128;
/// What `elision` remembers of a robust mutex.
const REALLY_SHARED: i16 = 1;
const NOT_SHARED: i16 = 2;

/// Values of `owner` of a robust mutex whose owner died, as in glibc.
const INCONSISTENT: u32 = 0x7fff_ffff;
const NOT_RECOVERABLE: u32 = 0x7fff_fffe;
/// FUTEX_OWNER_DIED in `lock`: it is free, and its last owner died holding it.
const OWNER_DIED: u32 = 0x4000_0000;

/// The outcome of an attempt to lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// The caller owns the mutex now; the number is what the call returns (0 or EOWNERDEAD).
    Acquired(i32),
    /// The call fails with this number at once.
    Fails(i32),
    /// A thread holds it.
    Busy,
}

impl Mutex {
    pub fn kind(&self) -> Type {
        match self.kind & 3 {
            1 => Type::Recursive,
            2 => Type::ErrorCheck,
            // 0 is the timed (normal) one, 3 the adaptive one.
            _ => Type::Normal,
        }
    }

    /// Whether it lives in memory that other processes share. glibc marks every robust mutex so:
    /// for those `ask` says whether its memory is really shared, once.
    pub fn shared(&mut self, ask: impl FnOnce() -> bool) -> bool {
        if self.kind & SHARED == 0 {
            return false;
        }
        if self.robust() && self.elision == 0 {
            // A robust mutex does not use the field.
            self.elision = if ask() { REALLY_SHARED } else { NOT_SHARED };
        }
        self.elision != NOT_SHARED
    }

    /// Whether it is robust.
    pub fn robust(&self) -> bool {
        self.kind & ROBUST != 0
    }

    /// The thread that holds it; 0 if it is free or the holder is not known.
    pub fn holder(&self) -> Owner {
        match (self.free(), self.robust()) {
            (true, _) => 0,
            // While the state is inconsistent the owner stands in the spin count, which a robust
            // mutex does not use.
            (false, true) if self.owner >= NOT_RECOVERABLE => self.spins as u16 as u32,
            _ => self.owner,
        }
    }

    fn free(&self) -> bool {
        self.lock == 0 || self.lock == OWNER_DIED
    }

    /// Whether any thread that comes can acquire the mutex.
    #[inline]
    pub fn available(&self) -> bool {
        self.free() || self.owner == NOT_RECOVERABLE
    }

    /// Whether `me` can take a step into the mutex: it is free, or the call returns at once.
    pub fn ready(&self, me: Owner) -> bool {
        self.free() || (self.holder() == me && self.kind() != Type::Normal) || self.owner == NOT_RECOVERABLE
    }

    /// Locks the mutex for `me` if that is possible now.
    pub fn lock(&mut self, me: Owner) -> Attempt {
        if self.robust() && self.owner == NOT_RECOVERABLE {
            return Attempt::Fails(ENOTRECOVERABLE);
        }
        if !self.free() {
            if self.holder() != me {
                return Attempt::Busy;
            }
            return match self.kind() {
                Type::Normal => Attempt::Busy,
                Type::ErrorCheck => Attempt::Fails(EDEADLK),
                Type::Recursive if self.count == u32::MAX => Attempt::Fails(EAGAIN),
                Type::Recursive => {
                    self.count += 1;
                    Attempt::Acquired(0)
                }
            };
        }
        let died = self.lock == OWNER_DIED;
        self.lock = 1;
        self.users += 1;
        if self.kind() == Type::Recursive {
            self.count = 1;
        }
        if died {
            self.owner = INCONSISTENT;
            self.spins = me as u16 as i16;
            return Attempt::Acquired(EOWNERDEAD);
        }
        self.owner = me;
        Attempt::Acquired(0)
    }

    /// pthread_mutex_trylock.
    pub fn try_lock(&mut self, me: Owner) -> i32 {
        match self.lock(me) {
            Attempt::Acquired(result) => result,
            // An error-checking mutex that is tried by its owner is busy, not a deadlock.
            Attempt::Fails(EDEADLK) | Attempt::Busy => EBUSY,
            Attempt::Fails(error) => error,
        }
    }

    /// pthread_mutex_unlock. Any thread may unlock a normal mutex, as in glibc.
    pub fn unlock(&mut self, me: Owner) -> i32 {
        if self.robust() && self.owner == NOT_RECOVERABLE {
            return EPERM;
        }
        let mine = !self.free() && self.holder() == me;
        if !mine && (self.kind() != Type::Normal || self.robust()) {
            return EPERM;
        }
        if self.kind() == Type::Recursive {
            self.count -= 1;
            if self.count > 0 {
                return 0;
            }
        }
        let lost = self.robust() && self.owner == INCONSISTENT;
        self.release();
        if lost {
            // Unlocked without pthread_mutex_consistent: useless from now on.
            self.owner = NOT_RECOVERABLE;
        }
        0
    }

    fn release(&mut self) {
        self.lock = 0;
        self.owner = 0;
        self.users = self.users.saturating_sub(1);
        if self.robust() {
            self.spins = 0;
        }
    }

    /// Gives up the mutex for a wait on a condition; returns what [`Mutex::restore`] needs.
    pub fn release_for_wait(&mut self) -> u32 {
        let count = self.count;
        let users = self.users;
        self.release();
        self.count = 0;
        // A waiter is still a user: destroying the mutex meanwhile is an error.
        self.users = users;
        count
    }

    /// Takes the mutex back after a wait on a condition; it must be free.
    pub fn restore(&mut self, me: Owner, count: u32) -> i32 {
        // The waiter was never counted out, so it is not counted in again.
        let users = self.users;
        let result = match self.lock(me) {
            Attempt::Acquired(result) => result,
            Attempt::Fails(error) => error,
            Attempt::Busy => EBUSY,
        };
        self.users = users;
        self.count = count;
        result
    }

    /// A robust mutex's owner has ended.
    pub fn owner_died(&mut self) {
        self.release();
        self.count = 0;
        self.lock = OWNER_DIED;
    }

    /// pthread_mutex_consistent.
    pub fn make_consistent(&mut self, me: Owner) -> i32 {
        if !self.robust() || self.owner != INCONSISTENT || self.holder() != me {
            return EINVAL;
        }
        self.owner = me;
        self.spins = 0;
        0
    }

    /// Whether the real functions have marked it as having kernel waiters.
    pub fn has_kernel_waiters(&self) -> bool {
        self.lock > 1 && self.lock != OWNER_DIED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: u32) -> Mutex {
        Mutex { kind, ..Mutex::default() }
    }

    #[test]
    fn an_idle_mutex_looks_untouched() {
        for kind in 0..4 {
            let mut mutex = of(kind);
            assert_eq!(mutex.lock(1), Attempt::Acquired(0));
            assert_eq!(mutex.unlock(1), 0);
            assert_eq!((mutex.lock, mutex.count, mutex.owner, mutex.users), (0, 0, 0, 0));
        }
    }

    #[test]
    fn normal() {
        let mut mutex = of(0);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!(mutex.lock(1), Attempt::Busy);
        assert_eq!(mutex.try_lock(1), EBUSY);
        assert!(!mutex.ready(1) && !mutex.ready(2));
        assert_eq!(mutex.unlock(2), 0);
        assert!(mutex.ready(1));
    }

    #[test]
    fn recursive() {
        let mut mutex = of(1);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!(mutex.try_lock(1), 0);
        assert_eq!(mutex.try_lock(2), EBUSY);
        assert_eq!(mutex.unlock(2), EPERM);
        for _ in 0..3 {
            assert!(!mutex.ready(2));
            assert_eq!(mutex.unlock(1), 0);
        }
        assert!(mutex.ready(2));
        assert_eq!(mutex.unlock(1), EPERM);
    }

    #[test]
    fn error_checking() {
        let mut mutex = of(2);
        assert_eq!(mutex.unlock(1), EPERM);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!(mutex.lock(1), Attempt::Fails(EDEADLK));
        assert!(mutex.ready(1), "the call returns at once");
        assert_eq!(mutex.try_lock(1), EBUSY);
        assert_eq!(mutex.unlock(2), EPERM);
        assert_eq!(mutex.unlock(1), 0);
    }

    #[test]
    fn waiting_gives_up_all_of_a_recursive_mutex() {
        let mut mutex = of(1);
        mutex.lock(1);
        mutex.lock(1);
        let count = mutex.release_for_wait();
        assert!(mutex.ready(2));
        assert_ne!(mutex.users, 0);
        assert_eq!(mutex.restore(1, count), 0);
        assert_eq!((mutex.unlock(1), mutex.unlock(1), mutex.unlock(1)), (0, 0, EPERM));
        assert_eq!(mutex.users, 0);
    }

    #[test]
    fn robust() {
        let mut mutex = of(ROBUST);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        mutex.owner_died();
        assert_eq!(mutex.lock(2), Attempt::Acquired(EOWNERDEAD));
        assert_eq!(mutex.holder(), 2);
        assert_eq!(mutex.make_consistent(3), EINVAL);
        assert_eq!(mutex.make_consistent(2), 0);
        assert_eq!(mutex.unlock(2), 0);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        mutex.owner_died();
        assert_eq!(mutex.lock(2), Attempt::Acquired(EOWNERDEAD));
        assert_eq!(mutex.unlock(2), 0);
        assert_eq!(mutex.lock(1), Attempt::Fails(ENOTRECOVERABLE));
        assert_eq!(mutex.try_lock(1), ENOTRECOVERABLE);
    }
}
