//! What the command line and the runtime tell each other about data races, as parts of the
//! [`crate::block::Block`]: the places that are known to race go in, the races that a run saw come out.

use crate::shared;

/// The most places that are known to race.
pub const PLACES: usize = 2048;

/// The most files that they lie in.
pub const FILES: usize = 32;

shared! {
    /// Places in the program that are known to race.
    #[derive(Clone, Copy)]
    pub struct RacyPlaces {
        /// How many.
        pub count: u32,
        /// Where: the number of the file, and the address in it.
        pub at: [(u32, u32); PLACES],
        /// The names of the files, without their folders, each ended by a zero.
        pub files: [[u8; 64]; FILES],
    }
}

/// The most frames of a stack in a [`Race`].
pub const FRAMES: usize = 24;

/// The most races that one run reports.
pub const RACES: usize = 32;

/// The most places that one run teaches.
pub const LEARNED: usize = 256;

shared! {
    /// One of the two accesses of a race.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RaceAccess {
        pub thread: u32,
        /// Bytes.
        pub size: u32,
        /// Whether it writes.
        pub writes: u32,
        /// Whether it is atomic.
        pub atomic: u32,
        /// How many of `frames` are there.
        pub depth: u32,
        /// Padding.
        pub reserved: u32,
        /// Where it is made, and where the functions were called, the innermost first. Each is the address
        /// after the call.
        pub frames: [u64; FRAMES],
    }
}

shared! {
    /// Two accesses to one variable without an order between them, at least one of which writes.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Race {
        /// The first byte that both touch.
        pub address: u64,
        /// The step at which the second was seen.
        pub step: u64,
        /// The start and the size of the heap allocation that the address lies in; 0 if it is in no known one.
        pub heap: u64,
        pub heap_size: u64,
        /// The thread that made the allocation; `u32::MAX` when it is not known.
        pub heap_thread: u32,
        /// How many of `heap_frames` are there.
        pub heap_depth: u32,
        /// Where the allocation was made.
        pub heap_frames: [u64; FRAMES],
        /// The access that came first.
        pub first: RaceAccess,
        /// The access that came second.
        pub second: RaceAccess,
    }
}

shared! {
    /// A file of the program, where it was loaded.
    #[derive(Clone, Copy)]
    pub struct LoadedFile {
        /// Where its first byte is.
        pub start: u64,
        /// Behind the last address.
        pub end: u64,
        /// Bytes of the build-id; 0 when the file has none.
        pub build_id_len: u32,
        /// The linker's build-id.
        pub build_id: [u8; BUILD_ID],
        /// The path, ended by a zero.
        pub path: [u8; 232],
    }
}

/// The most bytes of a build-id: linkers write 16 or 20, users up to as many as they like.
pub const BUILD_ID: usize = 36;

impl LoadedFile {
    /// No file.
    pub const NONE: LoadedFile =
        LoadedFile { start: 0, end: 0, build_id_len: 0, build_id: [0; BUILD_ID], path: [0; 232] };

    /// The linker's build-id.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.get(..self.build_id_len as usize).filter(|id| !id.is_empty())
    }
}

shared! {
    /// The races that a run saw.
    pub struct Races {
        /// How many are described.
        pub count: u32,
        /// How many of `learned` are there.
        pub learned_count: u32,
        /// How many files are described.
        pub loaded: u32,
        /// Padding.
        pub reserved: u32,
        /// The places of plain accesses that take part in a race and were not known to, each behind its access.
        pub learned: [u64; LEARNED],
        pub race: [Race; RACES],
        /// The files that their addresses lie in.
        pub files: [LoadedFile; FILES],
    }
}
