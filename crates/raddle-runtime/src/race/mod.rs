//! Data races: accesses of two threads to one variable, at least one of them a plain one and one a write,
//! with nothing that orders them.
//!
//! Order comes from the model's operations, from atomics by the rules of C11 and C++20, and from what
//! enters and leaves the kernel. It is kept as vector clocks (`clock`); accesses are kept as epochs in
//! shadow memory (`shadow`). In doubt two accesses count as ordered: a race
//! that is reported is one.
//!
//! All memory of the detector lies in one reservation, of which a run touches what it needs.

mod build_id;
mod clock;
mod depot;
mod heap;
mod order;
mod report;
mod shadow;
mod table;

use raddle_core::rng::splitmix64;
use raddle_core::{ThreadId, MAX_THREADS};

use crate::control::{scheduler, state};
use crate::os::sys;
use clock::{Clock, Pool};
use depot::{Depot, Stack};
use shadow::{Cell, Preference, Shadow, Word};
use table::Table;

pub use heap::{allocated, describe_block, freed, held_back, let_go};
pub use order::{acquire, atomic_continue, atomic_load, atomic_store, created, ended, fence, release, through_kernel};
pub use report::has_reportable;
pub use shadow::AccessKind;

/// The most words of shadow memory.
const WORDS: usize = 1 << 25;
/// The most objects and atomics with a clock.
const OBJECTS: usize = 1 << 23;
/// The most heap allocations.
const ALLOCATIONS: usize = 1 << 23;
/// Frames of a thread's stack that are kept.
const DEPTH: usize = 1000;

const BASE: usize = 0x2010_0000_0000;
const SHADOW: usize = BASE;
const CLOCKS: usize = SHADOW + Shadow::bytes(WORDS);
const NUMBERS: usize = CLOCKS + Table::<Clock>::bytes(OBJECTS);
const DEPOT: usize = NUMBERS + 4 * clock::NUMBERS;
const HEAP: usize = DEPOT + Depot::BYTES;
const THREADS: usize = HEAP + Table::<Allocation>::bytes(ALLOCATIONS);
const END: usize = THREADS + MAX_THREADS * size_of::<Thread>();

/// What is known of one thread. Valid when zeroed.
#[repr(C)]
struct Thread {
    /// What happens before what it does now.
    clock: Clock,
    /// Its clock at its last release fence.
    released: Clock,
    /// What its relaxed loads have seen, for an acquire fence to take in.
    seen: Clock,
    /// The lowest place of its stack that a function was seen at.
    lowest: usize,
    /// How many frames of `stack` are there; may be more than fit.
    depth: u32,
    stack: [Frame; DEPTH],
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Frame {
    stack: Stack,
    /// The lower half of the stack pointer at the function's entry.
    sp: u32,
}

/// A heap allocation. Valid when zeroed.
#[derive(Clone, Copy)]
#[repr(C)]
struct Allocation {
    size: u64,
    made: Site,
    /// Its thread is not known while the block is in use.
    freed: Site,
}

impl Allocation {
    fn is_freed(&self) -> bool {
        self.freed.thread != 0
    }
}

/// Where a thread did something.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Site {
    pc: usize,
    stack: Stack,
    /// The thread, plus 1; 0: it is not known.
    thread: u32,
}

impl Site {
    /// Where the thread is now, at an address.
    unsafe fn now(me: ThreadId, pc: usize) -> Site {
        // SAFETY: the caller holds the baton.
        Site { pc, stack: unsafe { thread(me) }.top(), thread: u32::from(me.0) + 1 }
    }
}

/// What the detector knows. Valid when zeroed.
#[repr(C)]
pub struct Detector {
    shadow: Shadow,
    objects: Table<Clock>,
    pool: Pool,
    depot: Depot,
    heap: Table<Allocation>,
    pairs: report::Pairs,
    preference: Option<Preference>,
}

/// Reserves the memory; once, and before the fork server starts.
pub fn reserve() {
    use core::sync::atomic::{AtomicBool, Ordering};
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        sys::map_at(BASE, END - BASE);
    }
}

/// The detector.
///
/// # Safety
/// The caller holds the baton; [`reserve`] was called.
#[inline(always)]
unsafe fn detector() -> &'static mut Detector {
    // SAFETY: the caller's promise.
    unsafe { &mut state().race }
}

unsafe fn thread(t: ThreadId) -> &'static mut Thread {
    // SAFETY: reserved memory with room for every thread; the baton.
    unsafe { &mut *(THREADS as *mut Thread).add(t.index()) }
}

const fn numbers() -> *mut u32 {
    NUMBERS as *mut u32
}

/// A run starts, in a fresh process or in one that has made runs before.
#[inline(always)]
pub fn start_run() {
    // SAFETY: there is one thread.
    if unsafe { scheduler() }.detects {
        start_run_slow();
    }
}

#[cold]
#[inline(never)]
fn start_run_slow() {
    // SAFETY: there is one thread.
    unsafe {
        reserve();
        let d = detector();
        d.shadow.clear(SHADOW as *mut u8);
        d.objects.clear(CLOCKS as *mut u8);
        d.pool.clear();
        d.depot.clear(DEPOT as *mut u8);
        d.heap.clear(HEAP as *mut u8);
        d.pairs.clear();
        let settings = &(*scheduler().block()).settings;
        d.preference = preference(settings.run.seed, settings.number);
        let main = thread(ThreadId::MAIN);
        (main.clock, main.released, main.seen) = Default::default();
        main.depth = 0;
        d.pool.set(numbers(), &mut main.clock, 0, 1);
        report::start_run();
    }
}

