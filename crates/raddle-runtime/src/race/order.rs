//! What orders accesses of different threads.

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::hooks::order::{ACQUIRE, BOTH, RELAXED, RELEASE, TOTAL};

use super::clock::Clock;
use super::{detector, forget, numbers, thread, CLOCKS, OBJECTS};
use crate::control::scheduler;

/// The clock of everything that goes through the kernel. What one thread writes into a pipe, another may
/// read from somewhere else: all of it is one object.
const KERNEL: usize = 1;

unsafe fn object(key: usize) -> Option<&'static mut Clock> {
    // SAFETY: the caller holds the baton.
    unsafe { detector().objects.entry(CLOCKS as *mut u8, OBJECTS, key as u64) }
}

/// What `me` does from now on is later than what it has released.
unsafe fn tick(me: ThreadId) {
    // SAFETY: the caller holds the baton.
    unsafe {
        let mine = thread(me);
        let time = mine.clock.get(numbers(), me.index());
        detector().pool.set(numbers(), &mut mine.clock, me.index(), time + 1);
    }
}

/// Everything that was released at `key` happens before what `me` does from now on.
///
/// # Safety
/// `me` holds the baton.
#[inline(always)]
pub unsafe fn acquire(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if scheduler().detects {
            acquire_slow(me, key);
        }
    }
}

#[inline(never)]
unsafe fn acquire_slow(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(clock) = object(key) {
            detector().pool.join(numbers(), &mut thread(me).clock, clock);
        }
    }
}

/// What `me` has done happens before what any thread does after it acquires `key`.
///
/// # Safety
/// As for [`acquire`].
#[inline(always)]
pub unsafe fn release(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if scheduler().detects {
            release_slow(me, key);
        }
    }
}

#[inline(never)]
unsafe fn release_slow(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(clock) = object(key) {
            detector().pool.join(numbers(), clock, &thread(me).clock);
        }
        tick(me);
    }
}

/// Thread `t` is created.
///
/// # Safety
/// As for [`acquire`].
#[inline(always)]
pub unsafe fn created(me: ThreadId, t: ThreadId) {
    // SAFETY: the caller's promise.
    unsafe {
        if scheduler().detects {
            created_slow(me, t);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn created_slow(me: ThreadId, t: ThreadId) {
    // SAFETY: the caller's promise.
    unsafe {
        let (mine, new) = (thread(me), thread(t));
        // The number may have belonged to a thread that has ended.
        let earlier = new.clock.get(numbers(), t.index());
        let pool = &mut detector().pool;
        (new.clock, new.released, new.seen) = Default::default();
        new.depth = 0;
        new.lowest = usize::MAX;
        pool.join(numbers(), &mut new.clock, &mine.clock);
        pool.set(numbers(), &mut new.clock, t.index(), earlier + 1);
        tick(me);
    }
}

/// Thread `me` ends: the thread that joins it acquires `key`. Its stack may be used again.
///
/// # Safety
/// As for [`acquire`].
#[inline(always)]
pub unsafe fn ended(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if scheduler().detects {
            ended_slow(me, key);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn ended_slow(me: ThreadId, key: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        release(me, key);
        let here = 0u8;
        // From where the thread stands up to its control block. Below, others were before it, and their
        // stacks were forgotten likewise.
        let (low, high) = (thread(me).lowest, scheduler().thread(me).pointer);
        let low = low.min(&raw const here as usize);
        forget(low, high.saturating_sub(low));
    }
}

/// An operation that goes through the kernel: `before` it is made, or after.
///
/// # Safety
/// As for [`acquire`].
pub unsafe fn through_kernel(me: ThreadId, kind: EventKind, before: bool) {
    use EventKind::*;
    let (releases, acquires) = match kind {
        Write => (true, false),
        Read | Accept | Poll | WaitChild | SigWait | Handler => (false, true),
        Connect | Kill | Fork | ProcessExit | Syscall | Outside => (true, true),
        _ => return,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if before && releases {
            release(me, KERNEL);
        }
        if !before && acquires {
            acquire(me, KERNEL);
        }
    }
}

fn acquires(order: i32) -> bool {
    // memory_order_consume, which compilers treat as acquire, lies between.
    order > RELAXED && order <= ACQUIRE || order == BOTH || order == TOTAL
}

fn releases(order: i32) -> bool {
    order == RELEASE || order == BOTH || order == TOTAL
}

/// What a load with this order takes from the clock of what it reads.
unsafe fn take(me: ThreadId, clock: &Clock, order: i32) {
    // SAFETY: the caller holds the baton.
    unsafe {
        let mine = thread(me);
        let to = if acquires(order) { &mut mine.clock } else { &mut mine.seen };
        detector().pool.join(numbers(), to, clock);
    }
}

/// Thread `me` has loaded from an atomic.
///
/// # Safety
/// As for [`acquire`].
pub unsafe fn atomic_load(me: ThreadId, address: usize, order: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(clock) = object(address) {
            take(me, clock, order);
        }
    }
}

/// Thread `me` stores to an atomic: what others released there is gone.
///
/// # Safety
/// As for [`acquire`].
pub unsafe fn atomic_store(me: ThreadId, address: usize, order: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(clock) = object(address) {
            let mine = thread(me);
            let from = if releases(order) { &mine.clock } else { &mine.released };
            detector().pool.copy(numbers(), clock, from);
        }
        if releases(order) {
            tick(me);
        }
    }
}

/// Thread `me`, which has loaded from an atomic ([`atomic_load`]), stores to it in the same step: a release
/// sequence goes on. The access comes between the two: it is part of what is released.
///
/// # Safety
/// As for [`acquire`].
pub unsafe fn atomic_continue(me: ThreadId, address: usize, order: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(clock) = object(address) {
            let mine = thread(me);
            let from = if releases(order) { &mine.clock } else { &mine.released };
            detector().pool.join(numbers(), clock, from);
        }
        if releases(order) {
            tick(me);
        }
    }
}

/// Thread `me` passes a fence.
///
/// # Safety
/// As for [`acquire`].
pub unsafe fn fence(me: ThreadId, order: i32) {
    // SAFETY: the caller's promise.
    unsafe {
        let mine = thread(me);
        let pool = &mut detector().pool;
        if acquires(order) {
            pool.join(numbers(), &mut mine.clock, &mine.seen);
        }
        if releases(order) {
            pool.copy(numbers(), &mut mine.released, &mine.clock);
            tick(me);
        }
    }
}
