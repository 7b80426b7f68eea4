//! Atomics: the point comes first, then the hook performs the operation.
//!
//! Only sequentially consistent executions are explored, so every operation is one, whatever order the
//! program asks for. The memory order matters for races only.

// Words of all sizes are widened, including the widest.
#![allow(clippy::useless_conversion)]

use core::arch::asm;
use core::ffi::c_void;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicU8};

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::hooks::{Compare, Hooks, Load, Modify, Operation, OPERATIONS, WORDS};
use raddle_protocol::results::blind_spot;
use raddle_protocol::Points;

use crate::control::{self, access_point as point, current, scheduler, state, LeaveOnDrop};
use crate::race::{self, AccessKind};

use super::spin_loop::{fold, wait_for_change, SpinState};

/// Puts the hooks of atomics into the table.
pub fn fill(hooks: &mut Hooks) {
    hooks.load = [load::<1>, load::<2>, load::<4>, load::<8>];
    hooks.compare = [compare::<1>, compare::<2>, compare::<4>, compare::<8>];
    hooks.modify = modifying();
    hooks.wide = wide;
    hooks.fence = fence;
}

const _: [Load; WORDS] = [load::<1>; WORDS];
const _: [Compare; WORDS] = [compare::<1>; WORDS];

fn modifying() -> [[Modify; WORDS]; OPERATIONS] {
    macro_rules! sizes {
        ($operation:expr) => {
            [
                modify::<1, { $operation as i32 }>,
                modify::<2, { $operation as i32 }>,
                modify::<4, { $operation as i32 }>,
                modify::<8, { $operation as i32 }>,
            ]
        };
    }
    use Operation::*;
    [sizes!(Store), sizes!(Exchange), sizes!(Add), sizes!(Sub), sizes!(And), sizes!(Or), sizes!(Xor), sizes!(Nand)]
}

/// The operation itself, on a word of `SIZE` bytes.
macro_rules! word {
    ($size:expr, $address:expr, $it:ident => $body:expr) => {
        match $size {
            1 => {
                let $it = AtomicU8::from_ptr($address.cast());
                $body
            }
            2 => {
                let $it = AtomicU16::from_ptr($address.cast());
                $body
            }
            4 => {
                let $it = AtomicU32::from_ptr($address.cast());
                $body
            }
            _ => {
                let $it = AtomicU64::from_ptr($address.cast());
                $body
            }
        }
    };
}

/// Passes the point of an atomic. Returns the calling thread, if its atomics are visible.
#[inline(always)]
unsafe fn arrive(kind: EventKind, address: *mut c_void, size: usize, pc: usize) -> Option<ThreadId> {
    let me = current()?;
    // SAFETY: `me` holds the baton.
    unsafe {
        // While there has only been one thread, no other can see the difference.
        if scheduler().created == 1 {
            control::leave();
            return None;
        }
        // Under the fair schedule a loop takes turns, and its states are compared.
        let is_fair = scheduler().is_fair;
        let loops = !is_fair && state().access.spin_loops.is_spinning_at(me, pc, address as usize);
        if is_fair || scheduler().settings().run.points >= Points::Atomic {
            if loops {
                scheduler().record_blind_spot(blind_spot::SPUN);
            } else {
                point(me, kind, address as usize, size);
            }
        }
    }
    Some(me)
}

/// The thread has only read a value, of `size` bytes.
#[inline(always)]
unsafe fn only_read(me: ThreadId, address: *mut c_void, size: usize, value: u64, pc: usize) {
    // SAFETY: `me` holds the baton.
    unsafe {
        if scheduler().is_fair {
            return;
        }
        if state().access.spin_loops.read(me, pc, address as usize, size as u32, || value) == SpinState::MustWait {
            wait_for_change(me, address as usize);
        }
    }
}

/// Notes an atomic that was performed.
#[inline(always)]
unsafe fn performed(me: ThreadId, address: *mut c_void) {
    // SAFETY: the calling thread holds the baton.
    unsafe { state().access.spin_loops.atomic(me, address as usize) };
}

