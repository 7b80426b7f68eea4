//! Signal actions as the kernel knows them, installed without libc.

use core::arch::global_asm;
use core::ffi::c_int;

use crate::os::sys;
use crate::syscall;

const SA_RESTORER: u64 = 0x0400_0000;

// Returning from a handler is a system call too: ours is in our own text. Unwinders and debuggers
// know a signal frame by exactly these bytes.
global_asm!(
    ".globl raddle_restorer",
    ".hidden raddle_restorer",
    ".type raddle_restorer,@function",
    "raddle_restorer:",
    "mov rax, 15",
    "syscall",
);

extern "C" {
    fn raddle_restorer();
}

/// The kernel's own form of a signal action.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelAction {
    /// The handler, SIG_DFL or SIG_IGN.
    pub handler: usize,
    /// SA_ flags.
    pub flags: u64,
    /// Where the handler returns to.
    pub restorer: usize,
    /// Signals blocked during the handler.
    pub mask: u64,
}

/// glibc cancels a thread by this signal; in the middle of the runtime it would unwind us.
const SIGCANCEL: u64 = 1 << 31;

/// Installs a handler of the runtime's own, which returns through our text.
pub fn install(signal: c_int, handler: usize, flags: c_int) {
    let action = KernelAction {
        handler,
        flags: flags as u32 as u64 | SA_RESTORER,
        restorer: raddle_restorer as *const () as usize,
        mask: if signal == libc::SIGSYS { SIGCANCEL } else { 0 },
    };
    set_action(signal, &action);
}

/// Where a signal handler returns to.
pub fn restorer() -> usize {
    raddle_restorer as *const () as usize
}

/// rt_sigaction without the old action.
pub fn set_action(signal: c_int, action: &KernelAction) {
    // SAFETY: reads the action only.
    unsafe { syscall!(sys::SYS_rt_sigaction, signal, action as *const _, 0, 8) };
}
