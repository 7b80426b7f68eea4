//! Mutexes, after POSIX pthread_mutex_lock and glibc's types.
//!
//! Barging is possible: an unlocked mutex has no owner, and any thread, waiting or not, may be
//! the next owner. Priority inheritance changes only which errors are reported, because
//! priorities have no meaning under a controlled schedule. Mutexes with a priority ceiling, and those that
//! other processes share, are left to the real functions: here it is only told whether they are free.

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
const INHERIT: u32 = 32;
const PROTECT: u32 = 64;
const SHARED: u32 = 128;
/// All bits of `kind` that glibc sets: the type, the four above, and whether the lock may be elided.
const KINDS: u32 = 3 | ROBUST | INHERIT | PROTECT | SHARED | 256 | 512;
/// What pthread_mutex_destroy leaves in `kind`.
const DESTROYED: u32 = u32::MAX;
/// What `elision` remembers of a robust mutex.
const REALLY_SHARED: i16 = 1;
const NOT_SHARED: i16 = 2;

/// Values of `owner` of a robust mutex whose owner died, as in glibc.
const INCONSISTENT: u32 = 0x7fff_ffff;
const NOT_RECOVERABLE: u32 = 0x7fff_fffe;
/// In `lock` of robust and inheriting mutexes: who holds it.
const HOLDER: u32 = 0x3fff_ffff;
/// FUTEX_OWNER_DIED in `lock`: it is free, and its last owner died holding it.
const OWNER_DIED: u32 = 0x4000_0000;
/// FUTEX_WAITERS in `lock`.
const WAITERS: u32 = 0x8000_0000;
/// In `lock` of a mutex with a priority ceiling: the ceiling.
const CEILING: u32 = 0xfff8_0000;

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

