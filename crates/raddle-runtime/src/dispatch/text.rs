//! Where the texts of this library, of the program, of libc and of the dynamic loader lie.

use core::ffi::{c_int, c_void, CStr};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::signals::action::restorer;

static TEXT_START: AtomicUsize = AtomicUsize::new(0);
static TEXT_LENGTH: AtomicUsize = AtomicUsize::new(0);
/// Where all of this library lies.
static OWN_START: AtomicUsize = AtomicUsize::new(0);
static OWN_END: AtomicUsize = AtomicUsize::new(0);
/// Where the program was loaded; 0 for one that is not relocated.
static PROGRAM_BASE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The text of the program.
static PROGRAM_START: AtomicUsize = AtomicUsize::new(0);
static PROGRAM_LENGTH: AtomicUsize = AtomicUsize::new(0);
/// The text of the dynamic loader.
static LOADER_START: AtomicUsize = AtomicUsize::new(0);
static LOADER_LENGTH: AtomicUsize = AtomicUsize::new(0);
/// The text of the C library.
static LIBC_START: AtomicUsize = AtomicUsize::new(0);
static LIBC_LENGTH: AtomicUsize = AtomicUsize::new(0);

extern "C" {
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// Finds all of them.
pub(super) fn find() {
    // SAFETY: the visitor only writes the words above.
    unsafe { dl_iterate_phdr(find_text, core::ptr::null_mut()) };
}

/// Where this library's text starts, and how long it is; 0 before it is known.
pub(super) fn own() -> (usize, usize) {
    (TEXT_START.load(Ordering::Relaxed), TEXT_LENGTH.load(Ordering::Relaxed))
}

unsafe extern "C" fn find_text(info: *mut libc::dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
    let here = restorer();
    // SAFETY: libc gives valid program headers.
    unsafe {
        // The program comes first.
        let base = (*info).dlpi_addr as usize;
        let _ = PROGRAM_BASE.compare_exchange(usize::MAX, base, Ordering::Relaxed, Ordering::Relaxed);
        for i in 0..(*info).dlpi_phnum as usize {
            let header = &*(*info).dlpi_phdr.add(i);
            let start = (*info).dlpi_addr as usize + header.p_vaddr as usize;
            let executable = header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0;
            if executable && base == PROGRAM_BASE.load(Ordering::Relaxed) {
                PROGRAM_START.store(start, Ordering::Relaxed);
                PROGRAM_LENGTH.store(header.p_memsz as usize, Ordering::Relaxed);
            } else if executable && (start..start + header.p_memsz as usize).contains(&here) {
                TEXT_START.store(start, Ordering::Relaxed);
                TEXT_LENGTH.store(header.p_memsz as usize, Ordering::Relaxed);
                note_own_memory(info);
            } else if executable && named(info, b"libc.so") {
                LIBC_START.store(start, Ordering::Relaxed);
                LIBC_LENGTH.store(header.p_memsz as usize, Ordering::Relaxed);
            } else if executable && named(info, b"ld-linux") {
                LOADER_START.store(start, Ordering::Relaxed);
                LOADER_LENGTH.store(header.p_memsz as usize, Ordering::Relaxed);
            }
        }
    }
    0
}

/// This library's object.
unsafe fn note_own_memory(info: *mut libc::dl_phdr_info) {
    // SAFETY: libc gives valid program headers.
    let headers = unsafe { core::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize) };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    // SAFETY: as above.
    let base = unsafe { (*info).dlpi_addr } as usize;
    let (start, end) = loaded.fold((usize::MAX, 0), |(start, end), header| {
        let first = base + header.p_vaddr as usize;
        (start.min(first), end.max(first + header.p_memsz as usize))
    });
    OWN_START.store(start / 4096 * 4096, Ordering::Relaxed);
    OWN_END.store(end.next_multiple_of(4096), Ordering::Relaxed);
}

/// Where all of this library lies: its text and its data.
pub fn own_memory() -> core::ops::Range<usize> {
    OWN_START.load(Ordering::Relaxed)..OWN_END.load(Ordering::Relaxed)
}

/// Whether an object's path contains a name.
pub unsafe fn named(info: *mut libc::dl_phdr_info, name: &[u8]) -> bool {
    // SAFETY: libc gives a path ended by a zero, or null.
    unsafe {
        let path = (*info).dlpi_name;
        !path.is_null() && CStr::from_ptr(path).to_bytes().windows(name.len()).any(|w| w == name)
    }
}

/// Whether an address lies in the C library's text: its own locks guard nothing that the program
/// could observe.
pub(super) fn libc_contains(address: usize) -> bool {
    address.wrapping_sub(LIBC_START.load(Ordering::Relaxed)) < LIBC_LENGTH.load(Ordering::Relaxed)
}

/// Whether an address lies in the dynamic loader's text. It makes its system calls under locks that
/// the real pthread_create needs, so they are not schedule points.
pub(super) fn loader_contains(address: usize) -> bool {
    address.wrapping_sub(LOADER_START.load(Ordering::Relaxed)) < LOADER_LENGTH.load(Ordering::Relaxed)
}

/// Whether an address lies in this library's text.
pub fn own_contains(address: usize) -> bool {
    address.wrapping_sub(TEXT_START.load(Ordering::Relaxed)) < TEXT_LENGTH.load(Ordering::Relaxed)
}

/// Whether an address lies in the program's text, as opposed to that of a library.
pub fn program_contains(address: usize) -> bool {
    address.wrapping_sub(PROGRAM_START.load(Ordering::Relaxed)) < PROGRAM_LENGTH.load(Ordering::Relaxed)
}

/// Where the program itself was loaded.
pub fn program_base() -> usize {
    PROGRAM_BASE.load(Ordering::Relaxed)
}
