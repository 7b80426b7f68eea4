//! Finds the block of shared memory and maps it.
//!
//! ld.so and the sanitizers may call us before libc's `environ` exists, so the block's descriptor is looked up in
//! /proc/self/environ.

use core::fmt::{self, Display, Write};
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering};

use raddle_protocol::block::{ADDRESS, FD_VARIABLE, LAYOUT, MAGIC};
use raddle_protocol::Block;

use crate::control;
use crate::os::output::Output;
use crate::os::sys;
use crate::syscall;

static ATTACHED: AtomicBool = AtomicBool::new(false);

/// Finds the block and maps it, once. Calls nothing of libc, because an allocator may ask us about
/// the machine while it sets itself up.
pub fn attach() {
    if ATTACHED.swap(true, Ordering::Relaxed) {
        return;
    }
    let Some(fd) = descriptor_from_environment() else {
        return control::pass_through();
    };
    match map_block(fd) {
        Ok(block) => {
            control::set_block(block);
            control::reserve();
        }
        Err(error) => {
            let mut output = Output::to(2);
            // If standard error is closed, there is nowhere left to report that.
            let _ = writeln!(output, "raddle: {error}").and_then(|()| output.flush());
            control::pass_through();
        }
    }
}

/// Reads the environment as the kernel keeps it.
fn descriptor_from_environment() -> Option<i32> {
    let mut buffer = [0u8; 4096];
    let mut matched = 0;
    let mut number: Option<i32> = None;
    let key = block_key();
    // SAFETY: a path ended by zero, and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/environ".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return None;
        }
        'read: loop {
            let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr(), buffer.len());
            if n <= 0 {
                break;
            }
            for &byte in &buffer[..n as usize] {
                match number {
                    Some(value) if byte.is_ascii_digit() => number = Some(value * 10 + i32::from(byte - b'0')),
                    Some(_) => break 'read,
                    // usize::MAX: this variable is another one; wait for its end.
                    None if byte == 0 => matched = 0,
                    None if matched < key.len() && byte == key[matched] => {
                        matched += 1;
                        if matched == key.len() {
                            number = Some(0);
                        }
                    }
                    None => matched = usize::MAX,
                }
            }
        }
        syscall!(libc::SYS_close, fd);
    }
    number
}

fn block_key() -> &'static [u8] {
    debug_assert_eq!(FD_VARIABLE, "RADDLE_BLOCK");
    b"RADDLE_BLOCK="
}

/// Why the block cannot be used.
#[derive(Debug, PartialEq)]
enum AttachError {
    /// The descriptor is not that of a block.
    NoBlock { fd: i32 },
    /// The block is that of a raddle built from other sources.
    OtherLayout { layout: u64 },
    /// The kernel did not map it where it belongs.
    NotMapped { error: isize },
}

impl Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::NoBlock { fd } => write!(
                f,
                "descriptor {fd}, which {FD_VARIABLE} names, is not a block of shared memory from raddle, so the \
                 program runs without control; unset {FD_VARIABLE}, or start the program with `raddle test`"
            ),
            AttachError::OtherLayout { layout } => write!(
                f,
                "the block of shared memory has layout {layout:016x}, but this runtime library (version {}) expects \
                 {LAYOUT:016x}, so the program runs without control; rebuild the library from the sources of this \
                 raddle, or leave out --runtime and RADDLE_RUNTIME",
                env!("CARGO_PKG_VERSION")
            ),
            AttachError::NotMapped { error } => write!(
                f,
                "the block of shared memory cannot be mapped at {ADDRESS:#x} (error {error}), so the program runs \
                 without control; that address must be free, and the limit of address space (ulimit -v) high enough"
            ),
        }
    }
}

const _: () = assert!(offset_of!(Block, magic) == 0 && offset_of!(Block, layout) == 8);

/// Looks at the first words of a block, which every build of raddle has in the same place, and at its size.
fn verify_header(fd: i32, header: &[u64; 2], size: usize) -> Result<(), AttachError> {
    match *header {
        [MAGIC, LAYOUT] if size >= Block::LOG_OFFSET => Ok(()),
        [MAGIC, layout] if layout != LAYOUT => Err(AttachError::OtherLayout { layout }),
        _ => Err(AttachError::NoBlock { fd }),
    }
}

fn map_block(fd: i32) -> Result<*mut Block, AttachError> {
    // SAFETY: the kernel fills the structure and the header, which may hold any numbers. MAP_FIXED_NOREPLACE replaces
    // nothing; the file's size is checked against its contents.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        let mut header = [0u64; 2];
        syscall!(libc::SYS_fstat, fd, &mut stat as *mut _);
        syscall!(libc::SYS_pread64, fd, header.as_mut_ptr(), size_of_val(&header), 0);
        verify_header(fd, &header, stat.st_size as usize)?;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let at = syscall!(sys::SYS_mmap, ADDRESS, stat.st_size, protection, flags, fd, 0);
        // The program sees its own descriptors only.
        syscall!(libc::SYS_close, fd);
        match at as usize {
            ADDRESS => Ok(ADDRESS as *mut Block),
            _ => Err(AttachError::NotMapped { error: -at }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_another_build_is_told_from_what_is_no_block() {
        assert_eq!(verify_header(7, &[MAGIC, LAYOUT], Block::LOG_OFFSET), Ok(()));
        assert_eq!(verify_header(7, &[MAGIC, LAYOUT], Block::LOG_OFFSET - 1), Err(AttachError::NoBlock { fd: 7 }));
        // The block of another build may be smaller than ours.
        assert_eq!(verify_header(7, &[MAGIC, 0x1234], 4096), Err(AttachError::OtherLayout { layout: 0x1234 }));
        assert_eq!(verify_header(7, &[0, LAYOUT], Block::LOG_OFFSET), Err(AttachError::NoBlock { fd: 7 }));
    }

    #[test]
    fn messages_say_what_to_do() {
        let text = AttachError::OtherLayout { layout: 0x1234 }.to_string();
        assert!(text.contains("has layout 0000000000001234, but"), "{text}");
        assert!(text.contains(&format!("expects {LAYOUT:016x}")), "{text}");
        assert!(text.contains("rebuild the library from the sources of this raddle"), "{text}");
        let text = AttachError::NoBlock { fd: 7 }.to_string();
        assert!(text.starts_with("descriptor 7, which RADDLE_BLOCK names, is not a block"), "{text}");
    }
}
