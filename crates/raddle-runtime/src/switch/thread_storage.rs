//! Thread-local storage of pooled identities: puts a thread's static blocks back to what a new
//! thread sees.
//!
//! libc's and the loader's own blocks are left alone except for errno: what they hold (allocator caches,
//! pointers into the control block) stays valid for the identity.

use core::ffi::{c_int, c_void};

use crate::control::state;
use crate::os::sys;

/// Initial image of one object's block.
#[derive(Clone, Copy)]
struct Segment {
    /// Where the block lies, below the thread pointer.
    below: usize,
    image: *const u8,
    initialised: usize,
    zeroed: usize,
}

/// Objects with thread-local storage that are known.
const MOST: usize = 64;

/// The objects. Valid when zeroed.
pub struct Segments {
    list: [Segment; MOST],
    count: usize,
    /// There are blocks that are allocated on first use, or too many blocks.
    dynamic: bool,
    /// Where errno lies, below the thread pointer.
    errno_below: usize,
}

extern "C" {
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn __errno_location() -> *mut c_int;
}

/// Looks at all loaded objects. Returns whether identities can be used again: not if an object's block
/// is allocated on first use.
///
/// # Safety
/// No thread is created meanwhile.
pub unsafe fn survey() -> bool {
    // SAFETY: the caller's promise; the visitor writes the segments only.
    unsafe {
        let segments = &mut state().segments;
        segments.count = 0;
        segments.dynamic = false;
        segments.errno_below = sys::thread_pointer() - __errno_location() as usize;
        dl_iterate_phdr(visit, core::ptr::null_mut());
        !segments.dynamic
    }
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
    /// Static blocks lie at most this far below the thread pointer, in bytes.
    const NEAR: usize = 1 << 20;
    // SAFETY: libc gives valid program headers.
    unsafe {
        let segments = &mut state().segments;
        if (*info).dlpi_tls_modid == 0 || crate::dispatch::text::named(info, b"libc.so") {
            return 0;
        }
        let block = (*info).dlpi_tls_data as usize;
        let below = sys::thread_pointer().wrapping_sub(block);
        if block == 0 || below > NEAR || segments.count == MOST {
            segments.dynamic = true;
            return 0;
        }
        for i in 0..(*info).dlpi_phnum as usize {
            let header = &*(*info).dlpi_phdr.add(i);
            if header.p_type == libc::PT_TLS {
                segments.list[segments.count] = Segment {
                    below,
                    image: ((*info).dlpi_addr as usize + header.p_vaddr as usize) as *const u8,
                    initialised: header.p_filesz as usize,
                    zeroed: (header.p_memsz - header.p_filesz) as usize,
                };
                segments.count += 1;
            }
        }
        0
    }
}

/// Puts the blocks of a parked thread back to their initial image.
///
/// # Safety
/// The thread does not run, and has the blocks that were surveyed.
pub unsafe fn reset(fs: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let segments = &state().segments;
        for segment in &segments.list[..segments.count] {
            let block = (fs - segment.below) as *mut u8;
            core::ptr::copy_nonoverlapping(segment.image, block, segment.initialised);
            core::ptr::write_bytes(block.add(segment.initialised), 0, segment.zeroed);
        }
        ((fs - segments.errno_below) as *mut c_int).write(0);
    }
}
