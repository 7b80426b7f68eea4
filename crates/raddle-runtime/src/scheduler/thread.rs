//! What the scheduler knows of one thread.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU8};

use raddle_core::ThreadId;

use crate::model::{mutex::Mutex, once::Once, rwlock::RwLock, semaphore::Semaphore, spin_lock::SpinLock, Owner};
use crate::switch::os_threads::Baton;

/// Where a thread is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Life {
    /// The slot is free.
    #[default]
    None = 0,
    /// Created and not yet ended.
    Alive,
    /// Ended, but neither joined nor detached.
    Ended,
}

/// Why a thread goes on after a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Wake {
    /// What it waited for has happened.
    #[default]
    Go = 0,
    /// The deadline has passed.
    TimedOut,
    /// The thread is to be cancelled.
    Cancelled,
    /// A signal handler is to run, or has run.
    Interrupted,
}

/// A test of something outside the model, made when the answer may have changed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Polled {
    /// Returns whether the wait is over; must not block.
    pub test: unsafe fn(*mut c_void) -> bool,
    /// Its argument, on the waiting thread's stack.
    pub context: *mut c_void,
    /// Descriptors to sleep on while no thread can run; null when there is nothing to sleep on.
    pub descriptors: *mut libc::pollfd,
    /// How many.
    pub count: u32,
    /// Whether only this process can end the wait: then waiting for ever is a deadlock.
    pub closed: bool,
}

/// What a thread needs in order to go on.
#[derive(Clone, Copy)]
pub enum Wait {
    /// Nothing.
    None,
    /// To be woken: conditions, barriers, futexes; sleeping.
    Event,
    /// A mutex that it can lock.
    Mutex(*mut Mutex),
    /// A rwlock that it can lock for reading.
    Read(*mut RwLock),
    /// A rwlock that it can lock for writing.
    Write(*mut RwLock),
    /// A semaphore above zero.
    Semaphore(*mut Semaphore),
    /// A free spin lock.
    SpinLock(*mut SpinLock),
    /// A once control whose routine no thread is running.
    Once(*mut Once),
    /// The end of a thread.
    Join(ThreadId),
    /// Something outside the model; the description lies on the waiting thread's stack.
    Polled(*const Polled),
}

/// A [`Wait`] as two words, which travel in registers: an enum goes through memory, where the processor
/// must wait for its halves to be stored before it can load it whole.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Packed {
    kind: usize,
    what: usize,
}

impl Packed {
    const POLLED: usize = 9;

    /// What is waited for.
    #[inline(always)]
    pub fn get(self) -> Wait {
        let what = self.what;
        match self.kind {
            0 => Wait::None,
            1 => Wait::Event,
            2 => Wait::Mutex(what as *mut Mutex),
            3 => Wait::Read(what as *mut RwLock),
            4 => Wait::Write(what as *mut RwLock),
            5 => Wait::Semaphore(what as *mut Semaphore),
            6 => Wait::SpinLock(what as *mut SpinLock),
            7 => Wait::Once(what as *mut Once),
            8 => Wait::Join(ThreadId(what as u16)),
            _ => Wait::Polled(what as *const Polled),
        }
    }

    /// As it is kept.
    pub fn words(self) -> [usize; 2] {
        [self.kind, self.what]
    }

    /// Whether it is a [`Wait::Mutex`].
    #[inline(always)]
    pub fn is_mutex(self) -> bool {
        self.kind == 2
    }

    /// Whether it is a [`Wait::Polled`].
    #[inline(always)]
    pub fn is_polled(self) -> bool {
        self.kind == Packed::POLLED
    }
}

impl Wait {
    /// As two words.
    #[inline(always)]
    pub fn pack(self) -> Packed {
        let (kind, what) = match self {
            Wait::None => (0, 0),
            Wait::Event => (1, 0),
            Wait::Mutex(m) => (2, m as usize),
            Wait::Read(l) => (3, l as usize),
            Wait::Write(l) => (4, l as usize),
            Wait::Semaphore(s) => (5, s as usize),
            Wait::SpinLock(s) => (6, s as usize),
            Wait::Once(o) => (7, o as usize),
            Wait::Join(t) => (8, t.index()),
            Wait::Polled(p) => (Packed::POLLED, p as usize),
        };
        Packed { kind, what }
    }

    /// The address under which waiters of this are found; 0 when there is none.
    #[inline(always)]
    pub fn key(&self) -> usize {
        match *self {
            Wait::None | Wait::Event | Wait::Polled(_) => 0,
            Wait::Mutex(m) => m as usize,
            Wait::Read(l) | Wait::Write(l) => l as usize,
            Wait::Semaphore(s) => s as usize,
            Wait::SpinLock(s) => s as usize,
            Wait::Once(o) => o as usize,
            Wait::Join(t) => join_key(t),
        }
    }
}

/// The key of threads that wait for a thread's end: no object lives at such an address.
pub fn join_key(t: ThreadId) -> usize {
    1 + t.index()
}

