//! What kind of memory an address is in.

use crate::{sys, syscall};

/// Whether an address lies in a mapping that is shared between processes.
#[cold]
pub fn is_shared(address: usize) -> bool {
    let mut shared = false;
    each_mapping(&mut |line| match mapping(line, address) {
        Some(is_shared) => {
            shared = is_shared;
            false
        }
        None => true,
    });
    shared
}

/// Calls `visit` with each line of /proc/self/maps, until it says that it has enough.
pub fn each_mapping(visit: &mut dyn FnMut(&[u8]) -> bool) {
    let mut buffer = [0u8; 4096];
    let mut held = 0;
    // SAFETY: a path ended by zero and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return;
        }
        'read: loop {
            let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr().add(held), buffer.len() - held);
            if n <= 0 {
                break;
            }
            held += n as usize;
            let mut from = 0;
            while let Some(length) = buffer[from..held].iter().position(|&byte| byte == b'\n') {
                if !visit(&buffer[from..from + length]) {
                    break 'read;
                }
                from += length + 1;
            }
            // A line that does not fit is no path of ours.
            if from == 0 && held == buffer.len() {
                from = held;
            }
            buffer.copy_within(from..held, 0);
            held -= from;
        }
        syscall!(libc::SYS_close, fd);
    }
}

/// Whether the mapping that a line of /proc/self/maps describes is shared, if it has the address.
fn mapping(line: &[u8], address: usize) -> Option<bool> {
    // The range and the permissions; behind them may be a path in any encoding.
    let line = core::str::from_utf8(&line[..line.len().min(40)]).ok()?;
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
