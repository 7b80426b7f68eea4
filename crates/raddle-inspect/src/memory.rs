//! Reading the memory of another process.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

const PAGE: u64 = 4096;

/// The memory of a process that holds still.
///
/// Stacks are read word by word, so pages are kept: one system call a page instead of one a word.
pub(super) struct Memory {
    pid: i32,
    pages: HashMap<u64, Option<Box<[u8]>>>,
}

impl Memory {
    pub(super) fn of(pid: i32) -> Self {
        Memory { pid, pages: HashMap::new() }
    }

    /// The 64-bit word at an address, or `None` where nothing can be read.
    pub(super) fn word(&mut self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.copy(address, &mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Fills a small buffer from the kept pages.
    pub(super) fn copy(&mut self, address: u64, buffer: &mut [u8]) -> Option<()> {
        let mut at = address;
        let mut rest = buffer;
        while !rest.is_empty() {
            let inside = (at % PAGE) as usize;
            let count = rest.len().min(PAGE as usize - inside);
            let page = self.page(at - at % PAGE)?;
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&page[inside..inside + count]);
            rest = later;
            at = at.checked_add(count as u64)?;
        }
        Some(())
    }

    /// A large range, read at once and not kept.
    pub(super) fn bytes(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        read(self.pid, address, &mut bytes).then_some(bytes)
    }

    fn page(&mut self, start: u64) -> Option<&[u8]> {
        let pid = self.pid;
        let page = self.pages.entry(start).or_insert_with(|| {
            let mut page = vec![0; PAGE as usize].into_boxed_slice();
            read(pid, start, &mut page).then_some(page)
        });
        page.as_deref()
    }
}

fn read(pid: i32, address: u64, buffer: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the local vector describes the buffer; the remote one is only checked by the kernel.
    let count = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    count == buffer.len() as isize || read_through_proc(pid, address, buffer)
}

/// Some sandboxes allow ptrace but not `process_vm_readv`.
fn read_through_proc(pid: i32, address: u64, buffer: &mut [u8]) -> bool {
    File::open(format!("/proc/{pid}/mem")).is_ok_and(|file| file.read_exact_at(buffer, address).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Memory {
        Memory::of(std::process::id() as i32)
    }

    #[test]
    fn across_pages() {
        let data: Vec<u8> = (0..3 * PAGE).map(|at| (at % 251) as u8).collect();
        let start = data.as_ptr() as u64;
        let edge = (start / PAGE + 1) * PAGE - 3;
        let mut copy = [0; 16];
        own().copy(edge, &mut copy).unwrap();
        let at = (edge - start) as usize;
        assert_eq!(copy[..], data[at..at + 16]);
        assert_eq!(own().bytes(start, 3 * PAGE).unwrap(), data);
        assert!(read_through_proc(std::process::id() as i32, edge, &mut copy));
        assert_eq!(copy[..], data[at..at + 16]);
    }

    #[test]
    fn unmapped_memory_is_none() {
        assert_eq!(own().word(8), None);
        assert_eq!(own().word(u64::MAX - 2), None);
        assert_eq!(own().bytes(0, 16), None);
    }
}
