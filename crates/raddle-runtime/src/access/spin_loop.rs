//! Spin loops: a thread that reads the same values again and again, and changes nothing in between, waits for another
//! thread.
//!
//! Its first reads are points like others. Then it may go on for a while alone: many loops give up after a hundred
//! turns and do something else, and what they do then is worth seeing; no program could tell the difference if others
//! ran meanwhile. A thread that still reads the same values waits until one of them changes, as if it were blocked.
//! So a loop costs few steps, and its thread keeps its priority. When no other thread can run, the waiting ones are
//! let go: it may be their own patience that ends the loop, or a livelock.

use raddle_core::{Event, EventKind, ThreadId, MAX_THREADS};

use crate::control::{self, scheduler, state, wait};
use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::Wait;
use crate::scheduler::Scheduler;

/// Reads that a loop may consist of.
const READS: usize = 16;
/// Places where a read may be kept: reads of one loop must not replace each other.
const PROBES: usize = 8;
/// Reads in a row that were all made before, after which it is a loop.
const PATIENCE: u32 = 3;
/// Reads that a loop makes alone before it waits.
const ALONE: u32 = 256;

/// What one thread has read since it last changed something. Valid when zeroed.
#[derive(Clone, Copy)]
#[repr(C)]
struct ReadHistory {
    /// Goes up when the thread changes something: older reads are forgotten.
    round: u32,
    /// Reads in a row that were made before, with the same result.
    repeated: u32,
    /// Reads for which there was no room. Each one replaces another one.
    lost: u32,
    /// The address of its last atomic.
    atomic: usize,
    read: [Read; READS],
}

impl ReadHistory {
    /// Where a read is kept, or may be. Code that is not inlined reads all its values at one place of the program, so
    /// that alone does not tell reads apart.
    #[inline]
    fn place(&self, pc: usize, address: usize) -> usize {
        let home = pc ^ (pc >> 4) ^ (address >> 3);
        let fits = |read: &Read| (read.pc == pc && read.address == address) || read.pc == 0 || read.round != self.round;
        let mut places = (0..PROBES).map(|i| (home + i) % READS);
        places.find(|&place| fits(&self.read[place])).unwrap_or((home + self.lost as usize % PROBES) % READS)
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Read {
    pc: usize,
    address: usize,
    value: u64,
    round: u32,
    /// Bytes of the value; 0 before it was read, which happens the second time.
    size: u32,
}

/// What a read says about its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpinState {
    /// It is not in a loop.
    NotSpinning,
    /// It is in a loop.
    Spinning,
    /// It has been in a loop for long.
    MustWait,
}

/// What the threads have read. Valid when zeroed.
pub struct SpinLoops([ReadHistory; MAX_THREADS]);

impl SpinLoops {
    /// Thread `t` reads `size` bytes. The value is read only if the same read was made before: to read
    /// from an invalid address would be our fault and not the program's.
    #[inline]
    pub fn read(
        &mut self,
        t: ThreadId,
        pc: usize,
        address: usize,
        size: u32,
        value: impl FnOnce() -> u64,
    ) -> SpinState {
        let seen = &mut self.0[t.index()];
        let slot = &mut seen.read[seen.place(pc, address)];
        if slot.pc != pc || slot.address != address || slot.round != seen.round {
            seen.lost = seen.lost.wrapping_add((slot.pc != 0 && slot.round == seen.round).into());
            *slot = Read { pc, address, value: 0, round: seen.round, size: 0 };
            seen.repeated = 0;
            return SpinState::NotSpinning;
        }
        let value = value();
        if slot.size != 0 && slot.value == value {
            seen.repeated += 1;
        } else {
            (slot.value, slot.size) = (value, size);
            seen.repeated = 0;
        }
        match seen.repeated {
            0..PATIENCE => SpinState::NotSpinning,
            PATIENCE..ALONE => SpinState::Spinning,
            _ => SpinState::MustWait,
        }
    }

    /// Whether the thread is in a loop that this read belongs to.
    #[inline]
    pub fn is_spinning_at(&self, t: ThreadId, pc: usize, address: usize) -> bool {
        let seen = &self.0[t.index()];
        if seen.repeated < PATIENCE {
            return false;
        }
        let slot = &seen.read[seen.place(pc, address)];
        slot.pc == pc && slot.address == address && slot.round == seen.round
    }

