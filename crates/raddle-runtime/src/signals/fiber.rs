//! Signal masks of fibers. The one OS thread blocks what every living thread blocks, so that the kernel
//! delivers whatever a thread would take.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

use raddle_core::ThreadId;

use super::action::SIGCANCEL;
use super::{kernel, reserved};
use crate::control::scheduler;
use crate::os::sys;
use crate::scheduler::thread::{Life, Thread};
use crate::syscall;

/// What the OS thread blocks now.
static REAL_MASK: AtomicU64 = AtomicU64::new(0);

/// Before the run starts the OS thread has the main thread's mask.
pub fn adopt_main(mask: u64) {
    // libc's signal for cancellation cannot reach a fiber.
    set_real_mask(mask | SIGCANCEL);
}

fn set_real_mask(mask: u64) {
    let mask = mask & !reserved();
    let before = REAL_MASK.swap(mask, Ordering::Relaxed);
    if before != mask {
        kernel::take_held_back(before & !mask);
        set_again();
    }
}

/// libc has created a thread: the first time, it unblocks the signals that it uses itself.
pub fn set_again() {
    let mask = REAL_MASK.load(Ordering::Relaxed);
    // SAFETY: reads the mask only.
    unsafe { syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &mask as *const _, 0, 8) };
}

/// A thread's mask has changed, or a thread has ended: the OS thread blocks what all of them block.
pub fn masks_changed() {
    // SAFETY: the caller holds the baton.
    let s = unsafe { scheduler() };
    let living = |t: &&Thread| t.life == Life::Alive;
    let common = s.threads[..s.created].iter().filter(living).fold(u64::MAX, |mask, t| mask & t.signal_mask);
    set_real_mask(common | SIGCANCEL);
}

/// A child process inherits the mask of the thread that makes it.
pub fn lend_mask(me: ThreadId) {
    // SAFETY: the caller holds the baton.
    set_real_mask(unsafe { scheduler() }.threads[me.index()].signal_mask);
}

/// A handler in which threads may have been switched returns: the kernel is told what holds now, not
/// what held when the signal came.
pub fn before_return(context: *mut c_void) {
    // SAFETY: the kernel's context of this signal.
    unsafe {
        let context = context.cast::<libc::ucontext_t>();
        (&raw mut (*context).uc_sigmask).cast::<u64>().write(REAL_MASK.load(Ordering::Relaxed));
    }
}