/// One thread. Valid when zeroed.
#[repr(C)]
pub struct Thread {
    /// What the thread parks on.
    pub baton: Baton,
    /// Syscall user dispatch looks here: 0 lets system calls through, 1 traps them.
    pub selector: AtomicU8,
    /// Where it is in its life.
    pub life: Life,
    /// Why it goes on.
    pub wake: Wake,
    /// It was woken from a [`Wait::Event`].
    pub woken: bool,
    /// A cancellation request ends its wait.
    pub cancellable: bool,
    /// A signal ends its wait.
    pub interruptible: bool,
    /// Created detached, or detached since.
    pub detached: bool,
    /// Its last operation made no progress.
    pub was_futile: bool,
    /// An operation without progress was its last, as far as the fair schedule has looked.
    pub gives_way: bool,
    /// In a parallel run: it waits at a point.
    pub parked: bool,
    /// On OS threads: it counts as blocked, in something that is not modelled.
    pub blocked_outside: bool,
    /// In a parallel run: it polls the running threads while it waits at a point.
    pub polls_runners: bool,
    /// In a parallel run: it sleeps at a point, because the gate makes it.
    pub sleeps_at_point: bool,
    /// In a parallel run: it was let go and has not come to it yet.
    pub let_go: bool,
    /// In a parallel run: it is woken on a core that was chosen for it, and may run only there.
    pub placed: bool,
    /// In a parallel run: it takes a step although the policy holds it.
    pub forced: bool,
    /// In a parallel run: its system calls were let through for one call and are to be trapped again.
    pub trap_again: bool,
    /// Rounds of thread-specific data destructors that have run.
    pub destructor_rounds: u8,
    /// pthread_setcancelstate(DISABLE).
    pub cancel_disabled: bool,
    /// pthread_setcanceltype(ASYNCHRONOUS).
    pub cancel_async: bool,
    /// pthread_cancel was called for it.
    pub cancel_requested: bool,
    /// Depth of calls into the real library: what happens in there is not scheduled.
    pub inside: u32,
    /// Recent operations without progress.
    pub spins: u32,
    /// It could run when time passed for the last time although threads could run.
    pub is_late: bool,
    /// It was preempted without a point, and lets others go first up to the point with this number; 0: it does not.
    pub waits_until_point: u64,
    /// In a parallel run: the number of its last point.
    pub last_point: u64,
    /// Operations since the last one without progress, by weight.
    pub since_futile: u32,
    /// What it needs in order to go on.
    pub wait: Packed,
    /// When its wait ends on the virtual clock.
    pub deadline: u64,
    /// The bits of a FUTEX_WAIT_BITSET.
    pub futex_bits: u32,
    /// What the word of a FUTEX_WAIT held when the wait started.
    pub futex_value: u32,
    /// The word of a FUTEX_WAIT, while it lasts.
    pub futex_word: *const u32,
    /// The processors that it has asked for; 0: all.
    pub processors: u64,
    /// Its id for the program: the kernel's on OS threads, one of ours on fibers; 0 before its first turn.
    pub tid: i32,
    /// Where the kernel clears the id when the thread is gone.
    pub tid_word: *mut AtomicU32,
    /// The thread pointer, which is also the pthread_t; 0 before its first turn and after its last.
    pub pointer: usize,
    /// Where a parked fiber's registers are saved.
    pub context: usize,
    /// The thread pointer of a fiber, from its creation on.
    pub fs: usize,
    /// Its place among the pooled identities, plus one; 0 for one that was made for this thread only.
    pub identity: u32,
    /// Its start routine has returned: neither pthread_exit nor cancellation left marks in libc's books.
    pub returned: bool,
    /// What the start routine returned.
    pub result: *mut c_void,
    /// Its name, on fibers.
    pub name: [u8; 16],
    /// The head of its own robust list, if it registered one.
    pub robust_list: usize,
    /// The area for restartable sequences that it registered, on fibers.
    pub rseq: usize,
    /// The start routine and its argument.
    pub start: usize,
    /// The start routine's argument.
    pub argument: *mut c_void,
    /// A thread is joining it.
    pub joined: bool,
    /// The thread that it is joining, plus one.
    pub joining: u32,
    /// In a parallel run: the routine of the once control that it is about to run.
    pub once: usize,
    pub signal_mask: u64,
    /// The mask that holds after the call.
    pub mask_after_call: u64,
    /// Not zero if signals may be pending for it.
    pub signals: u64,
    /// Handlers that have run.
    pub handled: u32,
    /// The last handler had SA_RESTART.
    pub restarts: bool,
    /// It is in a call with a signal mask of the call's own, and no handler has run.
    pub in_masked_call: bool,
    /// The alternate signal stack: where, and how long.
    pub alternate_stack: (usize, usize),
    /// Flags of the alternate signal stack (SS_AUTODISARM), on fibers.
    pub alternate_flags: c_int,
    /// The barrier that it waits at.
    pub barrier: usize,
    /// The mutex that a wait on a condition takes back when it ends.
    pub relock: *mut Mutex,
    /// Why the wait on a condition ended.
    pub relocked: Wake,
    /// Robust mutexes that it holds.
    pub robust: [*mut Mutex; 8],
}

/// The owner number of a thread in the model.
pub fn owner(t: ThreadId) -> Owner {
    u32::from(t.0) + 1
}
