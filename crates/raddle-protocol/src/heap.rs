//! What becomes of the memory that a program frees, and what is told of a block that was used wrongly.

use raddle_core::Rng;

use crate::races::FRAMES;
use crate::shared;

/// The random stream that decides whether a run holds freed memory back.
const PURPOSE: u64 = 0x6865_6170;

/// What becomes of freed memory, in [`RunSettings::heap`](crate::RunSettings::heap).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Heap {
    /// Half of the runs hold it back, chosen by their seeds; the others reuse it at once.
    Mixed = 0,
    /// Every run holds it back for a while: a use of it shows.
    Hold = 1,
    /// No run holds it back: the next allocation may get the same address.
    Reuse = 2,
    /// The program's heap is left alone.
    Off = 3,
}

impl Heap {
    /// All of them.
    pub const ALL: [Heap; 4] = [Heap::Mixed, Heap::Hold, Heap::Reuse, Heap::Off];

    /// The name on the command line and in schedule files.
    pub fn name(self) -> &'static str {
        ["mixed", "hold", "reuse", "off"][self as usize]
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Heap> {
        Heap::ALL.into_iter().find(|heap| heap.name() == name)
    }

    /// Whether the run with this seed holds freed memory back.
    pub fn holds(self, seed: u64) -> bool {
        match self {
            Heap::Mixed => Rng::for_purpose(seed, PURPOSE).next_u64() & 1 == 0,
            Heap::Hold => true,
            Heap::Reuse | Heap::Off => false,
        }
    }

    /// What tells freed blocks of the run with this seed from others; never 0.
    pub fn key(seed: u64) -> u64 {
        let mut stream = Rng::for_purpose(seed, PURPOSE);
        stream.next_u64();
        stream.next_u64() | 1
    }
}

shared! {
    /// Who did something to a block, and where.
    #[derive(Clone, Copy)]
    pub struct HeapSite {
        /// The thread, plus 1; 0: it is not known.
        pub thread: u32,
        /// How many of `frames` are there.
        pub depth: u32,
        /// Addresses behind calls, the innermost first.
        pub frames: [u64; FRAMES],
    }
}

shared! {
    /// A block of the heap that the failure of a run is about.
    #[derive(Clone, Copy)]
    pub struct HeapReport {
        /// Its address; 0: there is none.
        pub block: u64,
        /// Bytes that the program could use.
        pub size: u64,
        /// Which call of `free` in the run freed it, counted from 1; 0: it is not known.
        pub number: u64,
        /// Where it was allocated.
        pub allocated: HeapSite,
        /// Where it was freed.
        pub freed: HeapSite,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for heap in Heap::ALL {
            assert_eq!(Heap::from_name(heap.name()), Some(heap));
        }
        assert_eq!(Heap::from_name("none"), None);
    }

    #[test]
    fn half_of_the_runs_hold_memory_back() {
        let held = (0..10_000).filter(|&run| Heap::Mixed.holds(raddle_core::rng::run_seed(7, run))).count();
        // Four standard deviations.
        assert!((4_800..5_200).contains(&held), "{held}");
        assert!((0..100).all(|seed| Heap::Hold.holds(seed) && !Heap::Reuse.holds(seed) && Heap::key(seed) != 0));
    }
}
