//! The heap, as the detector knows it: newly allocated memory has no past, freeing a block is a write to it, and an
//! access to a freed block that is held back is a finding.

use raddle_core::ThreadId;
use raddle_protocol::heap::{HeapReport, HeapSite};
use raddle_protocol::races::FRAMES;

use super::shadow::AccessKind;
use super::{access, detector, forget, Allocation, Site, ALLOCATIONS, DEPOT, HEAP, SHADOW, WORDS};
use crate::heap::block::LONGEST_FILL;
use crate::heap::report::{self, Fault};

/// Memory was allocated on the heap.
///
/// # Safety
/// `me` holds the baton, and races are looked for.
pub unsafe fn allocated(me: ThreadId, address: usize, size: usize, pc: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        forget(address, size);
        let made = Site::now(me, pc);
        if let Some(block) = detector().heap.entry(HEAP as *mut u8, ALLOCATIONS, address as u64) {
            *block = Allocation { size: size as u64, made, freed: Site::default() };
        }
    }
}

/// A heap allocation is about to be freed: that touches all of it.
///
/// # Safety
/// As for [`allocated`].
pub unsafe fn freed(me: ThreadId, address: usize, pc: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(block) = detector().heap.get(HEAP as *mut u8, address as u64) else { return };
        if block.is_freed() {
            return;
        }
        block.freed = Site::now(me, pc);
        // A use of the first bytes of a freed allocation is a use of the allocation.
        let size = (block.size as usize).min(LONGEST_FILL);
        if size != 0 {
            access(me, address, size, AccessKind::WRITE, pc);
        }
    }
}

/// A freed block is held back: accesses to its first bytes are findings from now on.
///
/// # Safety
/// As for [`allocated`].
pub unsafe fn held_back(address: usize, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let d = detector();
        for word in words(address, size) {
            if let Some(kept) = d.shadow.entry(SHADOW as *mut u8, WORDS, word) {
                kept.set_freed(true);
            }
        }
    }
}

/// A freed block is held back no longer.
///
/// # Safety
/// As for [`allocated`].
pub unsafe fn let_go(address: usize, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let d = detector();
        for word in words(address, size) {
            if let Some(kept) = d.shadow.get(SHADOW as *mut u8, word) {
                kept.set_freed(false);
            }
        }
    }
}

fn words(address: usize, size: usize) -> core::ops::Range<u64> {
    let first = address as u64 >> 3;
    first..first + size.min(LONGEST_FILL) as u64 / 8
}

/// The program accesses a word of a freed block that is held back.
#[cold]
#[inline(never)]
pub(super) unsafe fn used(me: ThreadId, address: usize, writes: bool) {
    // SAFETY: the caller holds the baton.
    unsafe {
        if let Some(freed) = report::held_at(address) {
            report::end(me, freed.block, Fault::Accessed { byte: address - freed.block.0, writes });
        }
    }
}

/// The allocation that an address lies in, and where it starts. One that is in use comes before one that was there
/// earlier.
pub(super) unsafe fn containing(address: usize) -> Option<(u64, Allocation)> {
    let mut found: Option<(u64, Allocation)> = None;
    // SAFETY: the caller holds the baton.
    unsafe {
        detector().heap.for_each(HEAP as *mut u8, |start, block| {
            let better = found.is_none_or(|(_, other)| other.is_freed() && !block.is_freed());
            if (start..start + block.size).contains(&(address as u64)) && better {
                found = Some((start, *block));
            }
        });
    }
    found
}

/// Writes the stack of a site. Returns how many frames it has.
pub(super) unsafe fn write_frames(site: Site, to: &mut [u64; FRAMES]) -> u32 {
    // SAFETY: the caller holds the baton.
    let frames = unsafe { detector().depot.frames(DEPOT as *const u8, site.stack) };
    let mut depth = 0;
    for (to, pc) in to.iter_mut().zip(core::iter::once(site.pc).chain(frames)) {
        *to = pc as u64;
        depth += 1;
    }
    depth
}

/// Adds where a freed block was allocated and freed, with the functions around. Returns the size that was asked for.
///
/// # Safety
/// As for [`allocated`].
pub unsafe fn describe_block(address: usize, report: &mut HeapReport) -> Option<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        let block = *detector().heap.get(HEAP as *mut u8, address as u64)?;
        for (from, to) in [(block.made, &mut report.allocated), (block.freed, &mut report.freed)] {
            if from.thread != 0 {
                *to = HeapSite { thread: from.thread, depth: 0, frames: [0; FRAMES] };
                to.depth = write_frames(from, &mut to.frames);
            }
        }
        Some(block.size as usize)
    }
}
