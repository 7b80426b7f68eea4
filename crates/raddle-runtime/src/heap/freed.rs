//! The blocks that a run has freed, in the order of their numbers: the last ones, by whom and where, and those of them
//! that are held back.

use raddle_core::ThreadId;

use super::block::{HeapBlock, MOST_NUMBERS};

/// The most bytes that are held back.
const MOST_BYTES: usize = 1 << 20;
/// Blocks that can be held back: the smallest takes 32 bytes.
const MOST_BLOCKS: usize = MOST_BYTES / 32;
/// Blocks that a run remembers which holds none back.
const MOST_REMEMBERED: usize = 128;

/// A freed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreedBlock {
    /// Which of the run's calls of `free` freed it, counted from 1.
    pub number: u64,
    pub block: HeapBlock,
    /// Bytes that the program could use.
    pub size: usize,
    pub by: ThreadId,
    /// Where the call returns to.
    pub place: usize,
}

impl FreedBlock {
    /// Bytes with the header.
    fn chunk(&self) -> usize {
        self.size + 8
    }
}

/// Block and thread; place and size. Addresses have 47 bits.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry(u64, u64);

const ADDRESS: u64 = (1 << 47) - 1;
/// In the second word: the block is held back, if it is not older than those that are.
const HELD: u64 = 1 << 47;

impl Entry {
    fn new(freed: FreedBlock, is_held: bool) -> Entry {
        let FreedBlock { block, size, by, place, .. } = freed;
        // Sizes are 8 more than a multiple of 16. What is too large to be held back has the largest.
        let units = (size / 16).min(0xffff) as u64;
        let held = if is_held { HELD } else { 0 };
        Entry(block.0 as u64 & ADDRESS | u64::from(by.0) << 48, place as u64 & ADDRESS | held | units << 48)
    }

    fn is_held(self) -> bool {
        self.1 & HELD != 0
    }

    /// The block with the number that the entry stands for.
    fn read(self, number: u64) -> FreedBlock {
        FreedBlock {
            number: number + 1,
            block: HeapBlock((self.0 & ADDRESS) as usize),
            size: (self.1 >> 48) as usize * 16 + 8,
            by: ThreadId((self.0 >> 48) as u16),
            place: (self.1 & ADDRESS) as usize,
        }
    }
}

/// The freed blocks of a run. Valid when zeroed. Few runs touch more than the first page of the entries.
#[repr(C)]
pub struct Freed {
    /// Whether this run holds blocks back.
    pub holds: bool,
    /// The numbers, from 0, of the oldest block that is held back and of the one that is freed next.
    oldest: u64,
    next: u64,
    /// How many blocks are held back.
    held: u64,
    /// Bytes of the blocks that are held back.
    bytes: usize,
    entry: [Entry; MOST_BLOCKS],
}

impl Freed {
    /// A run starts.
    pub fn start(&mut self, holds: bool) {
        (self.holds, self.oldest, self.next, self.held, self.bytes) = (holds, 0, 0, 0, 0);
    }

    fn at(&self, number: u64) -> usize {
        number as usize % if self.holds { MOST_BLOCKS } else { MOST_REMEMBERED }
    }

    /// Notes a block that is freed, and whether it is held back.
    pub fn push(&mut self, freed: FreedBlock, is_held: bool) {
        let at = self.at(self.next);
        self.entry[at] = Entry::new(freed, is_held);
        self.next += 1;
        if is_held {
            self.bytes += freed.chunk();
            self.held += 1;
        } else if self.held == 0 {
            self.oldest = self.next;
        }
    }

    /// Whether a block of so many bytes can be held back.
    pub fn takes(&self, size: usize) -> bool {
        self.holds && size + 8 < MOST_BYTES
    }

    /// The number of the block that is freed next.
    pub fn next_number(&self) -> u64 {
        self.next + 1
    }

    /// How many blocks are held back.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Whether more is held back than may be.
    pub fn is_too_much(&self) -> bool {
        self.bytes > MOST_BYTES || self.next - self.oldest >= MOST_BLOCKS as u64
    }

    /// Removes the block that has been held back for the longest time.
    pub fn pop(&mut self) -> Option<FreedBlock> {
        while self.oldest != self.next {
            let (entry, number) = (self.entry[self.at(self.oldest)], self.oldest);
            self.oldest += 1;
            if entry.is_held() {
                let freed = entry.read(number);
                self.held -= 1;
                self.bytes -= freed.chunk();
                return Some(freed);
            }
        }
        None
    }

