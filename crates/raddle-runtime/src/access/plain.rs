//! Plain and volatile accesses. The hook stands before the access: the point comes first, then the
//! access is noted, and the program makes it when the hook returns.

use core::ffi::c_void;

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::hooks::{Access, Hooks, SIZES};
use raddle_protocol::results::blind_spot;
use raddle_protocol::Points;

use crate::control::{access_point as point, current, scheduler, state, LeaveOnDrop};
use crate::race::{self, AccessKind};

use super::lease::{Lease, Sample};
use super::spin_loop::{value, wait_for_change, SpinState};

/// What a hook does, as bits.
mod mode {
    /// Every access is a point.
    pub const POINT: u8 = 1;
    /// Accesses at places that are known to race are points.
    pub const PLACES: u8 = 1 << 1;
    /// The run looks for races.
    pub const DETECT: u8 = 1 << 2;
}

use mode::{DETECT, PLACES, POINT};

/// Puts the hooks of plain accesses into the table.
pub fn fill(hooks: &mut Hooks, level: Points, detects: bool) {
    match (level, detects) {
        (Points::Memory, false) => fill_plain::<POINT>(hooks),
        (Points::Memory, true) => fill_plain::<{ POINT | DETECT }>(hooks),
        // Without looking for races there is nothing to keep learning from.
        (Points::Race, false) => fill_plain::<PLACES>(hooks),
        (Points::Race, true) => fill_plain::<{ PLACES | DETECT }>(hooks),
        (_, true) => fill_plain::<DETECT>(hooks),
        (_, false) => {}
    }
    match (level >= Points::Atomic, detects) {
        (true, false) => fill_volatile::<POINT>(hooks),
        (true, true) => fill_volatile::<{ POINT | DETECT }>(hooks),
        (false, true) => fill_volatile::<DETECT>(hooks),
        (false, false) => {}
    }
}

fn fill_plain<const MODE: u8>(hooks: &mut Hooks) {
    hooks.read = [read::<1, MODE>, read::<2, MODE>, read::<4, MODE>, read::<8, MODE>, read::<16, MODE>];
    hooks.write = [write::<1, MODE>, write::<2, MODE>, write::<4, MODE>, write::<8, MODE>, write::<16, MODE>];
    // One statement that reads and writes is one access that writes: whatever comes between the two is
    // also possible before.
    hooks.read_write = hooks.write;
    hooks.range_read = range_read::<MODE>;
    hooks.range_write = range_write::<MODE>;
}

fn fill_volatile<const MODE: u8>(hooks: &mut Hooks) {
    let reads: [Access; SIZES] = [
        volatile_read::<1, MODE>,
        volatile_read::<2, MODE>,
        volatile_read::<4, MODE>,
        volatile_read::<8, MODE>,
        volatile_read::<16, MODE>,
    ];
    let writes: [Access; SIZES] = [
        volatile_write::<1, MODE>,
        volatile_write::<2, MODE>,
        volatile_write::<4, MODE>,
        volatile_write::<8, MODE>,
        volatile_write::<16, MODE>,
    ];
    (hooks.volatile_read, hooks.volatile_write) = (reads, writes);
}

unsafe extern "C-unwind" fn read<const SIZE: usize, const MODE: u8>(address: *mut c_void, pc: usize) {
    // SAFETY: the program is about to make this access.
    unsafe { before_read::<SIZE, MODE>(address as usize, SIZE, EventKind::Load, pc) }
}

unsafe extern "C-unwind" fn write<const SIZE: usize, const MODE: u8>(address: *mut c_void, pc: usize) {
    // SAFETY: as above.
    unsafe { before_write::<MODE>(address as usize, SIZE, EventKind::Store, pc) }
}

unsafe extern "C-unwind" fn volatile_read<const SIZE: usize, const MODE: u8>(address: *mut c_void, pc: usize) {
    // SAFETY: as above.
    unsafe { before_read::<SIZE, MODE>(address as usize, SIZE, EventKind::VolatileLoad, pc) }
}

unsafe extern "C-unwind" fn volatile_write<const SIZE: usize, const MODE: u8>(address: *mut c_void, pc: usize) {
    // SAFETY: as above.
    unsafe { before_write::<MODE>(address as usize, SIZE, EventKind::VolatileStore, pc) }
}

unsafe extern "C-unwind" fn range_read<const MODE: u8>(address: *mut c_void, size: usize, pc: usize) {
    // SAFETY: as above. Blocks are not compared: their first byte stands for them.
    unsafe { before_read::<1, MODE>(address as usize, size, EventKind::Load, pc) }
}

