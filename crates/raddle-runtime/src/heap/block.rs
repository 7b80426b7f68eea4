//! A block of glibc's allocator, as its layout shows it: how large it is, and what is written into it when it is freed.
//!
//! A freed block has a mark in its third word, which depends on its address and on the run. glibc writes its own
//! links into the first two words of most freed blocks, and the smallest block has three. A block that is held back
//! is also filled with words that are no addresses: a pointer that is read from it faults when it is used. The words
//! have the number of the block, so that the fault tells which block it was.

use core::arch::asm;

use raddle_core::rng::splitmix64;

/// Most bytes of a block that is held back. With it as the uppermost byte, eight of them are no address, be addresses
/// of 48 bits or of 57.
const BYTE: u8 = 0xdd;
/// What a block is filled with, without its number.
const FILL: u64 = u64::from_ne_bytes([BYTE; 8]) & !(MOST_NUMBERS << NUMBER);
/// Where the number is.
const NUMBER: u32 = 32;
/// Numbers that are told apart.
pub const MOST_NUMBERS: u64 = (1 << 24) - 1;
/// The most bytes that are filled.
pub const LONGEST_FILL: usize = 4096;
/// The word of the mark.
const MARK: usize = 2;

/// What glibc keeps before a block: its size with these bits.
const MAPPED: usize = 2;
const BITS: usize = 7;
/// The smallest chunk, and what the sizes are multiples of.
const SMALLEST: usize = 32;
const UNIT: usize = 16;
/// Where addresses of programs end.
const END: usize = 1 << 47;

/// What a pointer that is freed can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A block of an arena, in which so many bytes can be used.
    Block(usize),
    /// A block with a mapping of its own.
    Mapped,
    /// What the allocator has never given.
    Invalid,
}

/// Where a block starts for the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapBlock(pub usize);

impl HeapBlock {
    /// What the pointer is. glibc ends the program for the same reasons.
    ///
    /// # Safety
    /// The caller frees it, so that glibc would look at what lies before it.
    #[inline]
    pub unsafe fn kind(self) -> Kind {
        if !self.0.is_multiple_of(UNIT) || !(UNIT..END).contains(&self.0) {
            return Kind::Invalid;
        }
        // SAFETY: the caller's promise.
        kind(unsafe { (self.0 as *const usize).sub(1).read() })
    }

    fn word(self, index: usize) -> *mut u64 {
        (self.0 as *mut u64).wrapping_add(index)
    }

    /// What a freed block has in its third word in a run with this key.
    #[inline]
    pub fn mark(self, key: u64) -> u64 {
        let mark = splitmix64(&mut (self.0 as u64 ^ key));
        mark >> 8 | u64::from(BYTE) << 56
    }

    /// Whether it is freed.
    ///
    /// # Safety
    /// The block has been given by the allocator.
    #[inline]
    pub unsafe fn is_marked(self, key: u64) -> bool {
        // SAFETY: every block has three words.
        unsafe { self.word(MARK).read() == self.mark(key) }
    }

    /// Marks it as freed.
    ///
    /// # Safety
    /// The program has freed the block, and the allocator does not know.
    #[inline]
    pub unsafe fn set_mark(self, key: u64) {
        // SAFETY: as above.
        unsafe { self.word(MARK).write(self.mark(key)) };
    }

    /// Removes the mark of a block that is given to the program.
    ///
    /// # Safety
    /// As for [`HeapBlock::is_marked`]; the program does not have it yet.
    #[inline]
    pub unsafe fn unmark(self, key: u64) {
        // SAFETY: as above.
        unsafe {
            if self.is_marked(key) {
                self.word(MARK).write(0);
            }
        }
    }

    /// Fills a marked block of so many bytes, which is freed as the one with this number.
    ///
    /// # Safety
    /// As for [`HeapBlock::set_mark`].
    pub unsafe fn fill(self, size: usize, number: u64) {
        let fill = fill(number);
        // SAFETY: inside the block.
        unsafe {
            self.word(0).write(fill);
            self.word(1).write(fill);
            let (from, words) = (self.word(MARK + 1), words(size) - MARK - 1);
            // libc's memset may be interrupted by the tick, which never interrupts the runtime.
            asm!("rep stosq", inout("rcx") words => _, inout("rdi") from => _, in("rax") fill,
                 options(nostack, preserves_flags));
        }
    }

    /// The first byte of a filled block of so many bytes that is no longer what it was.
    ///
    /// # Safety
    /// As for [`HeapBlock::is_marked`].
    pub unsafe fn damage(self, size: usize, number: u64, key: u64) -> Option<usize> {
        let (mark, fill) = (self.mark(key), fill(number));
        // SAFETY: inside the block.
        let word = |index: usize| unsafe { self.word(index).read() } ^ if index == MARK { mark } else { fill };
        let index = (0..words(size)).find(|&index| word(index) != 0)?;
        Some(8 * index + word(index).trailing_zeros() as usize / 8)
    }
}

