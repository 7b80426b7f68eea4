//! Memory mappings: no schedule points, and nothing that the model knows. They are here because Rust's
//! threads map and unmap a signal stack each, and a trapped system call costs fifty times a direct one.
//!
//! Allocators call these before anything can be looked up, so the system call is made at once.

use core::ffi::{c_int, c_void};

use super::result;
use crate::os::sys;
use crate::syscall;

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the program's own system call.
    unsafe { result(syscall!(sys::SYS_mmap, address, size, protection, flags, fd, offset)) as *mut c_void }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    size: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the program's own system call.
    unsafe { mmap(address, size, protection, flags, fd, offset) }
}

#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, size: usize) -> c_int {
    // SAFETY: the program's own system call.
    unsafe { result(syscall!(libc::SYS_munmap, address, size)) as c_int }
}

/// Changes what may be done with memory.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn mprotect(address: *mut c_void, size: usize, protection: c_int) -> c_int {
    // SAFETY: the program's own system call.
    unsafe { result(syscall!(libc::SYS_mprotect, address, size, protection)) as c_int }
}
