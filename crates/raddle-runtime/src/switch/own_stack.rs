//! A stack of the runtime's own, on which it decides while states are compared (`recurrence`).
//!
//! What a function leaves on the stack of a thread becomes part of the frames of later ones. Numbers that differ at each
//! decision must therefore not get there, or no state would ever be the same again. Only code that does not switch
//! threads runs on this stack, so that one is enough for all.

use core::arch::global_asm;
use core::ffi::c_void;
use core::ops::Range;

use super::another_stack;
use crate::os::{memory, sys};

/// Where it lies.
const STACK: Range<usize> = memory::RUNTIME.start + 0xf_0000_0000..memory::RUNTIME.start + 0xf_0004_0000;

global_asm!(
    ".pushsection raddle_run,\"ax\",@progbits",
    // raddle_spill(function, argument): puts all registers that a call preserves on the stack, clears what earlier
    // calls of the runtime have left below, and calls function(argument, stack pointer).
    ".globl raddle_spill",
    ".hidden raddle_spill",
    ".type raddle_spill,@function",
    "raddle_spill:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbx, 0",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r12, 0",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r13, 0",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r14, 0",
    "push r15",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset r15, 0",
    "push 0",
    ".cfi_adjust_cfa_offset 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov r8, rdi",
    "mov r9, rsi",
    "lea rdi, [rsp - {cleared}]",
    "mov ecx, {cleared} / 8",
    "xor eax, eax",
    "rep stosq",
    "mov rdi, r9",
    "mov rsi, rsp",
    "call r8",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r15",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r15",
    "pop r14",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r14",
    "pop r13",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r13",
    "pop r12",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore r12",
    "pop rbx",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore rbx",
    "pop rbp",
    ".cfi_adjust_cfa_offset -8",
    ".cfi_restore rbp",
    "ret",
    ".cfi_endproc",
    ".popsection",
    // No more than every decision needs that is made on the thread's own stack.
    cleared = const 512,
);

extern "C-unwind" {
    fn raddle_spill(function: unsafe extern "C-unwind" fn(*mut c_void, usize), argument: *mut c_void);
}

/// Reserves it, once.
pub fn reserve() {
    sys::map_at(STACK.start, STACK.len());
}

/// Whether an address is on it.
#[cfg(feature = "verify")]
pub fn contains(address: usize) -> bool {
    STACK.contains(&address)
}

/// Runs something on it, which does not switch threads, call the program or unwind.
pub fn run<R: Copy + Default>(work: impl FnOnce() -> R) -> R {
    struct Call<F, R>(Option<F>, R);
    unsafe extern "C" fn call<R, F: FnOnce() -> R>(call: *mut c_void) {
        // SAFETY: the call below, which waits for us.
        let call = unsafe { &mut *call.cast::<Call<F, R>>() };
        if let Some(work) = call.0.take() {
            call.1 = work();
        }
    }
    fn caller<R, F: FnOnce() -> R>(_: &Call<F, R>) -> unsafe extern "C" fn(*mut c_void) {
        call::<R, F>
    }
    let mut it = Call(Some(work), R::default());
    let function = caller(&it);
    // SAFETY: the stack is reserved, and nothing else runs on it: only the thread that holds the baton comes here, and it
    // returns before it gives the baton away.
    unsafe { another_stack::call(STACK.end, function as *const () as usize, [(&raw mut it) as usize, 0, 0]) };
    it.1
}

/// Calls `function` with `argument` and the stack pointer, after all registers that matter have been put on the stack
/// above it.
///
/// # Safety
/// As for the function.
pub unsafe fn with_registers_on_stack(
    function: unsafe extern "C-unwind" fn(*mut c_void, usize),
    argument: *mut c_void,
) {
    // SAFETY: the caller's promise; there is room below the stack pointer, because every schedule point needs more.
    unsafe { raddle_spill(function, argument) };
}