/// Which places a run keeps. It takes time, so after the first runs only some prefer any to those that come first.
fn preference(seed: u64, run: u64) -> Option<Preference> {
    const FIRST: u64 = 10;
    match run % 8 {
        2 => Some(Preference::LARGEST),
        6 => Some(Preference::flipping(splitmix64(&mut seed.wrapping_add(run)))),
        _ if run <= FIRST => Some(Preference::flipping(splitmix64(&mut seed.wrapping_add(run)))),
        _ => None,
    }
}

/// Thread `me` accesses memory.
///
/// # Safety
/// `me` holds the baton, and races are looked for.
#[inline]
pub unsafe fn access(me: ThreadId, address: usize, size: usize, how: AccessKind, pc: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let last = address + size - 1;
        if address >> 3 == last >> 3 {
            let bytes = ((1u32 << size) - 1) << (address & 7);
            return touch(me, address >> 3, bytes as u8, how, pc);
        }
        for word in address >> 3..=last >> 3 {
            touch(me, word, bytes(word, address, last), how, pc);
        }
    }
}

/// The bytes of a word, one bit each, that lie between two addresses.
fn bytes(word: usize, first: usize, last: usize) -> u8 {
    let mut bytes = 0xff;
    if word == first >> 3 {
        bytes &= 0xff << (first & 7);
    }
    if word == last >> 3 {
        bytes &= 0xff >> (7 - (last & 7));
    }
    bytes
}

#[inline(always)]
unsafe fn touch(me: ThreadId, word: usize, bytes: u8, how: AccessKind, pc: usize) {
    // SAFETY: as above.
    unsafe {
        let d = detector();
        let mine = thread(me);
        let clock = mine.clock;
        let now = Cell::new(me, clock.get(numbers(), me.index()), bytes, how, pc, mine.top());
        if let Some(kept) = d.shadow.entry(SHADOW as *mut u8, WORDS, word as u64) {
            if kept.is_freed() {
                heap::used(me, word << 3 | bytes.trailing_zeros() as usize, how.writes());
            }
            let before = |t: ThreadId, time| time <= clock.get(numbers(), t.index());
            let race = |old| report::race(word << 3, old, now);
            match d.preference {
                Some(preference) => kept.note(now, |old| preference.prefers(now, old), before, race),
                None => kept.note(now, |_| false, before, race),
            }
        }
    }
}

/// Bytes get a new life: allocated, freed, or part of a new thread's stack.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn forget(address: usize, size: usize) {
    if size == 0 {
        return;
    }
    let last = address + size - 1;
    // SAFETY: the caller's promise.
    unsafe {
        let d = detector();
        if size >> 3 > 2 * d.shadow.len() {
            d.shadow.for_each(SHADOW as *mut u8, |word, kept: &mut Word| {
                if (address >> 3..=last >> 3).contains(&(word as usize)) {
                    kept.forget(bytes(word as usize, address, last));
                }
            });
            return;
        }
        for word in address >> 3..=last >> 3 {
            if let Some(kept) = d.shadow.get(SHADOW as *mut u8, word as u64) {
                kept.forget(bytes(word, address, last));
            }
        }
    }
}

impl Thread {
    /// The functions that the thread is in.
    #[inline(always)]
    fn top(&self) -> Stack {
        match (self.depth as usize).min(DEPTH) {
            0 => 0,
            depth => self.stack[depth - 1].stack,
        }
    }
}

/// Thread `me` enters a function that was called at `pc`, with its stack at `sp`.
///
/// # Safety
/// `me` holds the baton, and races are looked for.
#[inline]
pub unsafe fn enter(me: ThreadId, pc: usize, sp: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mine = thread(me);
        left_behind(mine, sp as u32);
        mine.lowest = mine.lowest.min(sp);
        let below = mine.top();
        let stack = detector().depot.push(DEPOT as *mut u8, below, pc);
        if (mine.depth as usize) < DEPTH {
            mine.stack[mine.depth as usize] = Frame { stack, sp: sp as u32 };
        }
        mine.depth += 1;
    }
}

/// Thread `me` leaves a function.
///
/// # Safety
/// As for [`enter`].
#[inline]
pub unsafe fn leave(me: ThreadId, sp: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mine = thread(me);
        // One below: the function that is left stands at this very place.
        left_behind(mine, (sp as u32).wrapping_sub(1));
        mine.depth = mine.depth.saturating_sub(1);
    }
}

/// Removes functions that were left by longjmp: their frames were below where the thread is
/// now. A place far away is another stack, that of a signal handler or a coroutine.
#[inline(always)]
fn left_behind(mine: &mut Thread, sp: u32) {
    const FAR: u32 = 1 << 20;
    while let Some(top) = (mine.depth as usize).checked_sub(1).filter(|top| *top < DEPTH) {
        if sp.wrapping_sub(mine.stack[top].sp) >= FAR {
            break;
        }
        mine.depth -= 1;
    }
}
