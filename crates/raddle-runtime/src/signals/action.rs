//! Signal actions as the kernel knows them, installed without libc.

use core::arch::global_asm;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::os::sys;
use crate::{real, syscall};

pub const SA_RESTORER: u64 = 0x0400_0000;

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
pub const SIGCANCEL: u64 = 1 << 31;

/// What the kernel does on a signal that nobody has said anything of.
pub const DEFAULT: KernelAction = KernelAction { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };

impl KernelAction {
    /// Whether it is [`DEFAULT`], for a signal that has not been changed or was set back.
    pub fn is_default(&self) -> bool {
        self.handler == libc::SIG_DFL && self.flags == 0
    }
}

/// Installs a handler that returns through our text.
pub fn install(signal: c_int, handler: usize, flags: c_int, mask: u64) {
    let flags = flags as u32 as u64 | SA_RESTORER;
    set_action(signal, &KernelAction { handler, flags, restorer: restorer(), mask });
}

/// Where a signal handler returns to.
pub fn restorer() -> usize {
    raddle_restorer as *const () as usize
}

/// Where libc lets a handler return to; 0 before it is known.
static LIBC_RESTORER: AtomicUsize = AtomicUsize::new(0);

/// Where libc lets a handler return to: a system call that is trapped.
pub fn libc_restorer() -> Option<usize> {
    Some(LIBC_RESTORER.load(Ordering::Relaxed)).filter(|&restorer| restorer != 0)
}

/// Asks libc for a handler and the kernel for what came of it.
pub fn find_libc_restorer() {
    extern "C" fn nothing(_: c_int) {}
    let before = action_of(libc::SIGURG);
    // SAFETY: there is one thread; the action is put back.
    unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        real!(sigaction: fn(c_int, *const c_void, *mut c_void) -> c_int)(
            libc::SIGURG,
            (&raw const action).cast(),
            core::ptr::null_mut(),
        );
    }
    LIBC_RESTORER.store(action_of(libc::SIGURG).restorer, Ordering::Relaxed);
    set_action(libc::SIGURG, &before);
}

/// What the kernel does on a signal.
pub fn action_of(signal: c_int) -> KernelAction {
    let mut action = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: the kernel writes the action.
    unsafe { syscall!(sys::SYS_rt_sigaction, signal, 0, &mut action as *mut _, 8) };
    action
}

/// rt_sigaction without the old action.
pub fn set_action(signal: c_int, action: &KernelAction) {
    // SAFETY: reads the action only.
    unsafe { syscall!(sys::SYS_rt_sigaction, signal, action as *const _, 0, 8) };
}
