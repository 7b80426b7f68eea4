//! The threads of a run when it failed.

use crate::shared;

/// Arguments that are passed in integer registers.
pub const ARGUMENTS: usize = 6;

/// States of a thread in a [`ThreadReport`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ThreadState {
    /// The slot was never used.
    None = 0,
    /// Could take a step.
    Enabled = 1,
    /// Waits for something.
    Blocked = 2,
    /// Has ended.
    Exited = 3,
    /// Is in a call outside the model.
    Outside = 4,
}

shared! {
    /// The state of one thread when the run failed.
    #[derive(Clone, Copy)]
    pub struct ThreadReport {
        /// See [`ThreadState`].
        pub state: u8,
        /// The kind of its next event.
        pub kind: u8,
        /// The thread that holds what it waits for, or `u16::MAX`.
        pub holder: u16,
        /// The kernel's thread id.
        pub tid: i32,
        /// The object of its next event.
        pub object: u64,
        /// When a timed wait ends on the virtual clock, or `u64::MAX`.
        pub deadline: u64,
        /// The thread's name, padded with zeros.
        pub name: [u8; 16],
        /// Where it was created: the start routine.
        pub start: u64,
        /// Where a parked fiber's registers are saved; 0 for one that runs on the OS thread `tid`.
        pub context: u64,
        /// The threads that last took the word on which it waits in a futex and the word before that one, where that is
        /// noted ([`LOCK_WORDS`](crate::settings::flag::LOCK_WORDS)); or `u32::MAX`.
        pub takers: [u32; 2],
        /// The call of a function named by `--sync-function` that it is in.
        pub call: NamedCall,
        /// The last such call that has returned to it, if it has made none since.
        pub returned: NamedCall,
    }
}

shared! {
    /// A call of a function named by `--sync-function`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct NamedCall {
        /// Where the function is, counted from where the program is loaded; 0 for no call.
        pub function: u64,
        /// The integer registers that pass arguments, as they were at the beginning.
        pub arguments: [u64; ARGUMENTS],
        /// The register rax as it was at the return.
        pub value: u64,
    }
}
