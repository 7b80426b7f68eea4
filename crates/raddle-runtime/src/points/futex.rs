//! Futexes: of Rust's std, of C++ atomics and static guards, of glibc's own locks, of anything that
//! speaks to the kernel itself.
//!
//! Follows futex(2). The check of the word and the start of the wait are one step, as under the
//! kernel's bucket lock; waking is first in, first out, as the kernel's queue is.

use core::ffi::{c_int, c_void};

use libc::{timespec, EAGAIN, EINTR, EINVAL, ETIMEDOUT};
use raddle_core::{Event, EventKind, ThreadId};
use raddle_protocol::Escape;

use super::time::{deadline, from_now, nanoseconds, valid_for_kernel};
use crate::control::{self, point, scheduler, state, wait};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Polled, Wait, Wake};
use crate::switch::uncontrolled_call;
use crate::{race, syscall};

/// The arguments of the system call.
#[derive(Clone, Copy)]
pub struct Call {
    pub word: *mut u32,
    /// The operation with its flags.
    pub operation: c_int,
    /// The value, or how many to wake.
    pub value: u32,
    /// The time-out, or how many to requeue.
    pub time: usize,
    /// The second word.
    pub second: *mut u32,
    /// The third value, or the bits.
    pub value3: u32,
}

impl Call {
    /// Whether another process may be involved: not every lock says that it is private.
    pub fn shared(&self) -> bool {
        self.operation & libc::FUTEX_PRIVATE_FLAG == 0 && crate::os::memory::is_shared(self.word as usize)
    }
}

/// Whether an operation may wait.
pub fn is_wait(operation: c_int) -> bool {
    let operation = operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET, libc::FUTEX_WAIT_REQUEUE_PI];
    waits.contains(&operation) || [libc::FUTEX_LOCK_PI, libc::FUTEX_LOCK_PI2].contains(&operation)
}

/// Performs the system call in the model; the result is what the kernel would return.
pub unsafe fn futex(me: ThreadId, call: Call) -> isize {
    // SAFETY: the caller's words; `me` holds the baton whenever it runs.
    unsafe {
        match call.operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_WAIT if call.time != 0 && !valid_for_kernel(call.time as *const timespec) => -(EINVAL as isize),
            libc::FUTEX_WAIT => wait_for(me, call, relative(call.time), u32::MAX),
            libc::FUTEX_WAIT_BITSET if call.value3 == 0 => -(EINVAL as isize),
            libc::FUTEX_WAIT_BITSET => {
                let realtime = call.operation & libc::FUTEX_CLOCK_REALTIME != 0;
                let clock = if realtime { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
                if call.time != 0 && !valid_for_kernel(call.time as *const timespec) {
                    return -(EINVAL as isize);
                }
                wait_for(me, call, deadline(clock, call.time as *const timespec), call.value3)
            }
            libc::FUTEX_WAKE => wake(me, call, u32::MAX),
            libc::FUTEX_WAKE_BITSET if call.value3 == 0 => -(EINVAL as isize),
            libc::FUTEX_WAKE_BITSET => wake(me, call, call.value3),
            libc::FUTEX_REQUEUE => requeue(me, call, false),
            libc::FUTEX_CMP_REQUEUE => requeue(me, call, true),
            libc::FUTEX_WAKE_OP => wake_op(me, call),
            libc::FUTEX_LOCK_PI | libc::FUTEX_LOCK_PI2 | libc::FUTEX_TRYLOCK_PI | libc::FUTEX_UNLOCK_PI
                if !call.shared() =>
            {
                super::futex_pi::futex(me, call)
            }
            _ => {
                // Priority-inheritance futexes of several processes, or with conditions: glibc uses them for
                // mutexes only, which are modelled.
                scheduler().escaped(Escape::UncontrolledCall);
                uncontrolled_call::make(me, || {
                    syscall!(
                        libc::SYS_futex,
                        call.word,
                        call.operation,
                        call.value,
                        call.time,
                        call.second,
                        call.value3
                    )
                })
            }
        }
    }
}

unsafe fn relative(time: usize) -> u64 {
    if time == 0 {
        return NEVER;
    }
    // SAFETY: the caller's pointer.
    from_now(unsafe { nanoseconds(time as *const timespec) })
}

