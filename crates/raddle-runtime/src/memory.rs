//! What kind of memory an address is in.

use crate::{sys, syscall};

/// Whether an address lies in a mapping that is shared between processes.
#[cold]
pub fn is_shared(address: usize) -> bool {
    let mut buffer = [0u8; 4096];
    let (mut line, mut length) = ([0u8; 64], 0);
    let mut shared = false;
    // SAFETY: a path ended by zero and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        'read: loop {
            let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr(), buffer.len());
            if n <= 0 {
                break;
            }
            for &byte in &buffer[..n as usize] {
                if byte != b'\n' {
                    // The start of a line holds the range and the permissions; the rest is cut.
                    if length < line.len() {
                        line[length] = byte;
                    }
                    length += 1;
                    continue;
                }
                if let Some(is_shared) = mapping(&line[..length.min(line.len())], address) {
                    shared = is_shared;
                    break 'read;
                }
                length = 0;
            }
        }
        syscall!(libc::SYS_close, fd);
    }
    shared
}

/// Whether the mapping that a line of /proc/self/maps describes is shared, if it has the address.
fn mapping(line: &[u8], address: usize) -> Option<bool> {
    let line = core::str::from_utf8(line).ok()?;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    (start..end).contains(&address).then(|| rest.as_bytes().get(3) == Some(&b's'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_mapping_of_an_address() {
        let line = b"7f00-8f00 rw-s 00000000 00:01 1 /memfd";
        assert_eq!(mapping(line, 0x7f80), Some(true));
        assert_eq!(mapping(line, 0x8f00), None);
        assert_eq!(mapping(b"7f00-8f00 rw-p 0", 0x7f00), Some(false));
        let local = 0;
        assert!(!is_shared(&local as *const i32 as usize));
    }
}