unsafe extern "C-unwind" fn load<const SIZE: usize>(address: *mut c_void, order: i32, pc: usize) -> u64 {
    // SAFETY (all below): the program's own access; `me`, where there is one, holds the baton.
    unsafe {
        let me = arrive(EventKind::AtomicLoad, address, SIZE, pc);
        let _leave = me.map(|_| LeaveOnDrop::armed());
        let value = word!(SIZE, address, it => u64::from(it.load(SeqCst)));
        if let Some(me) = me {
            only_read(me, address, SIZE, value, pc);
            if scheduler().detects {
                race::atomic_load(me, address as usize, order);
                race::access(me, address as usize, SIZE, AccessKind::ATOMIC_READ, pc);
            }
            performed(me, address);
        }
        value
    }
}

unsafe extern "C-unwind" fn modify<const SIZE: usize, const OPERATION: i32>(
    address: *mut c_void,
    operand: u64,
    order: i32,
    pc: usize,
) -> u64 {
    let stores = OPERATION == Operation::Store as i32;
    // SAFETY: as above.
    unsafe {
        let me = arrive(if stores { EventKind::AtomicStore } else { EventKind::AtomicModify }, address, SIZE, pc);
        let _leave = me.map(|_| LeaveOnDrop::armed());
        let old = word!(SIZE, address, it => {
            let operand = operand as _;
            u64::from(match Operation::from_i32(OPERATION) {
                Some(Operation::Store | Operation::Exchange) | None => it.swap(operand, SeqCst),
                Some(Operation::Add) => it.fetch_add(operand, SeqCst),
                Some(Operation::Sub) => it.fetch_sub(operand, SeqCst),
                Some(Operation::And) => it.fetch_and(operand, SeqCst),
                Some(Operation::Or) => it.fetch_or(operand, SeqCst),
                Some(Operation::Xor) => it.fetch_xor(operand, SeqCst),
                Some(_) => it.fetch_nand(operand, SeqCst),
            })
        });
        if let Some(me) = me {
            // Setting a lock that is set changes nothing.
            if !stores && word!(SIZE, address, it => u64::from(it.load(SeqCst))) == old {
                only_read(me, address, SIZE, old, pc);
            } else {
                state().access.spin_loops.progress(me);
            }
            if scheduler().notes_lock_words() {
                let new = word!(SIZE, address, it => u64::from(it.load(SeqCst)));
                state().access.lock_words.changed(me, address as usize, old, new, false);
            }
            if scheduler().detects {
                if stores {
                    race::access(me, address as usize, SIZE, AccessKind::ATOMIC_WRITE, pc);
                    race::atomic_store(me, address as usize, order);
                } else {
                    modified(me, address as usize, SIZE, order, pc);
                }
            }
            performed(me, address);
        }
        old
    }
}

unsafe extern "C-unwind" fn compare<const SIZE: usize>(
    address: *mut c_void,
    expected: *mut c_void,
    desired: u64,
    order: i32,
    failure: i32,
    pc: usize,
) -> i32 {
    // SAFETY: as above; the program's own variable for what was there.
    unsafe {
        let me = arrive(EventKind::AtomicModify, address, SIZE, pc);
        let _leave = me.map(|_| LeaveOnDrop::armed());
        let wanted = match SIZE {
            1 => u64::from(expected.cast::<u8>().read_unaligned()),
            2 => u64::from(expected.cast::<u16>().read_unaligned()),
            4 => u64::from(expected.cast::<u32>().read_unaligned()),
            _ => expected.cast::<u64>().read_unaligned(),
        };
        let result = word!(SIZE, address, it => {
            it.compare_exchange(wanted as _, desired as _, SeqCst, SeqCst).map(u64::from).map_err(u64::from)
        });
        if let Some(me) = me {
            if let (Ok(old), true) = (result, scheduler().notes_lock_words()) {
                state().access.lock_words.changed(me, address as usize, old, desired, true);
            }
            compared(me, address, SIZE, result, order, failure, pc);
            performed(me, address);
        }
        if let Err(found) = result {
            expected.cast::<u8>().copy_from_nonoverlapping((&raw const found).cast(), SIZE);
        }
        i32::from(result.is_ok())
    }
}

/// Tells the detector of a read-modify-write. The access is before what it releases: a thread that acquires that
/// may free the memory.
unsafe fn modified(me: ThreadId, address: usize, size: usize, order: i32, pc: usize) {
    // SAFETY: `me` holds the baton.
    unsafe {
        race::atomic_load(me, address, order);
        race::access(me, address, size, AccessKind::ATOMIC_WRITE, pc);
        race::atomic_continue(me, address, order);
    }
}

