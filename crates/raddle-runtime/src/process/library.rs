//! The parts that a runtime library must contain exactly once. The crate that becomes the library adds them, with
//! [`runtime!`](crate::runtime).
//!
//! They cannot be in this crate: it is built together with programs that use the standard library, and those would then
//! have two panic handlers.

use raddle_protocol::runtime_note::RuntimeNote;

/// Tells raddle, which reads the file, which build this is.
#[used]
// The name is `raddle_protocol::runtime_note::SECTION`. The linker keeps notes even if nothing refers to them.
#[link_section = ".note.raddle.runtime"]
static NOTE: RuntimeNote = RuntimeNote::new(env!("CARGO_PKG_VERSION"));

/// Makes a runtime library of a crate of type `cdylib`. It is used once in the crate; [`register!`](crate::register)
/// includes it.
#[macro_export]
macro_rules! runtime {
    () => {
        // Tests of the crate are programs with the standard library, which has a panic handler and a personality.
        #[cfg(not(test))]
        const _: () = {
            #[panic_handler]
            fn panic(info: &::core::panic::PanicInfo<'_>) -> ! {
                $crate::macro_support::internal(::core::format_args!("{info}"))
            }
        };

        // What unwinding asks about frames of this library: exceptions and cancellation of the program pass
        // through (_URC_CONTINUE_UNWIND). Hidden, so that a program that shares Rust's libstd keeps its own.
        #[cfg(not(test))]
        ::core::arch::global_asm!(
            ".globl rust_eh_personality",
            ".hidden rust_eh_personality",
            ".type rust_eh_personality,@function",
            "rust_eh_personality:",
            "mov eax, 8",
            "ret",
        );
    };
}
