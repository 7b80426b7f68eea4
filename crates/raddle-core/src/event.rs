//! Events: what a thread is about to do at a schedule point.

use core::fmt;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal $text:literal $effect:ident,)*) => {
        /// What kind of operation an event is.
        ///
        /// Numbers are used in shared memory and names in schedule files: both are stable, new
        /// kinds get new ones.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        #[repr(u8)]
        pub enum EventKind { #[default] $($(#[$doc])* $name = $number,)* }

        impl EventKind {
            pub const ALL: &'static [EventKind] = &[$(EventKind::$name,)*];

            /// The name in schedule files and reports.
            pub fn name(self) -> &'static str {
                match self { $(EventKind::$name => $text,)* }
            }

            /// The kind with this number.
            pub fn from_u8(number: u8) -> Option<EventKind> {
                match number { $($number => Some(EventKind::$name),)* _ => None }
            }

            /// How the operation touches its object.
            pub fn effect(self) -> Effect {
                match self { $(EventKind::$name => Effect::$effect,)* }
            }
        }
    };
}

/// How an operation touches its object; two operations on one object conflict unless both read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Touches nothing that another thread can observe.
    Local,
    /// Observes the object.
    Read,
    /// Changes the object.
    Write,
}

kinds! {
    /// A thread's first step.
    Start = 0 "start" Local,
    /// A thread's last step.
    Exit = 1 "exit" Write,
    /// pthread_create, thrd_create.
    Create = 2 "create" Write,
    /// pthread_join and its relatives.
    Join = 3 "join" Read,
    /// pthread_detach.
    Detach = 4 "detach" Write,
    /// pthread_cancel.
    Cancel = 5 "cancel" Write,
    /// Acquiring a mutex.
    Lock = 6 "lock" Write,
    /// Trying to acquire a mutex.
    TryLock = 7 "trylock" Write,
    /// Releasing a mutex.
    Unlock = 8 "unlock" Write,
    /// Releasing the mutex and starting to wait on a condition.
    CondWait = 9 "cond-wait" Write,
    /// Acquiring the mutex again after a wait on a condition.
    Relock = 10 "relock" Write,
    /// pthread_cond_signal.
    CondSignal = 11 "cond-signal" Write,
    /// pthread_cond_broadcast.
    CondBroadcast = 12 "cond-broadcast" Write,
    /// Acquiring a rwlock for reading.
    ReadLock = 13 "rdlock" Write,
    /// Acquiring a rwlock for writing.
    WriteLock = 14 "wrlock" Write,
    /// Trying to acquire a rwlock.
    TryRwLock = 15 "tryrwlock" Write,
    /// Releasing a rwlock.
    RwUnlock = 16 "rwunlock" Write,
    /// sem_wait and its relatives.
    SemWait = 17 "sem-wait" Write,
    /// sem_trywait.
    SemTry = 18 "sem-try" Write,
    SemPost = 19 "sem-post" Write,
    /// Arriving at a barrier.
    Barrier = 20 "barrier" Write,
    /// Leaving a barrier after the last one arrived.
    BarrierLeave = 21 "barrier-leave" Read,
    /// pthread_spin_lock.
    SpinLock = 22 "spin-lock" Write,
    /// pthread_spin_trylock.
    SpinTry = 23 "spin-try" Write,
    /// pthread_spin_unlock.
    SpinUnlock = 24 "spin-unlock" Write,
    /// pthread_once, call_once.
    Once = 25 "once" Write,
    /// sched_yield and other ways of giving way.
    Yield = 26 "yield" Local,
    Sleep = 27 "sleep" Local,
    /// Reading a clock again and again.
    Clock = 28 "clock" Local,
    /// FUTEX_WAIT: checking the word and starting to wait.
    FutexWait = 29 "futex-wait" Write,
    /// Going on after a FUTEX_WAIT.
    FutexResume = 30 "futex-resume" Read,
    /// FUTEX_WAKE and its relatives.
    FutexWake = 31 "futex-wake" Write,
    /// FUTEX_REQUEUE and its relatives.
    FutexRequeue = 32 "futex-requeue" Write,
    /// Reading from a descriptor.
    Read = 33 "read" Write,
    /// Writing to a descriptor.
    Write = 34 "write" Write,
    /// Accepting a connection.
    Accept = 35 "accept" Write,
    Connect = 36 "connect" Write,
    /// Waiting for one of several descriptors.
    Poll = 37 "poll" Read,
    /// Waiting for a child process.
    WaitChild = 38 "wait-child" Write,
    /// Sending a signal.
    Kill = 39 "kill" Write,
    /// Waiting for a signal.
    SigWait = 40 "sigwait" Write,
    /// A signal handler runs.
    Handler = 41 "handler" Write,
    /// Starting a child process.
    Fork = 42 "fork" Write,
    /// The process is about to end.
    ProcessExit = 43 "process-exit" Write,
    /// Another system call that others can observe.
    Syscall = 44 "syscall" Write,
    /// A call of a function named by `--sync-function`.
    Call = 45 "call" Write,
    /// Waiting for something outside the model.
    Outside = 46 "outside" Write,
    /// Going on after creating a thread, which may run first.
    Created = 47 "created" Local,
    AtomicLoad = 48 "atomic-load" Read,
    AtomicStore = 49 "atomic-store" Write,
    /// An atomic read-modify-write.
    AtomicModify = 50 "atomic-modify" Write,
    Fence = 51 "fence" Local,
    /// Reading a volatile variable.
    VolatileLoad = 52 "volatile-load" Read,
    /// Writing a volatile variable.
    VolatileStore = 53 "volatile-store" Write,
    /// A plain read.
    Load = 54 "load" Read,
    /// A plain write.
    Store = 55 "store" Write,
    /// Reading a variable again and again that does not change.
    Spin = 56 "spin" Local,
    /// The return of a function named by `--sync-function`.
    Return = 57 "return" Write,
    /// No operation: the one of several waiting threads that a signal on a condition wakes, where a search has
    /// chosen it.
    Woken = 58 "woken" Local,
    /// Destroying a mutex or another object.
    Destroy = 59 "destroy" Write,
    /// Making or cancelling an asynchronous request: input and output, looking up an address.
    Request = 60 "request" Write,
    /// The end of an asynchronous request.
    RequestDone = 61 "request-done" Write,
    /// Asking how far an asynchronous request is.
    RequestCheck = 62 "request-check" Read,
    /// Waiting for asynchronous requests.
    RequestWait = 63 "request-wait" Read,
}

