//! The memory that a program has written: found by asking the kernel, compared page by page.
//!
//! Every page of a private mapping that is not a file's is one that the process has written to at some time, or one of
//! zeros; /proc/self/pagemap tells them from the others. (Soft-dirty bits would name fewer, but many kernels are built
//! without them.) A mapping that processes can share is looked at too when it has no file:
//! then only this process and its children have it. Pages are read through /proc/self/mem, which also reads what the
//! program itself may not.
//!
//! Remembered are 128 bits for each page. Comparing costs little as long as the states differ: a page that differed
//! before is looked at first, and mostly differs again.

use core::ops::Range;

use super::hash::Hash;
use crate::dispatch::text;
use crate::os::memory::{self, Mapping};
use crate::os::sys;
use crate::syscall;

const PAGE: usize = 4096;
const WORDS: usize = PAGE / 8;
/// Pages that are read at once.
const AT_ONCE: usize = 16;
/// Entries of the page map that are read at once.
const ENTRIES: usize = 4096;
/// The most pages with content: four gigabytes.
const MOST: usize = 1 << 20;
/// The most pages that may have content: what a sanitizer reserves would take minutes to look through.
const MOST_TO_LOOK_AT: usize = 1 << 24;
/// Pages that are looked at first.
const WITNESSES: usize = 8;

/// A page with content.
#[derive(Clone, Copy)]
struct Page {
    address: usize,
    hash: Hash,
}

/// What is remembered of the program's memory. Valid when zeroed; large, and touched as far as it is used.
pub struct Pages {
    count: usize,
    /// The mappings, by where they lie and what may be done to them.
    mappings: Hash,
    /// The places of pages that differed lately, plus one.
    witnesses: [usize; WITNESSES],
    /// Where the next witness goes.
    turn: usize,
    entries: [u64; ENTRIES],
    buffer: [u64; AT_ONCE * WORDS],
    pages: [Page; MOST],
}

/// Why memory cannot be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unknown {
    /// Other processes may change it.
    Shared,
    /// There is too much of it.
    TooLarge,
    /// The kernel does not show it.
    Hidden,
    /// Something else was found than what was looked for: reason enough to stop.
    Differs,
}

impl Pages {
    /// Remembers the memory as it is now. Returns whether that was possible.
    pub fn remember(&mut self) -> bool {
        let kept = self.witnesses.map(|place| self.address_of(place));
        self.count = 0;
        let Some(files) = Files::open() else { return false };
        let found = self.scan(&files, &[], &mut |pages, page| {
            let Some(place) = pages.pages.get_mut(pages.count) else { return Err(Unknown::TooLarge) };
            *place = page;
            pages.count += 1;
            Ok(())
        });
        let Ok(mappings) = found else { return false };
        self.mappings = mappings;
        self.witnesses = kept.map(|address| self.place_of(address));
        true
    }

    /// Whether the memory is what was remembered.
    pub fn recurs(&mut self) -> bool {
        if self.a_witness_differs() {
            return false;
        }
        let Some(files) = Files::open() else { return false };
        let mut at = 0;
        let found = self.scan(&files, &[], &mut |pages, page| {
            let same = at < pages.count && pages.pages[at].address == page.address;
            if same && pages.pages[at].hash == page.hash {
                at += 1;
                return Ok(());
            }
            // A page that has become empty is missing here, and the next one stands in its place.
            if at < pages.count && pages.pages[at].address <= page.address {
                pages.witnesses[pages.turn % WITNESSES] = at + 1;
                pages.turn += 1;
            }
            Err(Unknown::Differs)
        });
        found == Ok(self.mappings) && at == self.count
    }

