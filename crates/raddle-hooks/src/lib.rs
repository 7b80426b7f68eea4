//! What is linked into instrumented programs: the functions that compilers call with
//! `-fsanitize=thread`, and a note that says what the program makes visible. Both are in `hooks.c`.
//!
//! The archives are compiled when raddle is built and carried inside it, so that nothing has to be found,
//! or to fit, where a program is linked. A linker takes the one object in them only for a program that
//! calls a hook.

/// The hooks of a program whose atomics are visible, or also its plain accesses; with the standard library
/// of Rust instrumented, or without. An archive.
pub fn archive(memory: bool, std: bool) -> &'static [u8] {
    macro_rules! archive {
        ($name:literal) => {
            include_bytes!(concat!(env!("OUT_DIR"), "/lib", $name, ".a"))
        };
    }
    match (memory, std) {
        (false, false) => archive!("atomics"),
        (true, false) => archive!("memory"),
        (false, true) => archive!("atomics-std"),
        (true, true) => archive!("memory-std"),
    }
}