impl EventKind {
    /// Whether it gives a lock back, so that it can only come after what acquired it.
    pub fn releases(self) -> bool {
        matches!(self, EventKind::Unlock | EventKind::RwUnlock | EventKind::SpinUnlock)
    }

    /// Whether it is an access to memory that a compiler's hook has shown.
    #[inline]
    pub fn is_access(self) -> bool {
        (EventKind::AtomicLoad as u8..=EventKind::Spin as u8).contains(&(self as u8))
    }
}

/// The object of an event on a descriptor is its number plus this: no address lies there.
pub const DESCRIPTORS: usize = 0x1000_0000;

/// One operation that a thread is about to perform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// What it is.
    pub kind: EventKind,
    /// What else it touches, where that is known: of an access how many bytes; of a wait on a condition the lower
    /// half of its mutex's address. 0: it is not known.
    pub with: u32,
    /// The object: an address, a descriptor or a thread, by kind; 0 for no object. For a policy that learns of
    /// objects, a name that stands for the address in every run: see [`crate::lessons`].
    pub object: usize,
}

impl Event {
    /// An event on an object.
    pub fn new(kind: EventKind, object: usize) -> Event {
        Event { kind, with: 0, object }
    }

    /// An event on an object that touches something else, too.
    pub fn with(kind: EventKind, object: usize, with: u32) -> Event {
        Event { kind, with, object }
    }

    /// Whether the order of the two events can matter.
    pub fn conflicts(&self, other: &Event) -> bool {
        self.object == other.object
            && self.object != 0
            && matches!(
                (self.kind.effect(), other.kind.effect()),
                (Effect::Write, Effect::Write) | (Effect::Write, Effect::Read) | (Effect::Read, Effect::Write)
            )
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for (i, a) in EventKind::ALL.iter().enumerate() {
            assert_eq!(EventKind::from_u8(*a as u8), Some(*a));
            for b in &EventKind::ALL[i + 1..] {
                assert_ne!(a.name(), b.name());
            }
        }
        assert_eq!(EventKind::from_u8(250), None);
    }

    #[test]
    fn conflicts_need_one_object_and_one_change() {
        let lock = Event::new(EventKind::Lock, 8);
        assert!(lock.conflicts(&lock));
        assert!(!lock.conflicts(&Event::new(EventKind::Lock, 16)));
        let join = Event::new(EventKind::Join, 8);
        assert!(!join.conflicts(&join));
        assert!(!lock.conflicts(&Event::new(EventKind::Yield, 8)));
    }
}