unsafe fn wait_for(me: ThreadId, call: Call, deadline: u64, bits: u32) -> isize {
    struct Watch(*const u32, u32);
    /// For words that another process may change: a wake-up of its own is seen by the change.
    unsafe fn changed(context: *mut c_void) -> bool {
        // SAFETY: the context of this wait.
        unsafe {
            let watch = &*context.cast::<Watch>();
            watch.0.read_volatile() != watch.1
        }
    }
    let key = call.word as usize;
    control::access_point(me, EventKind::FutexWait, key, size_of::<u32>());
    // SAFETY: as above.
    unsafe {
        // Code that is not instrumented may take the lock without waiting when it finds it changed.
        race::acquire(me, key);
        if call.word.read_volatile() != call.value {
            return -(EAGAIN as isize);
        }
        let mut watch = Watch(call.word, call.value);
        let polled = Polled {
            test: changed,
            context: (&raw mut watch).cast(),
            descriptors: core::ptr::null_mut(),
            count: 0,
            closed: false,
        };
        let until = if call.shared() {
            scheduler().escaped(Escape::SharedObject);
            Wait::Polled(&raw const polled)
        } else {
            Wait::Event
        };
        let s = scheduler();
        s.waiters.insert(me, key);
        let thread = s.thread(me);
        thread.futex_bits = bits;
        thread.futex_word = call.word;
        thread.futex_value = call.value;
        thread.interruptible = true;
        let notes = scheduler().notes_lock_words();
        if notes {
            state().access.lock_words.waits(me, call.word as usize);
        }
        let wake = wait(me, Event::new(EventKind::FutexResume, key), until, deadline);
        if notes {
            state().access.lock_words.woken(me, call.word as usize);
        }
        let thread = scheduler().thread(me);
        thread.interruptible = false;
        thread.futex_word = core::ptr::null();
        // A thread that waits for something else at this address, such as a once, must not be woken by this.
        thread.futex_bits = 0;
        race::acquire(me, key);
        match wake {
            Wake::TimedOut => -(ETIMEDOUT as isize),
            // With a time-out it does not restart, whatever the handler's flags.
            Wake::Interrupted if deadline == NEVER && scheduler().threads[me.index()].restarts => {
                wait_for(me, call, deadline, bits)
            }
            Wake::Interrupted => -(EINTR as isize),
            Wake::Go | Wake::Cancelled => 0,
        }
    }
}

/// Wakes up to `most` waiters of a word that wait for one of the bits.
unsafe fn wake_some(key: usize, most: u32, bits: u32) -> isize {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let mut woken = 0;
    while woken < most {
        let Some(t) = s.waiters.first(key, |t| s.threads[t.index()].futex_bits & bits != 0) else { break };
        s.thread(t).futex_bits = 0;
        s.wake(t);
        woken += 1;
    }
    woken as isize
}

/// Wakes one waiter of a word, as the kernel does at the end of a thread that held it.
pub(super) unsafe fn wake_one(word: *mut u32) {
    // SAFETY: the caller holds the baton.
    unsafe { wake_some(word as usize, 1, u32::MAX) };
}

unsafe fn wake(me: ThreadId, call: Call, bits: u32) -> isize {
    let key = call.word as usize;
    // SAFETY: as above. Before the point: the word says already what the wake-up tells, and others may see it.
    unsafe { race::release(me, key) };
    point(me, EventKind::FutexWake, key);
    // SAFETY: as above.
    unsafe {
        // A real pthread_once that was left by an exception wakes its waiters like this.
        scheduler().changed(key);
        let woken = wake_some(key, call.value, bits);
        if (woken as u32) < call.value && call.shared() {
            return woken + wake_really(call);
        }
        woken
    }
}

/// Wakes waiters in other processes.
unsafe fn wake_really(call: Call) -> isize {
    // SAFETY: as above.
    unsafe {
        scheduler().outside_touched = true;
        syscall!(libc::SYS_futex, call.word, call.operation, call.value, 0, 0, call.value3).max(0)
    }
}

unsafe fn requeue(me: ThreadId, call: Call, compare: bool) -> isize {
    let key = call.word as usize;
    point(me, EventKind::FutexRequeue, key);
    // SAFETY: as above.
    unsafe {
        if compare && call.word.read_volatile() != call.value3 {
            return -(EAGAIN as isize);
        }
        race::release(me, key);
        let woken = wake_some(key, call.value, u32::MAX);
        let s = scheduler();
        let mut moved = 0;
        while moved < call.time as u32 {
            let Some(t) = s.waiters.first(key, |t| s.threads[t.index()].futex_bits != 0) else { break };
            s.waiters.requeue(t, call.second as usize);
            moved += 1;
        }
        woken + moved as isize
    }
}

unsafe fn wake_op(me: ThreadId, call: Call) -> isize {
    point(me, EventKind::FutexWake, call.word as usize);
    // SAFETY: as above.
    unsafe {
        let code = call.value3;
        let shifted = code >> 31 != 0;
        let field = |at: u32| ((code >> at & 0xfff) as i32) << 20 >> 20;
        let operand = if shifted { 1i32.wrapping_shl(field(12) as u32) } else { field(12) };
        let old = call.second.read_volatile() as i32;
        let new = match code >> 28 & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return -(libc::ENOSYS as isize),
        };
        call.second.write_volatile(new as u32);
        let holds = match code >> 24 & 15 {
            0 => old == field(0),
            1 => old != field(0),
            2 => old < field(0),
            3 => old <= field(0),
            4 => old > field(0),
            5 => old >= field(0),
            _ => return -(libc::ENOSYS as isize),
        };
        race::release(me, call.word as usize);
        race::release(me, call.second as usize);
        let mut woken = wake_some(call.word as usize, call.value, u32::MAX);
        if holds {
            woken += wake_some(call.second as usize, call.time as u32, u32::MAX);
        }
        woken
    }
}
