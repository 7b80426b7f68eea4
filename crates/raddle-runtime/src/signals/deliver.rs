//! Runs handlers at a schedule point, in the order in which the kernel runs them.
//!
//! Before a thread goes on in its own code, the kernel makes a frame for one signal after another, each on top of the
//! one before and under its mask. So of signals that wait together the last one runs first, unless the mask of an
//! earlier one holds it back; and what a handler's return lets through runs before what lies below. Here a frame is a
//! call, on the stack where the thread stands or on its alternate one.

use core::arch::asm;
use core::ffi::c_int;

use raddle_core::{EventKind, ThreadId};

use super::{alternate, fiber, kernel, Action, InfoHandler, PlainHandler, UNBLOCKABLE};
use crate::control::{self, point, scheduler, state};
use crate::os::sys;
use crate::switch::{another_stack, fibers};
use crate::syscall;

/// Runs the handlers of what is pending for a thread and not blocked.
#[cold]
pub fn deliver(me: ThreadId) {
    let mut first = true;
    while let Some(frame) = Frame::next(me) {
        let restarts = frame.action.flags & libc::SA_RESTART != 0;
        frame.run(me);
        if core::mem::take(&mut first) {
            // The lowest frame decides what becomes of the system call that was interrupted.
            // SAFETY: `me` holds the baton.
            unsafe { scheduler() }.thread(me).restarts = restarts;
        }
    }
    // SAFETY: as above.
    unsafe { scheduler() }.thread(me).signals = 0;
}

/// Changes the calling thread's mask, and what the kernel blocks with it.
pub fn change_mask(me: ThreadId, mask: u64) {
    // SAFETY: the caller holds the baton.
    unsafe {
        let before = core::mem::replace(&mut scheduler().thread(me).signal_mask, mask & !UNBLOCKABLE);
        if fibers() {
            fiber::masks_changed();
        } else {
            kernel::take_held_back(before & !mask);
            let real = mask & !super::reserved();
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &real as *const _, 0, 8);
        }
        kernel::take_from_kernel(scheduler());
    }
}

/// A handler that is to run.
struct Frame {
    action: Action,
    info: libc::siginfo_t,
    /// The mask that holds after it.
    mask_after: u64,
}

impl Frame {
    /// Takes the next signal that has a handler, and sets the handler's mask.
    fn next(me: ThreadId) -> Option<Frame> {
        loop {
            // SAFETY: `me` holds the baton.
            let it = unsafe { state() };
            let thread = it.scheduler.thread(me);
            let mut pending = it.signals.queue.take_for(me, thread.signal_mask)?;
            kernel::is_seen(&mut pending.info);
            let signal = pending.signal;
            let action = it.signals.actions[signal as usize];
            if !action.handled() {
                // It was blocked when it came.
                if action.handler == libc::SIG_DFL {
                    kernel::act_by_default(signal, pending.info);
                }
                continue;
            }
            let before = thread.signal_mask;
            let masked = core::mem::take(&mut thread.in_masked_call);
            let mask_after = if masked { thread.mask_after_call } else { before };
            change_mask(me, action.mask_on_top_of(signal, before));
            // SAFETY: as above.
            let it = unsafe { state() };
            if action.flags & libc::SA_RESETHAND != 0 {
                it.signals.actions[signal as usize].handler = libc::SIG_DFL;
                kernel::hook(signal, &it.signals.actions[signal as usize]);
            }
            return Some(Frame { action, info: pending.info, mask_after });
        }
    }

    fn run(mut self, me: ThreadId) {
        // SAFETY: `me` holds the baton.
        let thread = unsafe { scheduler() }.thread(me);
        let (interruptible, cancellable) = (thread.interruptible, thread.cancellable);
        thread.interruptible = false;
        thread.cancellable = false;
        let mut floats = FloatingPoint([0; 512]);
        let mut context = context_here(&mut floats);
        let mask = (&raw mut context.uc_sigmask).cast::<u64>();
        let stack = alternate::Program::of(me);
        let here = (&raw const self) as usize;
        context.uc_stack = stack.in_context();
        let top = stack.top_for(&self.action, here);
        stack.enter(me);
        let (frame, context) = (&raw mut self, &raw mut context);
        // SAFETY: the context is ours, and the alternate stack the program's.
        let mask = unsafe {
            mask.write((*frame).mask_after);
            match top {
                None => handle(frame, context, me),
                Some(top) => {
                    let arguments = [frame as usize, context as usize, me.index()];
                    another_stack::call(top, handle as *const () as usize, arguments);
                }
            }
            // The handler may have changed what holds after it.
            mask.read()
        };
        stack.leave(me, here);
        change_mask(me, mask);
        // SAFETY: `me` holds the baton again.
        let thread = unsafe { scheduler() }.thread(me);
        thread.handled = thread.handled.wrapping_add(1);
        thread.interruptible = interruptible;
        thread.cancellable = cancellable;
    }
}

/// Runs what lies on top of a frame, and then its handler, on the stack that the kernel would have chosen.
unsafe extern "C-unwind" fn handle(frame: *mut Frame, context: *mut libc::ucontext_t, me: ThreadId) {
    // SAFETY: the program's handler; nothing of ours is borrowed while it runs.
    unsafe {
        let (action, info) = ((*frame).action, &raw mut (*frame).info);
        deliver(me);
        point(me, EventKind::Handler, (*info).si_signo as usize);
        control::unlocked(me, || call(&action, (*info).si_signo, info, context.cast()));
    }
}

/// Calls a handler of the program.
pub(super) unsafe fn call(action: &Action, signal: c_int, info: *mut libc::siginfo_t, context: *mut core::ffi::c_void) {
    // SAFETY: the program's handler, of the kind that its flags say.
    unsafe {
        if action.flags & libc::SA_SIGINFO != 0 {
            core::mem::transmute::<usize, InfoHandler>(action.handler)(signal, info, context);
        } else {
            core::mem::transmute::<usize, PlainHandler>(action.handler)(signal);
        }
    }
}

/// What fxsave stores.
#[repr(C, align(16))]
struct FloatingPoint([u8; 512]);

/// A context as the kernel would give it to a handler: where the thread stands, as far as that is still known.
fn context_here(floats: &mut FloatingPoint) -> libc::ucontext_t {
    // SAFETY: plain numbers and pointers.
    let mut context: libc::ucontext_t = unsafe { core::mem::zeroed() };
    let registers = &mut context.uc_mcontext.gregs;
    // SAFETY: stores registers of the calling thread.
    unsafe {
        asm!(
            "mov [{to} + {rbx}], rbx", "mov [{to} + {rbp}], rbp", "mov [{to} + {rsp}], rsp",
            "mov [{to} + {r12}], r12", "mov [{to} + {r13}], r13", "mov [{to} + {r14}], r14",
            "mov [{to} + {r15}], r15", "lea {at}, [rip]", "mov [{to} + {rip}], {at}",
            "fxsave64 [{floats}]",
            to = in(reg) registers.as_mut_ptr(), floats = in(reg) floats, at = out(reg) _,
            rbx = const libc::REG_RBX * 8, rbp = const libc::REG_RBP * 8, rsp = const libc::REG_RSP * 8,
            r12 = const libc::REG_R12 * 8, r13 = const libc::REG_R13 * 8, r14 = const libc::REG_R14 * 8,
            r15 = const libc::REG_R15 * 8, rip = const libc::REG_RIP * 8,
            options(nostack, preserves_flags)
        );
    }
    context.uc_mcontext.fpregs = (&raw mut *floats).cast();
    context
}