    /// A hash of the memory as it is now without the mappings in which these addresses lie, and the number of pages that
    /// this took; `None`: it cannot be compared. What is remembered stays so.
    pub fn digest(&mut self, without: &[usize]) -> Option<(Hash, u64)> {
        let files = Files::open()?;
        let (mut hash, mut count) = (Hash::EMPTY, 0);
        let mappings = self.scan(&files, without, &mut |_, page| {
            hash.word(page.address as u64);
            hash.add(page.hash);
            count += 1;
            Ok(())
        });
        hash.add(mappings.ok()?);
        Some((hash, count))
    }

    fn address_of(&self, place: usize) -> usize {
        if place == 0 {
            0
        } else {
            self.pages[place - 1].address
        }
    }

    /// The place of a page, plus one; 0: it has no content.
    fn place_of(&self, address: usize) -> usize {
        let found = self.pages[..self.count].binary_search_by_key(&address, |page| page.address);
        found.map_or(0, |at| at + 1)
    }

    fn a_witness_differs(&mut self) -> bool {
        if self.witnesses == [0; WITNESSES] {
            return false;
        }
        let Some(memory) = File::open(c"/proc/self/mem") else { return true };
        let witnesses = self.witnesses;
        witnesses.iter().filter(|&&place| place != 0).any(|&place| {
            let Page { address, hash } = self.pages[place - 1];
            !memory.read_at(address, &mut self.buffer[..WORDS]) || Hash::of(&self.buffer[..WORDS]) != Some(hash)
        })
    }

    /// Calls `visit` with each page that has content, in the order of addresses, but for those of the mappings in which
    /// some addresses lie. Returns a hash of the mappings.
    fn scan(
        &mut self,
        files: &Files,
        without: &[usize],
        visit: &mut dyn FnMut(&mut Pages, Page) -> Result<(), Unknown>,
    ) -> Result<Hash, Unknown> {
        let mut hash = Hash::EMPTY;
        let mut result = Ok(());
        let mut left = MOST_TO_LOOK_AT;
        let listed = memory::each_mapping(&mut |line| {
            let Some(mapping) = Mapping::parse(line) else { return true };
            if is_ours(&mapping.range) || mapping.is_kernels() {
                return true;
            }
            hash.word(mapping.range.start as u64);
            hash.word(mapping.range.end as u64);
            hash.word(mapping.permissions.into());
            result = match (mapping.is_shared(), mapping.has_file()) {
                (true, true) => Err(Unknown::Shared),
                _ if without.iter().any(|address| mapping.range.contains(address)) => Ok(()),
                _ => self.scan_mapping(files, &mapping, &mut left, visit),
            };
            result.is_ok()
        });
        match listed {
            true => result.map(|()| hash),
            false => Err(Unknown::Hidden),
        }
    }

    fn scan_mapping(
        &mut self,
        files: &Files,
        mapping: &Mapping,
        left: &mut usize,
        visit: &mut dyn FnMut(&mut Pages, Page) -> Result<(), Unknown>,
    ) -> Result<(), Unknown> {
        let (mut page, end) = (mapping.range.start / PAGE, mapping.range.end / PAGE);
        *left = left.checked_sub(end - page).ok_or(Unknown::TooLarge)?;
        while page < end {
            let count = (end - page).min(ENTRIES);
            if !files.map.read_at(page * 8, &mut self.entries[..count]) {
                return Err(Unknown::Hidden);
            }
            let mut at = 0;
            while at < count {
                let own = |entry: &u64| is_own_page(*entry, mapping.is_shared());
                let run = self.entries[at..count].iter().take(AT_ONCE).take_while(|entry| own(entry)).count();
                self.read_pages(files, (page + at) * PAGE, run, visit)?;
                at += run.max(1);
            }
            page += count;
        }
        Ok(())
    }