/// What the word before a block says.
fn kind(header: usize) -> Kind {
    let size = header & !BITS;
    match header & MAPPED != 0 {
        true => Kind::Mapped,
        // The last word of a chunk that is in use belongs to the next one's header.
        false if size >= SMALLEST && size.is_multiple_of(UNIT) && size < END => Kind::Block(size - 8),
        false => Kind::Invalid,
    }
}

/// The words of a block of so many bytes that are filled.
fn words(size: usize) -> usize {
    size.min(LONGEST_FILL) / 8
}

/// What the block with this number is filled with.
fn fill(number: u64) -> u64 {
    FILL | (number & MOST_NUMBERS) << NUMBER
}

/// Whether a value of a register can have been read from a freed block, as a fill or as a mark.
pub fn is_of_freed_memory(value: u64) -> bool {
    (value >> 56) as u8 == BYTE
}

/// The number of the block that is filled with a value, up to multiples of 2^24.
pub fn number_of(value: u64) -> u64 {
    value >> NUMBER & MOST_NUMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block with what lies around it.
    #[repr(C, align(16))]
    struct Memory([u64; 1024]);

    impl Memory {
        fn block(&mut self) -> HeapBlock {
            HeapBlock(self.0.as_mut_ptr().wrapping_add(2) as usize)
        }
    }

    #[test]
    fn headers_are_those_of_glibc() {
        for size in [1, 24, 25, 100, 1000, 100_000] {
            // SAFETY: a block of the allocator, which is freed once.
            unsafe {
                // What lies before a block is none of the compiler's business.
                let memory = core::hint::black_box(libc::malloc(size));
                let usable = libc::malloc_usable_size(memory);
                assert_eq!(HeapBlock(memory as usize).kind(), Kind::Block(usable));
                libc::free(memory);
            }
        }
        // SAFETY: as above.
        unsafe {
            let memory = core::hint::black_box(libc::malloc(64 << 20));
            assert_eq!(HeapBlock(memory as usize).kind(), Kind::Mapped);
            assert_eq!(HeapBlock(memory as usize + 8).kind(), Kind::Invalid);
            libc::free(memory);
            assert_eq!(HeapBlock(FILL as usize & !15).kind(), Kind::Invalid);
            assert_eq!(HeapBlock(0).kind(), Kind::Invalid);
        }
        for header in [0, 1, 16, 24, 0x28, FILL as usize & !MAPPED] {
            assert_eq!(kind(header), Kind::Invalid, "{header:#x}");
        }
        assert_eq!((kind(0x21), kind(0x25), kind(0x1002)), (Kind::Block(24), Kind::Block(24), Kind::Mapped));
    }

    #[test]
    fn a_change_of_any_byte_shows_where_it_is() {
        for size in [24, 40, 104, 4088, 4104, 8000] {
            let mut memory = Memory([1; 1024]);
            let block = memory.block();
            // SAFETY: inside the memory.
            unsafe {
                block.set_mark(7);
                block.fill(size, 77);
                assert_eq!(block.damage(size, 77, 7), None);
                let byte = |at: usize| (block.0 as *mut u8).add(at);
                for at in 0..size.min(LONGEST_FILL) {
                    *byte(at) ^= 0x20;
                    assert_eq!(block.damage(size, 77, 7), Some(at));
                    *byte(at) ^= 0x20;
                }
                assert!((size.min(LONGEST_FILL)..size).all(|at| *byte(at) == [1, 0, 0, 0, 0, 0, 0, 0][at % 8]));
            }
            let filled = words(size);
            assert_eq!(memory.0[..2], [1; 2]);
            assert_eq!(memory.0[2 + filled..], vec![1; 1022 - filled]);
        }
    }

    #[test]
    fn every_word_of_a_freed_block_makes_no_address() {
        let mut memory = Memory([0; 1024]);
        let block = memory.block();
        // SAFETY: inside the memory.
        unsafe {
            block.set_mark(99);
            block.fill(88, 5);
        }
        for word in &memory.0[2..13] {
            // Canonical with 57 bits: the upper ones are alike.
            assert!(is_of_freed_memory(*word) && ![0, 0x7f].contains(&(word >> 57)));
        }
        for word in memory.0[2..4].iter().chain(&memory.0[5..13]) {
            assert_eq!(number_of(word.wrapping_add(8)), 5, "also with an offset");
        }
    }

    #[test]
    fn a_mark_is_of_its_block_and_its_run() {
        let (mut one, mut other) = (Memory([0; 1024]), Memory([0; 1024]));
        let (block, copy) = (one.block(), other.block());
        // SAFETY: inside the memory.
        unsafe {
            assert!(!block.is_marked(1));
            block.set_mark(1);
            assert!(block.is_marked(1) && !block.is_marked(2));
            copy.word(MARK).write(block.word(MARK).read());
            assert!(!copy.is_marked(1));
            block.unmark(2);
            assert!(block.is_marked(1));
            block.unmark(1);
            assert!(!block.is_marked(1) && block.word(MARK).read() == 0);
        }
    }
}
