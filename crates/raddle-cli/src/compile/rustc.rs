//! What of a Rust program is made visible: which passes of the compiler do it, and which hooks are linked in.
//!
//! rustc hands `-C passes` to LLVM's pass manager, which runs them after the crate's own optimisation and, in a
//! build with LTO, before the crates are linked: once for each function. The pass `tsan` replaces atomics by
//! calls of hooks in every function, and plain accesses only in those with the attribute `sanitize_thread`,
//! which rustc sets for no function unless `-Z sanitizer` is given. The pass `forceattrs` sets it. Without
//! optimisation the pipeline does not contain `forceattrs`, so it is named.

use serde::{Deserialize, Serialize};

/// The only target that works: what the hooks are compiled for, and what raddle runs.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visible {
    /// Plain accesses too, not only atomics.
    pub memory: bool,
    /// In the standard library too.
    pub std: bool,
}

impl Visible {
    /// The name of its directory.
    pub fn name(self) -> &'static str {
        match (self.memory, self.std) {
            (false, false) => "atomics",
            (true, false) => "memory",
            (false, true) => "atomics-std",
            (true, true) => "memory-std",
        }
    }

    /// The options of rustc that do it.
    pub fn flags(self) -> &'static [&'static str] {
        if self.memory {
            &[
                "-Cpasses=forceattrs,function(tsan)",
                "-Cllvm-args=-force-attribute=sanitize_thread",
                // `n += 1` is a read and a write: another thread may come in between.
                "-Cllvm-args=-tsan-instrument-read-before-write=1",
                "-Cllvm-args=-tsan-distinguish-volatile=1",
            ]
        } else {
            &["-Cpasses=tsan"]
        }
    }

    /// The hooks to link in.
    pub fn archive(self) -> &'static [u8] {
        raddle_hooks::archive(self.memory, self.std)
    }
}
