//! Alternate signal stacks.
//!
//! Every OS thread has one of the runtime's own, on which the handlers of asynchronous signals and
//! faults run, so that even an overflowed stack can be reported. The program's own are kept in the
//! threads' records. A fault that the program handles is delivered again, by a copy of the kernel's
//! frame, on the stack where the kernel would have put it.

use core::arch::global_asm;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use raddle_core::{ThreadId, MAX_THREADS};

use super::action::{libc_restorer, restorer};
use super::{deliver, fiber, reserved, Action};
use crate::control::{self, scheduler, state, STACKS_ADDRESS};
use crate::os::sys;
use crate::switch::fibers;
use crate::{dispatch, syscall};

/// Where the runtime's own alternate stacks lie, by thread.
const ADDRESS: usize = STACKS_ADDRESS;
const SIZE: usize = 32 * 1024;
/// Bytes of all of them.
pub const TOTAL: usize = SIZE * MAX_THREADS;

/// A frame is being copied to the program's stack.
static COPYING: AtomicBool = AtomicBool::new(false);

global_asm!(
    // raddle_deliver(frame, signal, info, context, handler): goes on at a handler, on a new stack.
    ".globl raddle_deliver",
    ".hidden raddle_deliver",
    ".type raddle_deliver,@function",
    "raddle_deliver:",
    "mov rsp, rdi",
    "mov edi, esi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "xor eax, eax",
    "jmp r8",
);

extern "C" {
    fn raddle_deliver(frame: usize, signal: c_int, info: usize, context: usize, handler: usize) -> !;
}

/// The calling OS thread, which is or runs a thread from now on, gets a stack of the runtime's own.
pub fn adopt(me: ThreadId) {
    let stack = |at: usize| libc::stack_t { ss_sp: at as *mut c_void, ss_flags: 0, ss_size: SIZE };
    #[cfg(feature = "verify")]
    crate::verify::adopted_alternate(me, ADDRESS + me.index() * SIZE);
    // SAFETY: the kernel reads and writes the two structures; the caller holds the baton.
    unsafe {
        let (new, mut old) = (stack(ADDRESS + me.index() * SIZE), stack(0));
        syscall!(libc::SYS_sigaltstack, &new as *const _, &mut old as *mut _);
        if old.ss_flags & libc::SS_DISABLE == 0
            && !(ADDRESS..ADDRESS + SIZE * MAX_THREADS).contains(&(old.ss_sp as usize))
        {
            let thread = scheduler().thread(me);
            thread.alternate_stack = (old.ss_sp as usize, old.ss_size);
            thread.alternate_flags = old.ss_flags & !libc::SS_ONSTACK;
        }
    }
}

/// In a forked child the calling thread is an ordinary one: it gets its alternate stack back.
pub(super) fn give_back(me: ThreadId) {
    let stack = Program::of(me).in_context();
    // SAFETY: the kernel reads the structure.
    unsafe { syscall!(libc::SYS_sigaltstack, &stack as *const _, 0) };
}

/// The program's alternate stack of a thread disarms itself while a handler runs (SS_AUTODISARM).
const DISARMS: c_int = 1 << 31;

/// The program's own alternate stack of a thread.
#[derive(Clone, Copy)]
pub struct Program {
    start: usize,
    /// 0: there is none.
    size: usize,
    flags: c_int,
}

impl Program {
    /// That of a thread.
    pub fn of(t: ThreadId) -> Program {
        // SAFETY: the caller holds the baton.
        let thread = &unsafe { scheduler() }.threads[t.index()];
        let (start, size) = thread.alternate_stack;
        Program { start, size, flags: thread.alternate_flags }
    }

    fn store(self, me: ThreadId) {
        // SAFETY: the caller holds the baton.
        let thread = unsafe { scheduler() }.thread(me);
        thread.alternate_stack = (self.start, self.size);
        thread.alternate_flags = self.flags;
    }

    /// Whether a thread that stands at `sp` uses it.
    fn is_used_at(&self, sp: usize) -> bool {
        self.flags & DISARMS == 0 && self.size != 0 && sp.wrapping_sub(self.start) < self.size
    }

    /// Where a handler starts that interrupts a thread at `sp`; `None`: on the stack where it stands.
    pub fn top_for(&self, action: &Action, sp: usize) -> Option<usize> {
        let switches = action.flags & libc::SA_ONSTACK != 0 && self.size != 0 && !self.is_used_at(sp);
        switches.then_some(self.start + self.size)
    }

    /// As a handler's context shows it.
    pub fn in_context(&self) -> libc::stack_t {
        let ss_flags = if self.size == 0 { libc::SS_DISABLE } else { self.flags };
        libc::stack_t { ss_sp: self.start as *mut c_void, ss_flags, ss_size: self.size }
    }

    /// As sigaltstack(2) shows it to a thread that stands at `sp`.
    fn seen_from(&self, sp: usize) -> libc::stack_t {
        let ss_flags = if self.is_used_at(sp) { libc::SS_ONSTACK } else { self.in_context().ss_flags };
        libc::stack_t { ss_flags, ..self.in_context() }
    }

    /// A handler starts to run.
    pub fn enter(&self, me: ThreadId) {
        if self.flags & DISARMS != 0 {
            Program { start: 0, size: 0, flags: 0 }.store(me);
        }
    }

    /// A handler that interrupted the thread at `sp` returns: what it has changed does not last.
    pub fn leave(&self, me: ThreadId, sp: usize) {
        if !self.is_used_at(sp) {
            self.store(me);
        }
    }
}

