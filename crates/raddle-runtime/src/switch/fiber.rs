//! Fibers: one OS thread runs all threads by swapping registers, stack and FS base.
//!
//! A parked fiber is the address of its saved registers, on its own stack, and its thread pointer.
//! What a function call must preserve is saved (System V ABI: six registers, the rounding modes);
//! everything else is dead at a call.

use core::arch::global_asm;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use raddle_core::ThreadId;

use crate::control::scheduler;
use crate::os::sys;

global_asm!(
    ".pushsection raddle_run,\"ax\",@progbits",
    // raddle_swap(save, context, pointer): saves the caller at *save and loads another fiber.
    ".globl raddle_swap",
    ".hidden raddle_swap",
    ".type raddle_swap,@function",
    "raddle_swap:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    "push rbx",
    ".cfi_adjust_cfa_offset 8",
    "push r12",
    ".cfi_adjust_cfa_offset 8",
    "push r13",
    ".cfi_adjust_cfa_offset 8",
    "push r14",
    ".cfi_adjust_cfa_offset 8",
    "push r15",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov eax, [rsp]",
    "movzx ecx, word ptr [rsp + 4]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "wrfsbase rdx",
    // The rounding modes are nearly always the same, and loading them is slow. The low bits of
    // mxcsr are sticky exception flags, which belong to the thread too.
    "cmp eax, [rsp]",
    "jne 2f",
    "cmp cx, word ptr [rsp + 4]",
    "jne 2f",
    "3:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r15",
    ".cfi_adjust_cfa_offset -8",
    "pop r14",
    ".cfi_adjust_cfa_offset -8",
    "pop r13",
    ".cfi_adjust_cfa_offset -8",
    "pop r12",
    ".cfi_adjust_cfa_offset -8",
    "pop rbx",
    ".cfi_adjust_cfa_offset -8",
    "pop rbp",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    "2:",
    ".cfi_adjust_cfa_offset 56",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "jmp 3b",
    ".cfi_endproc",
    // raddle_load(context, pointer): loads a fiber; the caller is given up.
    ".globl raddle_load",
    ".hidden raddle_load",
    ".type raddle_load,@function",
    "raddle_load:",
    "mov rsp, rdi",
    "wrfsbase rsi",
    "ldmxcsr [rsp]",
    "fldcw [rsp + 4]",
    "add rsp, 8",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    // raddle_identity: the start routine of a new pthread. Its OS thread saves the registers as
    // raddle_swap does, and leaves: the kernel clears raddle_gone when it has. It takes nothing with
    // it: neither the id in the control block (set_tid_address) nor robust futexes. The one that loads
    // the context goes on after that, as the new thread.
    ".globl raddle_identity",
    ".hidden raddle_identity",
    ".type raddle_identity,@function",
    "raddle_identity:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "lea rax, [rip + 4f]",
    "push rax",
    "push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, 8",
    "stmxcsr [rsp]",
    "fnstcw [rsp + 4]",
    "mov [rip + {born}], rsp",
    "mov eax, {set_robust_list}",
    "xor edi, edi",
    "mov esi, 24",
    "syscall",
    "mov eax, {set_tid_address}",
    "lea rdi, [rip + {gone}]",
    "syscall",
    "mov eax, {exit}",
    "xor edi, edi",
    "syscall",
    "ud2",
    "4:",
    "call {main}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".popsection",
    born = sym BORN,
    gone = sym GONE,
    main = sym crate::points::thread::fiber_main,
    set_robust_list = const libc::SYS_set_robust_list,
    set_tid_address = const libc::SYS_set_tid_address,
    exit = const libc::SYS_exit,
);

extern "C" {
    fn raddle_swap(save: *mut usize, context: usize, pointer: usize);
    fn raddle_load(context: usize, pointer: usize) -> !;
    fn raddle_identity();
}

/// Where the registers of the newest identity are saved.
static BORN: AtomicUsize = AtomicUsize::new(0);
/// Not zero while the OS thread of the newest identity is still there.
static GONE: AtomicU32 = AtomicU32::new(0);

/// Words that a new identity starts from: rounding modes, six registers, where it goes on, and above them
/// the frame of `raddle_identity` with its return address into libc.
pub const CONTEXT_WORDS: usize = 10;

/// Loads `next` and returns when another fiber loads `me` again.
#[inline]
pub fn switch(me: ThreadId, next: ThreadId) {
    // SAFETY: `me` runs, `next` is parked, and both records stay where they are.
    unsafe {
        let threads = &raw mut scheduler().threads;
        let (context, fs) = ((*threads)[next.index()].context, (*threads)[next.index()].fs);
        raddle_swap(&raw mut (*threads)[me.index()].context, context, fs);
    }
}

/// Loads `next`; the caller never runs again.
#[link_section = "raddle_run"]
pub fn leave_to(next: ThreadId) -> ! {
    // SAFETY: `next` is parked; the caller's stack is no longer needed.
    unsafe {
        let thread = scheduler().thread(next);
        raddle_load(thread.context, thread.fs)
    }
}

/// Makes a pthread whose OS thread leaves at once, by a real creation of libc's. Returns libc's
/// error, or where the new thread's registers are saved.
pub fn make(create: impl FnOnce(usize) -> i32) -> Result<usize, i32> {
    GONE.store(1, Ordering::Release);
    let error = create(raddle_identity as *const () as usize);
    if error != 0 {
        return Err(error);
    }
    while GONE.load(Ordering::Acquire) != 0 {
        sys::futex_wait_shared(&GONE, 1, None);
    }
    crate::signals::fiber::set_again();
    Ok(BORN.load(Ordering::Acquire))
}