    /// Whether one of the values that the thread waits for has changed.
    fn changed(&self, t: ThreadId) -> bool {
        let seen = &self.0[t.index()];
        let reads = seen.read.iter().filter(|read| read.round == seen.round && read.size != 0);
        // SAFETY: the thread has read these addresses again and again.
        reads.into_iter().any(|read| unsafe { value(read.address, read.size) } != read.value)
    }

    /// Thread `t` has made an atomic access.
    #[inline]
    pub fn atomic(&mut self, t: ThreadId, address: usize) {
        self.0[t.index()].atomic = address;
    }

    /// Whether thread `t`, which is about to wait at a word, comes from an atomic at that word or beside it: then
    /// the uncontended way into its lock is visible, too.
    pub fn last_atomic_is_near(&self, t: ThreadId, word: usize) -> bool {
        // A lock for readers and writers waits at its second word, which is four bytes away.
        self.0[t.index()].atomic.abs_diff(word) < 8
    }

    /// Thread `t` has changed something.
    #[inline]
    pub fn progress(&mut self, t: ThreadId) {
        let seen = &mut self.0[t.index()];
        seen.round = seen.round.wrapping_add(1);
        seen.repeated = 0;
    }
}

/// What lies at an address, folded into a word.
///
/// # Safety
/// The program reads these bytes itself.
#[inline(always)]
pub unsafe fn value(address: usize, size: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => u64::from((address as *const u8).read_volatile()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            8 => (address as *const u64).read_unaligned(),
            _ => fold((address as *const u128).read_unaligned()),
        }
    }
}

/// Sixteen bytes as eight.
pub fn fold(value: u128) -> u64 {
    value as u64 ^ (value >> 64) as u64
}

/// Thread `me` waits until one of the values that it reads again and again changes.
///
/// # Safety
/// `me` holds the baton.
#[cold]
pub unsafe fn wait_for_change(me: ThreadId, address: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let s = scheduler();
        s.spinning.set(me, true);
        s.any_spinning = true;
        s.thread(me).interruptible = true;
        wait(me, Event::new(EventKind::Spin, address), Wait::Event, NEVER);
        let s = scheduler();
        s.spinning.set(me, false);
        s.any_spinning = !s.spinning.is_empty();
        s.thread(me).interruptible = false;
        state().access.spin_loops.progress(me);
    }
}

/// Thread `me`, which was preempted where it stands, goes on when others have passed so many points, or none of them can.
///
/// # Safety
/// `me` holds the baton.
pub unsafe fn let_others_go_first(me: ThreadId, points: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let s = scheduler();
        let now = s.results().points;
        s.thread(me).waits_until_point = now + points;
        s.spinning.set(me, true);
        s.any_spinning = true;
        s.thread(me).interruptible = true;
        wait(me, Event::new(EventKind::Yield, 0), Wait::Event, NEVER);
        let s = scheduler();
        s.spinning.set(me, false);
        s.any_spinning = !s.spinning.is_empty();
        s.thread(me).interruptible = false;
        s.thread(me).waits_until_point = 0;
    }
}

/// Wakes the threads that let others go first, because none of those can.
#[cold]
pub fn wake_preempted(s: &mut Scheduler) {
    let mut k = 0;
    while let Some(t) = s.spinning.nth(k) {
        k += 1;
        if s.threads[t.index()].waits_until_point != 0 {
            s.wake(t);
        }
    }
}

/// Wakes the threads whose values have changed. Called before each decision while a thread spins.
#[cold]
pub fn wake_changed(s: &mut Scheduler) {
    let mut k = 0;
    while let Some(t) = s.spinning.nth(k) {
        k += 1;
        let until = s.threads[t.index()].waits_until_point;
        if until != 0 {
            if s.results().points >= until {
                s.wake(t);
            }
            continue;
        }
        // SAFETY: the caller holds the baton; only the table of reads is looked at.
        let spins = unsafe { &*core::ptr::addr_of!((*control::state_pointer()).access.spin_loops) };
        if !s.threads[t.index()].woken && spins.changed(t) {
            s.wake(t);
        }
    }
}

