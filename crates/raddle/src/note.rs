//! The ELF note that says where control starts.

/// Emits the note `raddle`, type 1, with the value 1: control starts in the checks of this program, not at `main`.
///
/// To be used in a generic function: that is compiled with the user's crate, so the note is in an object file that is
/// linked anyway. From an object of this crate the linker would take it only by luck. Several notes are as good as one.
macro_rules! note {
    () => {
        #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
        // SAFETY: what is assembled goes to another section; it adds no instruction here.
        unsafe {
            core::arch::asm!(
                ".pushsection .note.raddle,\"a\",@note",
                ".balign 4",
                ".long 7", // the length of the name, with its 0
                ".long 4", // the length of what follows the name
                ".long 1", // the type: where control starts
                ".asciz \"raddle\"",
                ".balign 4",
                ".long 1", // in the checks
                ".popsection",
                options(nomem, nostack, preserves_flags)
            );
        }
    };
}

pub(crate) use note;
