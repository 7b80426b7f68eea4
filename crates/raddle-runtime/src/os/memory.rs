//! What kind of memory an address is in.

use core::ffi::CStr;
use core::ops::Range;

use crate::os::sys;
use crate::syscall;

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

/// Where the runtime puts memory of its own, and nothing else is.
pub const RUNTIME: Range<usize> = 0x2000_0000_0000..0x2100_0000_0000;

/// A mapping of this process.
pub struct Mapping<'a> {
    pub range: Range<usize>,
    /// `rwxp`, or a dash for what is missing, and `s` for one that is shared: as a number.
    pub permissions: u32,
    path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// What a line of /proc/self/maps says.
    pub fn parse(line: &'a [u8]) -> Option<Mapping<'a>> {
        let (range, rest) = range(line)?;
        let permissions = u32::from_le_bytes(rest.as_bytes().get(..4)?.try_into().ok()?);
        // Behind the permissions, the offset, the device and the inode.
        let mut fields = line.splitn(6, |&byte| byte == b' ');
        let path = fields.nth(5).unwrap_or(b"").trim_ascii();
        Some(Mapping { range, permissions, path })
    }

    /// Whether processes can share it.
    pub fn is_shared(&self) -> bool {
        self.permissions >> 24 == u32::from(b's')
    }

    /// Whether a file is behind it, which other processes may open.
    pub fn has_file(&self) -> bool {
        // What is mapped without a file and shared has one of the kernel's that nothing else can open.
        !self.path.is_empty() && !self.path.starts_with(b"[") && self.path != b"/dev/zero (deleted)"
    }

    /// Whether the kernel writes it: clocks, and what reads them.
    pub fn is_kernels(&self) -> bool {
        self.path.starts_with(b"[v")
    }
}

/// Calls `visit` with each line of /proc/self/maps, until it returns false. Returns whether there were any.
pub fn each_mapping(visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    each_line(c"/proc/self/maps", visit)
}

/// Calls `visit` with each line of a file, until it returns false. Returns whether there is anything to read.
pub fn each_line(path: &CStr, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let mut buffer = [0u8; 4096];
    let mut held = 0;
    let mut any = false;
    // SAFETY: a path ended by zero and a buffer of the length given.
    unsafe {
        let fd = syscall!(sys::SYS_open, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        'read: loop {
            let n = syscall!(libc::SYS_read, fd, buffer.as_mut_ptr().add(held), buffer.len() - held);
            if n <= 0 {
                break;
            }
            any = true;
            held += n as usize;
            let mut from = 0;
            while let Some(length) = buffer[from..held].iter().position(|&byte| byte == b'\n') {
                if !visit(&buffer[from..from + length]) {
                    break 'read;
                }
                from += length + 1;
            }
            // A line that does not fit has a path that is not ours.
            if from == 0 && held == buffer.len() {
                from = held;
            }
            buffer.copy_within(from..held, 0);
            held -= from;
        }
        syscall!(libc::SYS_close, fd);
    }
    any
}

/// The heap that grows by brk, as it is now.
pub fn heap() -> Range<usize> {
    let end = heap_end();
    let mut start = end;
    each_mapping(&mut |line| {
        let heap = line.ends_with(b"[heap]");
        if heap {
            start = range(line).map_or(end, |(range, _)| range.start);
        }
        !heap
    });
    start..end
}

/// Where it ends now.
pub fn heap_end() -> usize {
    // SAFETY: asks only.
    unsafe { syscall!(libc::SYS_brk, 0) as usize }
}

/// The stack of a thread that libc has made, from above its guard to the end of the thread's control block: libc's
/// fields are searched for a block that has both on it, followed by its size and that of its guard. Asking for it
/// (pthread_getattr_np) would allocate. `None` when it is not found, and for the main thread.
///
/// # Safety
/// `fs` is the thread pointer of a thread that libc has made, and `inside` an address on its stack.
pub unsafe fn stack_of(fs: usize, inside: usize) -> Option<Range<usize>> {
    /// Where to look in `struct pthread`, and how much of it there is at least.
    const WORDS: Range<usize> = 0x400 / 8..0x700 / 8 - 2;
    /// The control block, and what alignment costs.
    const CONTROL_BLOCK: Range<usize> = 0x700..0x10000;
    for i in WORDS {
        // SAFETY: inside glibc's `struct pthread`.
        let [block, size, guard] = unsafe { *((fs + 8 * i) as *const [usize; 3]) };
        let above = block.wrapping_add(size).wrapping_sub(fs);
        if block <= inside && inside < fs && CONTROL_BLOCK.contains(&above) && guard < size && guard % 4096 == 0 {
            return Some(block + guard..block + size);
        }
    }
    None
}

/// Whether the mapping that a line of /proc/self/maps describes is shared, if it has the address.
fn mapping(line: &[u8], address: usize) -> Option<bool> {
    let (range, rest) = range(line)?;
    range.contains(&address).then(|| rest.as_bytes().get(3) == Some(&b's'))
}

/// The range of a line of /proc/self/maps, and what follows it, as far as the permissions.
fn range(line: &[u8]) -> Option<(Range<usize>, &str)> {
    // Behind the permissions may be a path in any encoding.
    let line = core::str::from_utf8(&line[..line.len().min(40)]).ok()?;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    Some((start..end, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_told_apart() {
        let of = |line: &'static [u8]| Mapping::parse(line).expect("a mapping");
        let heap = of(b"5000-7000 rw-p 00000000 00:00 0                          [heap]");
        assert_eq!((heap.range.clone(), heap.is_shared(), heap.has_file()), (0x5000..0x7000, false, false));
        let own = of(b"5000-7000 rw-s 00000000 00:01 77                         /dev/zero (deleted)");
        assert_eq!((own.is_shared(), own.has_file()), (true, false));
        let file = of(b"5000-7000 rw-s 00000000 00:01 77 /tmp/a b");
        assert_eq!((file.is_shared(), file.has_file()), (true, true));
        assert!(of(b"7000-8000 r--p 00000000 00:00 0    [vvar]").is_kernels() && !heap.is_kernels());
        assert!(!of(b"7000-8000 rw-p 00000000 00:00 0 ").has_file());
    }

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