/// What follows a compare-and-exchange: spin loops and races.
unsafe fn compared(
    me: ThreadId,
    address: *mut c_void,
    size: usize,
    result: Result<u64, u64>,
    order: i32,
    failure: i32,
    pc: usize,
) {
    // SAFETY: `me` holds the baton.
    unsafe {
        match result {
            Ok(_) => state().access.spin_loops.progress(me),
            Err(found) => only_read(me, address, size, found, pc),
        }
        if !scheduler().detects {
            return;
        }
        if result.is_ok() {
            modified(me, address as usize, size, order, pc);
        } else {
            race::atomic_load(me, address as usize, failure);
            race::access(me, address as usize, size, AccessKind::ATOMIC_READ, pc);
        }
    }
}

/// Compares and exchanges sixteen bytes; returns what was there.
unsafe fn compare_wide(address: *mut u128, expected: u128, desired: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: the program's own, aligned address, on a processor that has the instruction. rbx is the
    // compiler's, so it is given back. All registers are named: one that the compiler chooses may be rbx itself.
    unsafe {
        asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            inout("rsi") desired as u64 => _,
            in("rdi") address,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") (desired >> 64) as u64,
            options(nostack),
        );
    }
    u128::from(high) << 64 | u128::from(low)
}

unsafe extern "C-unwind" fn wide(
    operation: i32,
    address: *mut u128,
    value: *mut u128,
    expected: *mut u128,
    order: i32,
    pc: usize,
) -> i32 {
    let operation = Operation::from_i32(operation).unwrap_or(Operation::Load);
    let kind = match operation {
        Operation::Load => EventKind::AtomicLoad,
        Operation::Store => EventKind::AtomicStore,
        _ => EventKind::AtomicModify,
    };
    // SAFETY: as above; a program with such atomics runs on a processor that has the instruction.
    unsafe {
        let me = arrive(kind, address.cast(), 16, pc);
        let _leave = me.map(|_| LeaveOnDrop::armed());
        if operation == Operation::Compare {
            let wanted = *expected;
            let found = compare_wide(address, wanted, *value);
            *expected = found;
            if let Some(me) = me {
                let folded = fold(found);
                let result = if found == wanted { Ok(folded) } else { Err(folded) };
                compared(me, address.cast(), 16, result, order, order, pc);
            }
            return i32::from(found == wanted);
        }
        // Comparing with any value gives the one that is there.
        let mut old = compare_wide(address, 0, 0);
        let new = loop {
            let new = match operation {
                Operation::Store | Operation::Exchange => *value,
                Operation::Add => old.wrapping_add(*value),
                Operation::Sub => old.wrapping_sub(*value),
                Operation::And => old & *value,
                Operation::Or => old | *value,
                Operation::Xor => old ^ *value,
                Operation::Nand => !(old & *value),
                Operation::Load | Operation::Compare => old,
            };
            let seen = compare_wide(address, old, new);
            if seen == old {
                break new;
            }
            old = seen;
        };
        *value = old;
        if let Some(me) = me {
            if new == old {
                only_read(me, address.cast(), 16, fold(old), pc);
            } else {
                state().access.spin_loops.progress(me);
            }
            if scheduler().detects {
                match operation {
                    Operation::Load => {
                        race::atomic_load(me, address as usize, order);
                        race::access(me, address as usize, 16, AccessKind::ATOMIC_READ, pc);
                    }
                    Operation::Store => {
                        race::access(me, address as usize, 16, AccessKind::ATOMIC_WRITE, pc);
                        race::atomic_store(me, address as usize, order);
                    }
                    _ => modified(me, address as usize, 16, order, pc),
                }
            }
        }
        1
    }
}

unsafe extern "C-unwind" fn fence(order: i32, _pc: usize) {
    core::sync::atomic::fence(SeqCst);
    // In a sequentially consistent execution a fence has no effect that a point before the next access does
    // not: no point here.
    let Some(me) = current() else { return };
    let _leave = LeaveOnDrop::armed();
    // SAFETY: `me` holds the baton.
    unsafe {
        if scheduler().detects && scheduler().created > 1 {
            race::fence(me, order);
        }
    }
}