/// sigaltstack(2) for a thread that stands at `sp`; an error number or 0.
pub unsafe fn change(me: ThreadId, sp: usize, new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    let before = Program::of(me);
    // SAFETY: the caller's pointers; `me` holds the baton.
    unsafe {
        if let Some(new) = new.as_ref() {
            if before.is_used_at(sp) {
                return libc::EPERM;
            }
            let mode = new.ss_flags & !DISARMS;
            if mode != 0 && mode != libc::SS_DISABLE && mode != libc::SS_ONSTACK {
                return libc::EINVAL;
            }
            let after = if mode == libc::SS_DISABLE {
                Program { start: 0, size: 0, flags: 0 }
            } else {
                Program { start: new.ss_sp as usize, size: new.ss_size, flags: new.ss_flags & DISARMS }
            };
            if after.size < libc::MINSIGSTKSZ && mode != libc::SS_DISABLE {
                return libc::ENOMEM;
            }
            after.store(me);
        }
        if !old.is_null() {
            *old = before.seen_from(sp);
        }
        0
    }
}

/// Whether a fault happened while a frame was being copied: there is no room on the program's stack.
pub fn overflowed() -> bool {
    COPYING.load(Ordering::Relaxed)
}

/// Delivers a fault to the program's handler where the kernel would have: on the thread's alternate
/// stack if the action says so, else on the thread's own stack. The handler's return is the kernel's
/// business again.
pub unsafe fn redeliver(action: &Action, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> ! {
    /// Bytes below the stack pointer that the code may use.
    const RED_ZONE: usize = 128;
    // SAFETY: the kernel's frame: a return address, the context, the information, and above them the
    // floating-point state that the context points to.
    unsafe {
        let old = context.cast::<libc::ucontext_t>();
        let sp = (*old).uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
        let me = scheduler().pointers.get(sys::thread_pointer());
        #[cfg(feature = "verify")]
        me.inspect(|&me| crate::verify::faulted(me, sp));
        let top = me.and_then(|me| Program::of(me).top_for(action, sp)).unwrap_or(sp - RED_ZONE);
        let state = (*old).uc_mcontext.fpregs.cast::<u8>();
        let state_size = if state.is_null() { 0 } else { saved_state_size(state) };
        let new_state = (top - state_size) & !63;
        let start = context as usize - 8;
        let size = info as usize + size_of::<libc::siginfo_t>() - start;
        // As at a function's entry: eight bytes above a multiple of sixteen.
        let frame = ((new_state - size) & !15) - 8;
        COPYING.store(true, Ordering::Relaxed);
        core::ptr::copy_nonoverlapping(state, new_state as *mut u8, state_size);
        core::ptr::copy_nonoverlapping(start as *const u8, frame as *mut u8, size);
        COPYING.store(false, Ordering::Relaxed);
        let (new_context, new_info) = (frame + 8, frame + (info as usize - start));
        let copied = new_context as *mut libc::ucontext_t;
        if !state.is_null() {
            (*copied).uc_mcontext.fpregs = new_state as *mut _;
        }
        let back = me.and_then(|me| mask_handler(me, action, signal, copied)).unwrap_or(restorer());
        (frame as *mut usize).write(back);
        control::leave_for_good();
        raddle_deliver(frame, signal, new_info, new_context, action.handler)
    }
}

/// Sets the mask of a handler that is about to run on a frame. Returns where the handler is to return to: a system call
/// that is trapped, so that the mask is set back by [`return_from`]; `None`: it would not be trapped.
unsafe fn mask_handler(me: ThreadId, action: &Action, signal: c_int, frame: *mut libc::ucontext_t) -> Option<usize> {
    let back = libc_restorer().filter(|_| dispatch::selector(me).load(Ordering::Relaxed) != 0)?;
    // SAFETY: `me` faulted, so it holds the baton; the frame is a copy of the kernel's.
    unsafe {
        let thread = scheduler().thread(me);
        let before = thread.signal_mask;
        thread.signal_mask = action.mask_on_top_of(signal, before);
        // The kernel must be able to use the frame as it is. A frame of its own has no link.
        (&raw mut (*frame).uc_sigmask).cast::<u64>().write(before & !reserved());
        (*frame).uc_link = (before & reserved()) as *mut libc::ucontext_t;
    }
    Some(back)
}

/// A handler returns from a frame: the program's mask is set back, and the kernel gets its own.
///
/// # Safety
/// The thread's stack pointer at its rt_sigreturn.
pub unsafe fn return_from(me: ThreadId, frame: usize) -> ! {
    // SAFETY: what the kernel would read, too; `me` holds the baton.
    unsafe {
        let context = frame as *mut libc::ucontext_t;
        let mask = (&raw mut (*context).uc_sigmask).cast::<u64>();
        deliver::change_mask(me, mask.read() | (*context).uc_link as u64 & reserved());
        let thread = scheduler().thread(me);
        thread.signals = u64::from(state().signals.queue.waits_for(me, thread.signal_mask));
        if fibers() {
            fiber::before_return(context.cast());
        }
        control::leave_for_good();
        sys::return_from_signal(frame)
    }
}

/// Bytes of the floating-point state in a frame.
unsafe fn saved_state_size(state: *const u8) -> usize {
    const MAGIC: u32 = 0x4650_5853;
    const PLAIN: usize = 512;
    // SAFETY: the software bytes of the kernel's fxsave area.
    unsafe {
        let software = state.add(464).cast::<u32>();
        if software.read_unaligned() == MAGIC {
            return software.add(1).read_unaligned() as usize;
        }
    }
    PLAIN
}
