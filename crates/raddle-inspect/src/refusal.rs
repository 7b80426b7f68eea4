//! Why a program cannot be put under control.

use std::io;

/// A reason for which raddle refuses a program, found before anything is started.
///
/// The messages are fragments that read well after the program's name: `./server: there is no such
/// file; …`.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No file of that name.
    #[error("there is no such file; check the path, or give a command that PATH finds")]
    NotFound,
    /// The path names a directory.
    #[error("it is a directory; give the path of a program in it")]
    Directory,
    /// The file exists but may not be executed.
    #[error("it is not executable; if it is the program you mean, run `chmod +x` on it")]
    NotExecutable,
    /// The file starts with `#!`.
    #[error(
        "it is a script for {interpreter}, and only programs can be controlled; \
         start the interpreter itself: `raddle test -- {interpreter} SCRIPT`"
    )]
    Script {
        /// The interpreter with its arguments, as the first line of the script names them.
        interpreter: String,
    },
    /// A script that finds and starts the program of its own name.
    #[error(
        "it is a shim, a script that finds and starts the real program of its name, and only programs can be \
         controlled; start the program itself: `raddle test -- {program}`"
    )]
    Shim {
        /// What a person types to start the program.
        program: String,
    },
    /// Neither a script nor an ELF program.
    #[error(
        "it is not an ELF program, the format of native Linux programs; if it is a shell script \
         without a `#!` line, start the shell itself: `raddle test -- sh SCRIPT`"
    )]
    NotElf,
    /// No dynamic loader would load the runtime into it.
    #[error(
        "it is statically linked, so the runtime cannot be loaded into it; link it dynamically \
         (without -static and -static-pie; for Rust use a target with glibc, not musl)"
    )]
    Static,
    /// ThreadSanitizer's runtime is in it.
    #[error(
        "it is linked with ThreadSanitizer's own runtime, which intercepts the same calls and uses the same \
         memory as raddle's; build it with `raddle cc` or `raddle c++`, which make the same accesses visible and find \
         races, or without -fsanitize=thread"
    )]
    ThreadSanitizer,
    /// Compiled for ThreadSanitizer, and linked with nothing that it calls.
    #[error(
        "it was compiled with -fsanitize=thread but not linked with hooks; link it with `raddle cc` or `raddle c++` too"
    )]
    NoHooks,
    /// A 32-bit program (i386 or x32).
    #[error("it is a 32-bit program; build it for 64-bit x86-64 (without -m32 and -mx32)")]
    WrongClass,
    /// A program for another processor.
    #[error("it is built for another processor; build it for x86-64")]
    WrongMachine,
    /// The loader ignores `LD_PRELOAD` for programs that gain rights when they start.
    #[error(
        "it gains privileges when it starts (setuid, setgid or file capabilities), and the system \
         loads nothing into such programs; test a copy made with plain `cp`, which has none"
    )]
    Setuid,
    /// The file cannot be read or is damaged.
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
}
