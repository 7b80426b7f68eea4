//! What later runs can learn from a run beyond its decisions.

use raddle_core::{Delay, MAX_THREADS};

use crate::shared;

/// Points whose threads are noted.
pub const POINT_THREADS: usize = 1 << 16;

/// Delays that were possible and are noted.
pub const DELAYS: usize = 1 << 10;

/// Steps whose objects are noted.
pub const OBJECTS: usize = 1 << 16;

shared! {
    /// What the decisions of a run do not show.
    pub struct Trace {
        /// The creator of each thread, by thread id.
        pub parents: [u16; MAX_THREADS],
        /// Points that each thread passed while no other one was enabled but another one was alive, by thread id.
        pub points_without_choice: [u32; MAX_THREADS],
        /// The object of each recorded decision, as far as there is room.
        pub objects: [u64; OBJECTS],
        /// How many points were passed since the second thread was created, in a serial run with
        /// [`POINT_THREADS`](crate::settings::flag::POINT_THREADS).
        pub points: u64,
        /// The threads that passed them, whether there was anything to decide or not, as far as there is room.
        pub point_threads: [u16; POINT_THREADS],
        /// With [`NOTE_DELAYS`](crate::settings::flag::NOTE_DELAYS): delays that were possible, with no thread. When there
        /// is no room left, every other one goes.
        pub delays: [Delay; DELAYS],
        /// How many there are.
        pub delay_count: u64,
    }
}