/// Why memory that is used as a mutex is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    Destroyed,
    /// It never was one, or something else was written over it.
    Overwritten,
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

    /// Whether it has priority inheritance.
    pub fn inheriting(&self) -> bool {
        self.kind & INHERIT != 0
    }

    /// Whether it has a priority ceiling.
    pub fn protected(&self) -> bool {
        self.kind & PROTECT != 0
    }

    /// Whether it may be one that is left to the real functions.
    #[inline]
    pub fn may_be_real(&self) -> bool {
        self.kind & (PROTECT | SHARED) != 0
    }

    /// Whether the kernel keeps books on its owner: it must be the OS thread that it seems to be.
    pub fn known_to_kernel(&self) -> bool {
        self.kind & (ROBUST | INHERIT | PROTECT) != 0
    }

    /// What is wrong with it, if anything is.
    #[inline]
    pub fn damage(&self) -> Option<Damage> {
        match self.kind {
            DESTROYED => Some(Damage::Destroyed),
            kind if kind & !KINDS != 0 => Some(Damage::Overwritten),
            _ => None,
        }
    }

    /// Whether it is held, but by none of the threads with the numbers up to `most`: not a state that
    /// locking leads to.
    pub fn held_by_none_of(&self, most: Owner) -> bool {
        !self.free() && !self.protected() && !(1..=most).contains(&self.holder())
    }

    /// The thread that holds it; 0 if it is free or the holder is not known.
    pub fn holder(&self) -> Owner {
        match () {
            _ if self.protected() || self.free() => 0,
            _ if self.robust() => self.lock & HOLDER,
            _ => self.owner,
        }
    }

    /// The kernel's id of the thread that holds a mutex of the real functions.
    pub fn real_holder(&self) -> u32 {
        self.owner
    }

    #[inline]
    fn free(&self) -> bool {
        self.lock == 0 || self.free_otherwise()
    }

    fn free_otherwise(&self) -> bool {
        match () {
            _ if self.protected() => self.lock & !CEILING == 0,
            _ if self.kind & (ROBUST | INHERIT) != 0 => self.lock & HOLDER == 0,
            _ => false,
        }
    }

    /// Whether it is of no use any more: its last owner has unlocked it without making it consistent.
    fn lost(&self) -> bool {
        self.robust() && self.owner == NOT_RECOVERABLE
    }

    /// Whether any thread that comes goes on at once.
    #[inline]
    pub fn available(&self) -> bool {
        self.free() || self.lost() || self.damage().is_some()
    }

    /// Whether `me` can take a step into the mutex: it is free, or the call returns at once.
    #[inline]
    pub fn ready(&self, me: Owner) -> bool {
        self.available() || (self.kind() != Type::Normal && self.holder() == me)
    }

    /// Locks the mutex for `me` if that is possible now.
    pub fn lock(&mut self, me: Owner) -> Attempt {
        if !self.free() {
            return self.lock_held(me);
        }
        if self.lost() {
            return Attempt::Fails(ENOTRECOVERABLE);
        }
        let died = self.robust() && self.lock & OWNER_DIED != 0;
        self.lock = if self.robust() { me } else { 1 };
        if died || self.kind() == Type::Recursive {
            self.count = 1;
        }
        if died {
            // It still counts as the user that it was of the dead one.
            self.owner = INCONSISTENT;
            return Attempt::Acquired(EOWNERDEAD);
        }
        self.users = self.users.wrapping_add(1);
        self.owner = me;
        Attempt::Acquired(0)
    }

    fn lock_held(&mut self, me: Owner) -> Attempt {
        if self.holder() != me {
            return Attempt::Busy;
        }
        match self.kind() {
            Type::Normal => Attempt::Busy,
            Type::ErrorCheck => Attempt::Fails(EDEADLK),
            Type::Recursive if self.count == u32::MAX => Attempt::Fails(EAGAIN),
            Type::Recursive => {
                self.count += 1;
                Attempt::Acquired(0)
            }
        }
    }

    /// pthread_mutex_trylock.
    pub fn try_lock(&mut self, me: Owner) -> i32 {
        match self.lock(me) {
            Attempt::Acquired(result) => result,
            // An error-checking mutex that is tried by its owner is busy; a robust or inheriting one says more.
            Attempt::Fails(EDEADLK) if self.kind & (ROBUST | INHERIT) == 0 => EBUSY,
            Attempt::Busy => EBUSY,
            Attempt::Fails(error) => error,
        }
    }

    /// pthread_mutex_unlock. Any thread may unlock a plain normal mutex, as in glibc.
    pub fn unlock(&mut self, me: Owner) -> i32 {
        let users = self.users;
        let result = self.release_for_wait(me);
        if result == 0 && self.available() {
            self.users = users.wrapping_sub(1);
        }
        result
    }

    /// Gives up the mutex for a wait on a condition: the waiter remains a user, so that destroying the mutex
    /// meanwhile is an error. Like glibc, gives up a recursive mutex once only.
    pub fn release_for_wait(&mut self, me: Owner) -> i32 {
        let lost = self.robust() && self.owner == INCONSISTENT && self.holder() == me;
        if !lost && self.checks_owner() && !(self.holder() == me && self.owner == me) {
            return EPERM;
        }
        if self.kind() == Type::Recursive {
            self.count = self.count.wrapping_sub(1);
            if self.count > 0 {
                return if lost { ENOTRECOVERABLE } else { 0 };
            }
        }
        self.lock = 0;
        // Unlocked without pthread_mutex_consistent: useless from now on.
        self.owner = if lost { NOT_RECOVERABLE } else { 0 };
        0
    }

    fn checks_owner(&self) -> bool {
        self.kind() != Type::Normal || self.kind & (ROBUST | INHERIT) != 0
    }

    /// Takes the mutex back after a wait on a condition.
    pub fn relock(&mut self, me: Owner) -> Attempt {
        // The waiter was never counted out, so it is not counted in again.
        let users = self.users;
        let attempt = self.lock(me);
        self.users = users;
        attempt
    }

    /// A robust mutex's owner has ended.
    pub fn owner_died(&mut self) {
        self.owner = 0;
        self.count = 0;
        self.lock = OWNER_DIED;
    }

    /// pthread_mutex_consistent. Like glibc, asks only whether it is inconsistent, not who holds it.
    pub fn make_consistent(&mut self, me: Owner) -> i32 {
        if !self.robust() || self.owner != INCONSISTENT {
            return EINVAL;
        }
        self.owner = me;
        0
    }

    /// Whether the real functions have marked it as having kernel waiters.
    pub fn has_kernel_waiters(&self) -> bool {
        if self.kind & (ROBUST | INHERIT) != 0 {
            self.lock & WAITERS != 0
        } else {
            self.lock > 1
        }
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
    fn a_waiter_remains_a_user() {
        let mut mutex = of(1);
        mutex.lock(1);
        assert_eq!(mutex.release_for_wait(1), 0);
        assert!(mutex.ready(2));
        assert_ne!(mutex.users, 0);
        assert_eq!(mutex.relock(1), Attempt::Acquired(0));
        assert_eq!((mutex.unlock(1), mutex.unlock(1)), (0, EPERM));
        assert_eq!(mutex.users, 0);
    }

    #[test]
    fn waiting_gives_up_a_recursive_mutex_once() {
        let mut mutex = of(1);
        mutex.lock(1);
        mutex.lock(1);
        assert_eq!(mutex.release_for_wait(1), 0);
        assert!(!mutex.ready(2), "as in glibc");
        assert_eq!(mutex.relock(1), Attempt::Acquired(0));
        assert_eq!((mutex.unlock(1), mutex.unlock(1), mutex.unlock(1)), (0, 0, EPERM));
        assert_eq!(mutex.users, 0);
    }

    #[test]
    fn an_inheriting_mutex_checks_its_owner() {
        let mut mutex = of(INHERIT);
        assert_eq!(mutex.unlock(1), EPERM);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!((mutex.unlock(2), mutex.try_lock(1)), (EPERM, EBUSY));
        assert_eq!(mutex.unlock(1), 0);
        let mut mutex = of(INHERIT | 2);
        assert_eq!((mutex.try_lock(1), mutex.try_lock(1)), (0, EDEADLK));
    }

    #[test]
    fn a_ceiling_is_no_owner() {
        let mut mutex = of(PROTECT);
        mutex.lock = 7 << 19;
        assert!(mutex.ready(1) && mutex.available());
        for held in [1, 2] {
            mutex.lock = 7 << 19 | held;
            mutex.owner = 4711;
            assert!(!mutex.ready(1));
            assert_eq!((mutex.holder(), mutex.real_holder()), (0, 4711));
            assert!(!mutex.held_by_none_of(3), "the real functions hold it for a thread that we do not know");
        }
    }

    #[test]
    fn damage_is_seen_and_never_waits() {
        assert_eq!(of(DESTROYED).damage(), Some(Damage::Destroyed));
        for kind in [0xdddd_dddd, 4, 8, 1 << 10] {
            assert_eq!(of(kind).damage(), Some(Damage::Overwritten));
        }
        assert!((0..4).all(|kind| of(kind | SHARED | ROBUST | 256).damage().is_none()));
        let written_over = Mutex { lock: 17, owner: 0x5555, kind: DESTROYED, ..Mutex::default() };
        assert!(written_over.ready(1));
        let reused = Mutex { kind: 0, ..written_over };
        assert!(!reused.ready(1) && reused.held_by_none_of(9));
    }

    #[test]
    fn robust() {
        let mut mutex = of(ROBUST);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        mutex.owner_died();
        assert_eq!(mutex.lock(2), Attempt::Acquired(EOWNERDEAD));
        assert_eq!(mutex.holder(), 2);
        assert_eq!(mutex.make_consistent(2), 0);
        assert_eq!(mutex.make_consistent(2), EINVAL);
        assert_eq!(mutex.unlock(2), 0);
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        mutex.owner_died();
        assert_eq!(mutex.lock(2), Attempt::Acquired(EOWNERDEAD));
        assert_eq!(mutex.unlock(2), 0);
        assert_eq!(mutex.lock(1), Attempt::Fails(ENOTRECOVERABLE));
        assert_eq!(mutex.try_lock(1), ENOTRECOVERABLE);
        assert_eq!(mutex.users, 0);
    }

    #[test]
    fn an_inconsistent_recursive_mutex_is_lost_when_it_is_not_mended() {
        let mut mutex = of(ROBUST | 1);
        mutex.owner_died();
        assert_eq!(mutex.lock(1), Attempt::Acquired(EOWNERDEAD));
        assert_eq!(mutex.lock(1), Attempt::Acquired(0));
        assert_eq!((mutex.unlock(1), mutex.holder()), (ENOTRECOVERABLE, 1));
        assert_eq!((mutex.unlock(1), mutex.holder()), (0, 0));
        assert_eq!(mutex.lock(2), Attempt::Fails(ENOTRECOVERABLE));
    }
}