    fn read_pages(
        &mut self,
        files: &Files,
        address: usize,
        count: usize,
        visit: &mut dyn FnMut(&mut Pages, Page) -> Result<(), Unknown>,
    ) -> Result<(), Unknown> {
        if count > 0 && !files.memory.read_at(address, &mut self.buffer[..count * WORDS]) {
            return Err(Unknown::Hidden);
        }
        for i in 0..count {
            if let Some(hash) = Hash::of(&self.buffer[i * WORDS..(i + 1) * WORDS]) {
                visit(self, Page { address: address + i * PAGE, hash })?;
            }
        }
        Ok(())
    }
}

/// Whether an entry of the page map is that of a page that only this process has: see the kernel's pagemap(5).
fn is_own_page(entry: u64, shared: bool) -> bool {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_A_FILE: u64 = 1 << 61;
    entry & (PRESENT | SWAPPED) != 0 && (shared || entry & OF_A_FILE == 0)
}

/// Whether memory is the runtime's own.
fn is_ours(range: &Range<usize>) -> bool {
    memory::RUNTIME.contains(&range.start) || text::own_memory().contains(&range.start)
}

/// How the kernel shows the memory of this process.
struct Files {
    map: File,
    memory: File,
}

impl Files {
    fn open() -> Option<Files> {
        Some(Files { map: File::open(c"/proc/self/pagemap")?, memory: File::open(c"/proc/self/mem")? })
    }
}

/// A file of the kernel's. Open only while the program stands still, so that the numbers of its own descriptors stay what
/// they are.
struct File(i32);

impl File {
    fn open(path: &core::ffi::CStr) -> Option<File> {
        // SAFETY: a path ended by zero.
        let file = unsafe { syscall!(sys::SYS_open, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        (file >= 0).then_some(File(file as i32))
    }

    /// Fills all words, or says that it cannot.
    fn read_at(&self, offset: usize, words: &mut [u64]) -> bool {
        let bytes = size_of_val(words);
        // SAFETY: a buffer of the length given.
        unsafe { syscall!(libc::SYS_pread64, self.0, words.as_mut_ptr(), bytes, offset) == bytes as isize }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        sys::close(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recurrence::State;

    struct Own(Box<Pages>);

    impl State for Own {
        fn remember(&mut self) -> bool {
            self.0.remember()
        }

        fn recurs(&mut self) -> bool {
            self.0.recurs()
        }
    }

    /// Memory of a child that does nothing else, in which a test can compare it.
    fn in_child(body: impl FnOnce(&mut Own) -> bool) -> bool {
        let pages = sys::map_at(memory::RUNTIME.start + (7 << 30), size_of::<Pages>()).cast::<Pages>();
        // SAFETY: the child only uses memory of its own and ends by itself.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                // SAFETY: mapped, zeroed, and never freed.
                let mut own = Own(Box::from_raw(pages));
                let good = body(&mut own);
                core::mem::forget(own);
                libc::_exit(i32::from(!good));
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            libc::munmap(pages.cast(), size_of::<Pages>());
            status == 0
        }
    }

    fn mapped(flags: i32) -> *mut u64 {
        let flags = flags | libc::MAP_ANONYMOUS;
        // SAFETY: new memory.
        unsafe { libc::mmap(core::ptr::null_mut(), 1 << 20, 3, flags, -1, 0).cast() }
    }

    #[test]
    fn a_word_that_changes_is_seen_and_one_that_changes_back_is_not() {
        for flags in [libc::MAP_PRIVATE, libc::MAP_SHARED] {
            let word = mapped(flags).wrapping_add(512 * 7 + 3);
            // The stack of this function changes between two looks, so that only the verdict on the word counts.
            let good = in_child(|own| {
                let mut answers = [false; 4];
                for (i, value) in [1u64, 2, 1, 0].into_iter().enumerate() {
                    // SAFETY: inside the mapping.
                    unsafe { word.write_volatile(value) };
                    answers[i] = if i == 0 { own.remember() } else { own.recurs() };
                }
                // The first differs for its word, and the witness is then looked at first.
                answers[0] && !answers[1] && !answers[3]
            });
            assert!(good);
        }
    }
}