    /// All blocks that are held back, the oldest first.
    pub fn all_held(&self) -> impl Iterator<Item = FreedBlock> + '_ {
        let entries = (self.oldest..self.next).map(|number| (number, self.entry[self.at(number)]));
        entries.filter(|(_, entry)| entry.is_held()).map(|(number, entry)| entry.read(number))
    }

    /// The block that was freed last of those that begin at an address; `None`: it is forgotten.
    pub fn find(&self, block: HeapBlock) -> Option<FreedBlock> {
        self.all_known().find(|freed| freed.block == block)
    }

    /// The block that was freed last of those with this number, up to multiples of what is told apart.
    pub fn find_number(&self, number: u64) -> Option<FreedBlock> {
        self.all_known().find(|freed| freed.number & MOST_NUMBERS == number)
    }

    /// All freed blocks that are not forgotten, the last one first.
    pub fn all_known(&self) -> impl Iterator<Item = FreedBlock> + '_ {
        self.known().rev().map(|number| self.entry[self.at(number)].read(number))
    }

    fn known(&self) -> core::ops::Range<u64> {
        let kept = if self.holds { MOST_BLOCKS } else { MOST_REMEMBERED } as u64;
        self.next.saturating_sub(kept)..self.next
    }

    /// The block that is held back and has this address in it.
    pub fn held_at(&self, address: usize) -> Option<FreedBlock> {
        self.all_held().find(|freed| (freed.block.0..freed.block.0 + freed.size).contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freed(holds: bool) -> Box<Freed> {
        let layout = std::alloc::Layout::new::<Freed>();
        // SAFETY: documented as valid when zeroed.
        let mut freed: Box<Freed> = unsafe { Box::from_raw(std::alloc::alloc_zeroed(layout).cast()) };
        freed.start(holds);
        freed
    }

    fn block(i: usize, size: usize) -> FreedBlock {
        let place = 0x7fff_f7e0_0000 + i;
        FreedBlock {
            number: i as u64 + 1,
            block: HeapBlock(0x7fff_0000_0000 + 16 * i),
            size,
            by: ThreadId((i % 4096) as u16),
            place,
        }
    }

    #[test]
    fn what_goes_in_first_comes_out_first_and_unchanged() {
        let mut queue = freed(true);
        let sizes = [24, 40, 4088, 65_544, (1 << 20) - 24];
        for (i, size) in sizes.into_iter().enumerate() {
            assert!(queue.takes(size));
            queue.push(block(i, size), true);
        }
        assert_eq!(queue.held(), 5);
        assert_eq!(queue.held_at(block(4, 24).block.0 + 1000), Some(block(2, 4088)), "the oldest that has it");
        for (i, size) in sizes.into_iter().enumerate() {
            assert_eq!(queue.pop(), Some(block(i, size)));
        }
        assert_eq!((queue.pop(), queue.held(), queue.bytes), (None, 0, 0));
        assert!(!queue.takes((1 << 20) - 8));
    }

    #[test]
    fn never_more_than_a_mebibyte_is_held() {
        let mut queue = freed(true);
        let mut given = 0;
        for i in 0..100_000 {
            queue.push(block(i, [24, 24, 24, 1000][i % 4]), true);
            while queue.is_too_much() {
                assert_eq!(queue.pop().map(|freed| freed.place), Some(block(given, 24).place));
                given += 1;
            }
            assert!(queue.bytes <= MOST_BYTES && queue.held() as usize <= MOST_BLOCKS);
        }
        let held: Vec<_> = queue.all_held().collect();
        assert_eq!(held.len(), 100_000 - given);
        assert_eq!(held.iter().map(FreedBlock::chunk).sum::<usize>(), queue.bytes);
    }

    #[test]
    fn the_smallest_blocks_fit() {
        let mut queue = freed(true);
        for i in 0..2 * MOST_BLOCKS {
            queue.push(block(i, 24), true);
            if queue.is_too_much() {
                queue.pop();
            }
        }
        assert_eq!(queue.held() as usize, MOST_BLOCKS - 1);
        assert_eq!(queue.pop(), Some(block(MOST_BLOCKS + 1, 24)));
    }

    #[test]
    fn blocks_that_are_not_held_are_passed_over() {
        let mut queue = freed(true);
        for i in 0..3 * MOST_BLOCKS {
            queue.push(block(i, 24), i % 1000 == 7);
            while queue.is_too_much() {
                assert_eq!(queue.pop().map(|freed| (freed.place - block(0, 24).place) % 1000), Some(7));
            }
        }
        assert!(queue.all_held().all(|freed| (freed.place - block(0, 24).place) % 1000 == 7));
        assert_eq!(queue.all_held().count() as u64, queue.held());
        assert!(queue.held() > 30);
        while queue.pop().is_some() {}
        assert_eq!((queue.held(), queue.bytes), (0, 0));
    }

    #[test]
    fn the_last_free_of_an_address_is_found() {
        for holds in [false, true] {
            let mut queue = freed(holds);
            for i in 0..1000 {
                queue.push(FreedBlock { place: i, ..block(i % 100, 24) }, holds);
            }
            let found = queue.find(block(42, 24).block).expect("is known");
            assert_eq!((found.number, found.place), (943, 942));
            assert_eq!(queue.find_number(950).map(|found| found.place), Some(949));
            assert_eq!(queue.find(HeapBlock(64)), None);
            assert_eq!(queue.held(), if holds { 1000 } else { 0 });
            queue.start(holds);
            assert_eq!(queue.find(block(42, 24).block), None);
        }
    }
}
