//! The findings about freed memory: what is wrong, with the block, and who freed and allocated it.

use core::ffi::c_int;
use core::fmt;

use raddle_core::ThreadId;
use raddle_protocol::heap::HeapSite;
use raddle_protocol::{Outcome, Results};

use super::block::{is_of_freed_memory, number_of, HeapBlock};
use super::freed::FreedBlock;
use super::key;
use crate::control::{scheduler, state};
use crate::process::failure;
use crate::race;

/// What is wrong.
pub enum Fault {
    /// A block is freed, or its size is changed, that was freed before.
    FreedTwice,
    /// The same with what no allocator has given.
    Invalid,
    /// Somebody has written to the block since.
    Written { byte: usize },
    /// The program's own code accesses the block.
    Accessed { byte: usize, writes: bool },
    /// A pointer that was read from the block is used.
    PointerUsed { value: u64 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::FreedTwice => write!(f, "double free"),
            Fault::Invalid => write!(f, "free of memory that was not allocated"),
            Fault::Written { byte } => write!(f, "write to freed memory: byte {byte} has changed"),
            Fault::Accessed { byte, writes: true } => write!(f, "write to freed memory: byte {byte}"),
            Fault::Accessed { byte, writes: false } => write!(f, "read of freed memory: byte {byte}"),
            Fault::PointerUsed { value } => write!(f, "use of a pointer read from freed memory ({value:#x})"),
        }
    }
}

/// Ends the run: the thread does what is wrong, or finds it.
#[cold]
#[inline(never)]
pub unsafe fn end(me: ThreadId, block: HeapBlock, fault: Fault) -> ! {
    // SAFETY: the caller holds the baton.
    unsafe {
        let s = scheduler();
        note(me, block, &fault);
        if s.results().outcome != Outcome::Exited as u32 {
            s.policy_run_ended();
        }
        failure::stop(s, Outcome::Misuse)
    }
}

/// Ends the run: the thread frees what is no block, perhaps because it has read the pointer from one that is freed.
#[cold]
#[inline(never)]
pub unsafe fn end_at_invalid(me: ThreadId, block: HeapBlock) -> ! {
    let value = block.0 as u64;
    // SAFETY: the caller holds the baton.
    unsafe {
        match source(value) {
            Some(freed) => end(me, freed.block, Fault::PointerUsed { value }),
            None => end(me, block, Fault::Invalid),
        }
    }
}

/// The freed block that a value was read from: it has its mark, or is filled with it.
unsafe fn source(value: u64) -> Option<FreedBlock> {
    if !is_of_freed_memory(value) {
        return None;
    }
    // SAFETY: the caller holds the baton.
    let freed = unsafe { &state().freed };
    let marked = freed.all_known().find(|freed| freed.block.mark(key()) == value);
    marked.or_else(|| freed.find_number(number_of(value)).filter(|_| freed.holds))
}

/// Writes what is wrong into the results.
unsafe fn note(me: ThreadId, block: HeapBlock, fault: &Fault) {
    // SAFETY: the caller holds the baton.
    let results = unsafe { scheduler() }.results();
    // A thread that finds the trace of a write need not have to do with it.
    results.thread = if matches!(fault, Fault::Written { .. }) { u32::MAX } else { me.0.into() };
    results.address = block.0 as u64;
    // SAFETY: as above.
    let size = unsafe { describe(results, block) };
    match size {
        Some(size) => failure::write_message(results, format_args!("{fault} (a block of {size} bytes)")),
        None => failure::write_message(results, format_args!("{fault}")),
    }
}

/// Adds what is known of a block that was freed. Returns its size.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn describe(results: &mut Results, block: HeapBlock) -> Option<usize> {
    // SAFETY: the caller's promise.
    let freed = unsafe { state() }.freed.find(block)?;
    let report = &mut results.heap;
    report.block = block.0 as u64;
    report.number = freed.number;
    report.freed = site(freed.by, &[freed.place]);
    // SAFETY: the caller's promise.
    let requested = unsafe { scheduler().detects.then(|| race::describe_block(block.0, report)).flatten() };
    let size = requested.unwrap_or(freed.size);
    report.size = size as u64;
    Some(size)
}

/// The same for the block that is held back and has an address in it.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn describe_held(results: &mut Results, address: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(freed) = held_at(address) {
            describe(results, freed.block);
        }
    }
}

fn site(thread: ThreadId, frames: &[usize]) -> HeapSite {
    let mut site = HeapSite { thread: u32::from(thread.0) + 1, depth: 0, frames: Default::default() };
    for (to, frame) in site.frames.iter_mut().zip(frames) {
        *to = *frame as u64;
        site.depth += 1;
    }
    site
}

/// The block that is held back and has an address in it.
///
/// # Safety
/// The caller holds the baton.
pub unsafe fn held_at(address: usize) -> Option<FreedBlock> {
    // SAFETY: the caller's promise.
    unsafe { state() }.freed.held_at(address)
}

/// What the kernel says of a fault at an address that is none: it does not know which.
const SI_KERNEL: c_int = 0x80;

/// The thread dies from a fault. Returns whether it has used what it read from freed memory; the results say so then.
///
/// # Safety
/// The caller holds the baton; the kernel's context of the fault.
pub unsafe fn explains(me: ThreadId, code: c_int, context: *const libc::ucontext_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if code != SI_KERNEL || context.is_null() || key() == 0 {
            return false;
        }
        const GENERAL: usize = libc::REG_RSP as usize;
        let registers = &(&(*context).uc_mcontext.gregs)[..=GENERAL];
        let used = registers.iter().map(|&value| value as u64).find_map(|value| Some((value, source(value)?)));
        let Some((value, FreedBlock { block, .. })) = used else { return false };
        note(me, block, &Fault::PointerUsed { value });
        true
    }
}