unsafe extern "C-unwind" fn range_write<const MODE: u8>(address: *mut c_void, size: usize, pc: usize) {
    // SAFETY: as above.
    unsafe { before_write::<MODE>(address as usize, size, EventKind::Store, pc) }
}

/// Whether an access at this place is a point.
#[inline(always)]
unsafe fn is_point<const MODE: u8>(pc: usize) -> bool {
    // SAFETY: the caller holds the baton.
    MODE & POINT != 0 || MODE & PLACES != 0 && unsafe { state() }.access.racy_places.contains(pc)
}

/// Whether a thread's access is to be looked at further.
#[inline(always)]
unsafe fn is_seen<const MODE: u8>(me: ThreadId, kind: EventKind, address: usize, size: usize) -> bool {
    // SAFETY: `me` holds the baton.
    unsafe {
        // While there has only been one thread, no other can see the difference.
        let alone = scheduler().created == 1;
        let done = alone || MODE == POINT && passes_unseen(me, kind, address, size);
        !done
    }
}

/// The point before an access that is not looked at for spin loops. Returns whether it is one.
unsafe fn passes_unseen(me: ThreadId, kind: EventKind, address: usize, size: usize) -> bool {
    // SAFETY: `me` holds the baton.
    unsafe {
        match scheduler().spin_sampler.sample() {
            Sample::Continue => return false,
            Sample::Restart => {
                state().access.spin_loops.progress(me);
                return false;
            }
            Sample::Skip => {}
        }
        point(me, kind, address, size);
        Lease::grant(scheduler(), me);
    }
    true
}

#[inline(always)]
unsafe fn before_read<const SIZE: usize, const MODE: u8>(address: usize, size: usize, kind: EventKind, pc: usize) {
    // SAFETY: the state is there since before the table was filled; a thread with a lease holds the baton.
    if MODE != POINT || unsafe { !Lease::spend(scheduler(), kind) } {
        // SAFETY: the caller's promise. A function of its own, so that what is above saves no registers.
        unsafe { before_asked_read::<SIZE, MODE>(address, size, kind, pc) }
    }
}

#[inline(never)]
unsafe fn before_asked_read<const SIZE: usize, const MODE: u8>(
    address: usize,
    size: usize,
    kind: EventKind,
    pc: usize,
) {
    // SAFETY: `me` holds the baton whenever it runs; the program's own access.
    unsafe {
        let Some(me) = current() else { return };
        let _leave = LeaveOnDrop::armed();
        if !is_seen::<MODE>(me, kind, address, size) {
            return;
        }
        let is_point = is_point::<MODE>(pc);
        if scheduler().is_fair && (is_point || MODE & (PLACES | DETECT) == 0) {
            // Under the fair schedule a loop need not wait: it takes turns, and its states are compared.
            point(me, kind, address, size);
            if MODE & DETECT != 0 {
                race::access(me, address, size, AccessKind::READ, pc);
            }
            return;
        }
        let spins = &mut state().access.spin_loops;
        if is_point {
            if spins.is_spinning_at(me, pc, address) {
                scheduler().record_blind_spot(blind_spot::SPUN);
            } else {
                point(me, kind, address, size);
            }
        }
        let spins = &mut state().access.spin_loops;
        match spins.read(me, pc, address, SIZE as u32, || value(address, SIZE as u32)) {
            SpinState::NotSpinning => {}
            SpinState::Spinning => scheduler().spin_sampler.keep_sampling(),
            SpinState::MustWait => wait_for_change(me, address),
        }
        if MODE & DETECT != 0 {
            race::access(me, address, size, AccessKind::READ, pc);
        }
    }
}

#[inline(always)]
unsafe fn before_write<const MODE: u8>(address: usize, size: usize, kind: EventKind, pc: usize) {
    // SAFETY: as above.
    if MODE != POINT || unsafe { !Lease::spend(scheduler(), kind) } {
        // SAFETY: as above.
        unsafe { before_asked_write::<MODE>(address, size, kind, pc) }
    }
}

#[inline(never)]
unsafe fn before_asked_write<const MODE: u8>(address: usize, size: usize, kind: EventKind, pc: usize) {
    // SAFETY: as above.
    unsafe {
        let Some(me) = current() else { return };
        let _leave = LeaveOnDrop::armed();
        if !is_seen::<MODE>(me, kind, address, size) {
            return;
        }
        if is_point::<MODE>(pc) {
            point(me, kind, address, size);
        }
        state().access.spin_loops.progress(me);
        if MODE & DETECT != 0 {
            race::access(me, address, size, AccessKind::WRITE, pc);
        }
    }
}