/// Wakes all of them, because no other thread can run.
#[cold]
pub fn wake_all(s: &mut Scheduler) {
    let mut k = 0;
    while let Some(t) = s.spinning.nth(k) {
        k += 1;
        s.made_no_progress(t);
        s.wake(t);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spins() -> Box<SpinLoops> {
        // SAFETY: valid when zeroed.
        unsafe { super::super::zeroed() }
    }

    const ME: ThreadId = ThreadId(3);

    fn read(spins: &mut SpinLoops, t: ThreadId, pc: usize, address: usize, value: u64) -> SpinState {
        spins.read(t, pc, address, 4, || value)
    }

    #[test]
    fn reading_one_value_again_and_again_is_a_loop() {
        use SpinState::{NotSpinning, Spinning};
        let mut spins = spins();
        let found: Vec<SpinState> = (0..7).map(|_| read(&mut spins, ME, 0x400, 0x10, 1)).collect();
        assert_eq!(found, [NotSpinning, NotSpinning, NotSpinning, NotSpinning, Spinning, Spinning, Spinning]);
        assert!(spins.is_spinning_at(ME, 0x400, 0x10) && !spins.is_spinning_at(ME, 0x405, 0x10));
        // A new value is news.
        assert_eq!(read(&mut spins, ME, 0x400, 0x10, 2), NotSpinning);
    }

    #[test]
    fn a_long_loop_waits() {
        let mut spins = spins();
        let found = (0..1000).position(|_| read(&mut spins, ME, 0x400, 0x10, 1) == SpinState::MustWait);
        assert_eq!(found, Some(ALONE as usize + 1));
    }

    #[test]
    fn two_reads_in_turn_are_a_loop_too() {
        let mut spins = spins();
        let mut turns = (0..20).map(|i| read(&mut spins, ME, 0x400 + 5 * (i % 2), 0x10 * (i % 2), 7));
        assert!(turns.any(|verdict| verdict == SpinState::Spinning));
    }

    #[test]
    fn reads_with_the_same_home_are_a_loop_too() {
        let mut spins = spins();
        // These four have one home, as any four out of many have now and then.
        let mut turns = (0..40).map(|i| read(&mut spins, ME, 0x1000 + 0x100 * (i % 4), 0x10, 7));
        assert!(turns.any(|verdict| verdict == SpinState::Spinning));
    }

    #[test]
    fn reads_by_one_function_are_a_loop_too() {
        let mut spins = spins();
        let mut turns = (0..40).map(|i| read(&mut spins, ME, 0x400, 0x80 * (i % 4), 7));
        assert!(turns.any(|verdict| verdict == SpinState::Spinning));
    }

    #[test]
    fn a_loop_finds_room_after_much_else() {
        for first in 0..16 {
            let mut spins = spins();
            (0..100).for_each(|i| _ = read(&mut spins, ME, 0x400, 8 * i, 0));
            let mut turns = (0..80).map(|i| read(&mut spins, ME, 0x800 + first, 0x80 * (i % 4), 7));
            assert!(turns.any(|verdict| verdict == SpinState::Spinning));
        }
    }

    #[test]
    fn a_walk_through_memory_is_none() {
        let mut spins = spins();
        for i in 0..1000 {
            assert_eq!(read(&mut spins, ME, 0x400, 8 * i, 0), SpinState::NotSpinning);
            assert_eq!(read(&mut spins, ME, 0x405, 0x10, 7), SpinState::NotSpinning);
        }
    }

    #[test]
    fn changing_something_is_progress() {
        let mut spins = spins();
        for _ in 0..100 {
            assert_eq!(read(&mut spins, ME, 0x400, 0x10, 1), SpinState::NotSpinning);
            spins.progress(ME);
        }
    }

    #[test]
    fn a_change_of_any_value_is_noticed() {
        let mut spins = spins();
        let mut words = [1u32, 2];
        let at = words.as_mut_ptr();
        for i in 0..20 {
            let address = at.wrapping_add(i % 2) as usize;
            // SAFETY: one of the two words.
            spins.read(ME, 0x400 + 5 * (i % 2), address, 4, || unsafe { value(address, 4) });
        }
        assert!(!spins.changed(ME));
        // SAFETY: the second word.
        unsafe { at.add(1).write_volatile(3) };
        assert!(spins.changed(ME));
    }

    #[test]
    fn threads_are_apart() {
        let mut spins = spins();
        for i in 0..100 {
            assert_eq!(read(&mut spins, ThreadId(i), 0x400, 0x10, 1), SpinState::NotSpinning);
        }
    }
}
