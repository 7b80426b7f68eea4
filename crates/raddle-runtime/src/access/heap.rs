//! The heap, while races are looked for: newly allocated memory has no past, and freeing an allocation
//! touches it.
//!
//! The functions of libc are interposed for this alone; what they do is left to them.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

use crate::control::{current, parallel, scheduler};
use crate::{race, real};

/// An allocator's function that adds where it was called as another argument.
macro_rules! with_caller {
    ($($(#[$doc:meta])* $name:ident, $register:literal => $function:ident;)*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(not(test), unsafe(no_mangle))]
            #[unsafe(naked)]
            pub unsafe extern "C-unwind" fn $name() {
                naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $function)
            }
        )*
    };
}

with_caller! {
    malloc, "rsi" => allocate;
    /// Allocates an array of zeros.
    calloc, "rdx" => allocate_zeroed;
    /// Changes the size of a block.
    realloc, "rdx" => resize;
    /// Allocates with an alignment.
    memalign, "rdx" => allocate_aligned;
    /// Allocates with an alignment.
    aligned_alloc, "rdx" => allocate_aligned_c11;
    /// Allocates with an alignment.
    posix_memalign, "rcx" => allocate_aligned_posix;
    free, "rsi" => release;
}

/// Notes a new allocation.
#[inline(always)]
unsafe fn note(block: *mut c_void, size: usize, pc: usize) {
    // Parallel runs do not look for races, and the lock would cost more than the allocation.
    if parallel() {
        return;
    }
    if let Some(me) = current() {
        // SAFETY: `me` holds the baton.
        unsafe {
            if scheduler().detects && !block.is_null() {
                race::allocated(me, block as usize, size, pc);
            }
        }
    }
}

/// Notes an allocation that is about to be freed.
#[inline(always)]
unsafe fn forget(block: *mut c_void, pc: usize) {
    if parallel() {
        return;
    }
    if let Some(me) = current() {
        // SAFETY: as above.
        unsafe {
            if scheduler().detects && !block.is_null() {
                race::freed(me, block as usize, pc);
            }
        }
    }
}

unsafe extern "C-unwind" fn allocate(size: usize, pc: usize) -> *mut c_void {
    // SAFETY (all below): the program's own call, passed on.
    unsafe {
        let block = real!(malloc: fn(usize) -> *mut c_void)(size);
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_zeroed(count: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = real!(calloc: fn(usize, usize) -> *mut c_void)(count, size);
        note(block, count.wrapping_mul(size), pc);
        block
    }
}

unsafe extern "C-unwind" fn resize(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        forget(block, pc);
        let moved = real!(realloc: fn(*mut c_void, usize) -> *mut c_void)(block, size);
        note(moved, size, pc);
        moved
    }
}

unsafe extern "C-unwind" fn allocate_aligned(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = real!(memalign: fn(usize, usize) -> *mut c_void)(alignment, size);
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_aligned_c11(alignment: usize, size: usize, pc: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe {
        let block = real!(aligned_alloc: fn(usize, usize) -> *mut c_void)(alignment, size);
        note(block, size, pc);
        block
    }
}

unsafe extern "C-unwind" fn allocate_aligned_posix(
    result: *mut *mut c_void,
    alignment: usize,
    size: usize,
    pc: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        let error = real!(posix_memalign: fn(*mut *mut c_void, usize, usize) -> c_int)(result, alignment, size);
        if error == 0 {
            note(*result, size, pc);
        }
        error
    }
}

unsafe extern "C-unwind" fn release(block: *mut c_void, pc: usize) {
    // SAFETY: as above.
    unsafe {
        forget(block, pc);
        real!(free: fn(*mut c_void))(block);
    }
}
