//! Calls a function on another stack than the one the thread stands on: on the runtime's own, or on the alternate stack
//! that the program has set for its signal handlers. A panic or a cancellation may unwind through the call.

use core::arch::global_asm;

global_asm!(
    ".pushsection raddle_run,\"ax\",@progbits",
    // raddle_on_stack(top, function, a, b, c): calls function(a, b, c) on the stack that ends at `top`.
    ".globl raddle_on_stack",
    ".hidden raddle_on_stack",
    ".type raddle_on_stack,@function",
    "raddle_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "and rsp, -16",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "mov rdx, r8",
    "call rax",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".popsection",
);

extern "C-unwind" {
    fn raddle_on_stack(top: usize, function: usize, a: usize, b: usize, c: usize);
}

/// Calls the function at an address, with up to three arguments that are numbers or pointers.
///
/// # Safety
/// The stack below `top` is free and large enough; the function takes these arguments, and follows the C ABI.
pub unsafe fn call(top: usize, function: usize, [a, b, c]: [usize; 3]) {
    // SAFETY: the caller's promise.
    unsafe { raddle_on_stack(top, function, a, b, c) };
}
