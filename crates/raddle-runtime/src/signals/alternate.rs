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

use super::Action;
use crate::control::{self, scheduler, STACKS_ADDRESS};
use crate::os::sys;
use crate::signals::action::restorer;
use crate::syscall;

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

/// In a forked child the calling thread is an ordinary one: it gets its alternate stack back, and its
/// name.
pub fn become_child() {
    // SAFETY: there is one thread; the kernel reads the structures.
    unsafe {
        let Some(me) = scheduler().pointers.get(sys::thread_pointer()) else { return };
        let thread = scheduler().thread(me);
        let (start, size) = thread.alternate_stack;
        let flags = if size == 0 { libc::SS_DISABLE } else { thread.alternate_flags };
        let stack = libc::stack_t { ss_sp: start as *mut c_void, ss_flags: flags, ss_size: size };
        syscall!(libc::SYS_sigaltstack, &stack as *const _, 0);
        syscall!(sys::SYS_prctl, libc::PR_SET_NAME, thread.name.as_ptr(), 0, 0, 0);
    }
}

/// sigaltstack(2) for a thread that stands at `sp`; an error number or 0.
pub unsafe fn change(me: ThreadId, sp: usize, new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    const SS_AUTODISARM: c_int = 1 << 31;
    // SAFETY: the caller's pointers; `me` holds the baton.
    unsafe {
        let thread = scheduler().thread(me);
        let (start, size) = thread.alternate_stack;
        let on_it = size != 0 && sp.wrapping_sub(start) < size;
        let before = libc::stack_t {
            ss_sp: start as *mut c_void,
            ss_flags: match size {
                0 => libc::SS_DISABLE,
                _ if on_it => libc::SS_ONSTACK,
                _ => thread.alternate_flags,
            },
            ss_size: size,
        };
        if let Some(new) = new.as_ref() {
            if on_it {
                return libc::EPERM;
            }
            let mode = new.ss_flags & !SS_AUTODISARM;
            if mode != 0 && mode != libc::SS_DISABLE && mode != libc::SS_ONSTACK {
                return libc::EINVAL;
            }
            if mode == libc::SS_DISABLE {
                thread.alternate_stack = (0, 0);
                thread.alternate_flags = 0;
            } else if new.ss_size < libc::MINSIGSTKSZ {
                return libc::ENOMEM;
            } else {
                thread.alternate_stack = (new.ss_sp as usize, new.ss_size);
                thread.alternate_flags = new.ss_flags & SS_AUTODISARM;
            }
        }
        if !old.is_null() {
            *old = before;
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
        let stack = me.map_or((0, 0), |me| scheduler().threads[me.index()].alternate_stack);
        let on_it = stack.1 != 0 && sp.wrapping_sub(stack.0) < stack.1;
        let switches = action.flags & libc::SA_ONSTACK != 0 && stack.1 != 0 && !on_it;
        let top = if switches { stack.0 + stack.1 } else { sp - RED_ZONE };
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
        (frame as *mut usize).write(restorer());
        control::leave_for_good();
        raddle_deliver(frame, signal, new_info, new_context, action.handler)
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
