//! What a systematic policy has explored when its search is over.

/// Why a complete search may have left schedules out; bits of [`Explored::gaps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Gap {
    /// Runs had more choice points than are kept.
    Depth = 0,
    /// Runs had more threads than are told apart.
    Threads,
    /// The same choices led to another state.
    Unstable,
    /// There were more schedules than can be noted for later bounds.
    Memory,
    /// Threads waited busily, which the reduction does not know.
    Spins,
}

impl Gap {
    /// All of them.
    pub const ALL: [Gap; 5] = [Gap::Depth, Gap::Threads, Gap::Unstable, Gap::Memory, Gap::Spins];

    /// In words, for people.
    pub fn text(self) -> &'static str {
        [
            "some runs have more choice points than the search keeps",
            "some runs have more threads than the search tells apart",
            "the program did not always do the same after the same choices",
            "there are more schedules than the search can note for the next bound",
            "threads wait busily, and the reduction does not know what they wait for",
        ][self as usize]
    }
}

/// What a search has explored when no schedule is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Explored {
    /// How many schedules.
    pub schedules: u64,
    /// Runs that turned out to repeat a schedule up to the order of independent operations.
    pub redundant: u64,
    /// The bound up to which all schedules were explored, plus 1; 0: there was no bound.
    pub bound: u32,
    pub gaps: u32,
    /// Whether schedules were left out that differ from others by the order of independent operations only.
    pub reduced: bool,
    /// Whether a thread that waits busily was held back for others in any run: schedules in which it is not were left
    /// out.
    pub fair: bool,
}

impl Explored {
    /// Notes that schedules may be left out.
    pub fn lacks(&mut self, gap: Gap) {
        self.gaps |= 1 << gap as u32;
    }
}
