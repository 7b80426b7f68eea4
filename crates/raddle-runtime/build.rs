//! Tells the crates that depend on this one where the sources are and how to link a runtime library.
//!
//! raddle-runtime-image builds the runtime library from these sources and those of raddle-core and raddle-protocol. The
//! crate that becomes the library finds the linker arguments in `DEP_RADDLE_RUNTIME_LINK_ARGS`: cargo does not pass them
//! on from a dependency.

use std::env;

/// Arguments of the linker, separated by spaces.
///
/// Without `relro` the tables of addresses lie with the other data that can be written: a fork pays for each mapping.
/// Nothing of the compiler's start-up files is needed, and what they do at the end of a process touches two more pages.
const LINK_ARGS: &str = "-Wl,-z,norelro -nostartfiles";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=root={}", variable("CARGO_MANIFEST_DIR"));
    println!("cargo::metadata=core={}", variable("DEP_RADDLE_CORE_ROOT"));
    println!("cargo::metadata=protocol={}", variable("DEP_RADDLE_PROTOCOL_ROOT"));
    println!("cargo::metadata=link_args={LINK_ARGS}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
