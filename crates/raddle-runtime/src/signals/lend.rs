//! Signals that wait in the model, lent to the kernel while it is asked about descriptors: a signalfd shows what waits in
//! the kernel for the OS thread that asks.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use raddle_core::ThreadId;

use super::bit;
use super::queue::Pending;
use crate::control::{scheduler, state};
use crate::os::sys;
use crate::syscall;

/// The program has made a descriptor that shows signals.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// The most signals that are lent at once.
const MOST: usize = 64;

/// The program makes a descriptor that shows signals.
pub fn are_shown() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Asks the kernel about descriptors on behalf of a thread.
#[inline]
pub fn lent<R>(t: ThreadId, ask: impl FnOnce() -> R) -> R {
    if !SHOWN.load(Ordering::Relaxed) {
        return ask();
    }
    let loan = Loan::take_out(t);
    let answer = ask();
    loan.pay_back();
    answer
}

/// What the kernel has for now.
struct Loan {
    signals: [MaybeUninit<Pending>; MOST],
    count: usize,
    /// What the OS thread blocked before.
    mask: u64,
}

impl Loan {
    fn take_out(t: ThreadId) -> Loan {
        let mut loan = Loan { signals: [const { MaybeUninit::uninit() }; MOST], count: 0, mask: 0 };
        // SAFETY: the caller holds the baton; a signal to the calling OS thread, which blocks it.
        unsafe {
            let blocked = scheduler().threads[t.index()].signal_mask;
            let set = state().signals.queue.waiting_for(t) & blocked;
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_BLOCK, &set as *const _, &mut loan.mask as *mut _, 8);
            let mut left = set;
            while let Some(pending) = state().signals.queue.take_for(t, !left).filter(|_| loan.count < MOST) {
                // A standard signal can wait once only.
                left &= if pending.signal < 32 { !bit(pending.signal) } else { u64::MAX };
                let (info, us) = (&raw const pending.info, sys::getpid());
                syscall!(libc::SYS_rt_tgsigqueueinfo, us, sys::gettid(), pending.signal, info);
                loan.signals[loan.count].write(pending);
                loan.count += 1;
            }
        }
        loan
    }

    /// Takes back what nobody has read.
    fn pay_back(self) {
        let none = sys::timespec(0);
        for lent in &self.signals[..self.count] {
            // SAFETY: written before; the kernel writes the information.
            unsafe {
                let mut lent = lent.assume_init();
                let (set, info) = (bit(lent.signal), &raw mut lent.info);
                if syscall!(libc::SYS_rt_sigtimedwait, &set as *const _, info, &none as *const _, 8) > 0 {
                    state().signals.queue.put_back(lent);
                }
            }
        }
        // SAFETY: reads the mask only.
        unsafe { syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &self.mask as *const _, 0, 8) };
    }
}
