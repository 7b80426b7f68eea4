//! What a program with checks tells raddle about them.

use crate::shared;

/// The type of the ELF note, with the owner "raddle", in a program with checks: control starts inside the
/// checks and not at main.
pub const CHECKS: u32 = 1;

shared! {
    /// What a check asks for; a field that is zero is not set.
    #[derive(Clone, Copy)]
    pub struct CheckRequest {
        /// The check's name, ended by a zero.
        pub name: [u8; 128],
        /// The policy with its parameters, ended by a zero.
        pub policy: [u8; 128],
        pub runs: u64,
        pub seed: u64,
        /// Whether there is a seed.
        pub has_seed: u32,
        /// Steps after which a run is cut.
        pub max_steps: u64,
    }
}
