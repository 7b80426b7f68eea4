//! The last resort against code that spins without a schedule point.
//!
//! A timer of the process's own CPU time ticks; when a whole tick passes without a point, the
//! running thread is preempted where it stands. That depends on real time, so it is not
//! repeatable, and it is reported as having happened.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use raddle_core::EventKind;
use raddle_protocol::settings::flag;
use raddle_protocol::Escape;

use crate::control::{self, current, point, scheduler, LeaveOnDrop};
use crate::dispatch::text::own_contains;
use crate::os::sys;
use crate::points::{errno, set_errno};
use crate::signals::action;
use crate::{signals, syscall};

/// CPU time between two ticks. Long enough that ordinary computing between two points, which is
/// repeatable, is left alone.
const TICK_MICROSECONDS: i64 = 250_000;

/// What the kernel says of the signal of a timer: of the one that setitimer arms, and of one that timer_create has made.
const SI_KERNEL: c_int = 0x80;
/// See [`SI_KERNEL`].
const SI_TIMER: c_int = -2;

/// CPU time until a signal that has come from outside interrupts code without points: it is looked at once to see where
/// the code is, and once to see whether it is still there.
const SOON_MICROSECONDS: i64 = 4_000;

struct LastPoints(UnsafeCell<u64>);

// SAFETY: touched by the handler only, which runs on one thread at a time: the one that burns CPU.
unsafe impl Sync for LastPoints {}

static LAST_POINTS: LastPoints = LastPoints(UnsafeCell::new(u64::MAX));

/// A signal from outside waits for the next tick or the next look, whichever is first.
static HURRIES: AtomicBool = AtomicBool::new(false);

/// A tick came on top of another SIGVTALRM, whose handler has not started.
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// The kernel's timer that ticks while the program has ITIMER_VIRTUAL for itself, plus one; 0 while we have that.
static OWN_TIMER: AtomicU32 = AtomicU32::new(0);

fn is_enabled() -> bool {
    control::block().is_some_and(|block| block.settings.flags & flag::NO_TICK == 0)
}

/// Installs the handler: a fork copies it.
pub fn install() {
    if is_enabled() {
        signals::reserve(libc::SIGVTALRM);
        action::install(libc::SIGVTALRM, handler(), libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER, 0);
    }
}

/// Where the kernel starts at a tick.
pub fn handler() -> usize {
    on_tick as *const () as usize
}

/// Starts the timer for this run: a fork does not copy it.
#[link_section = "raddle_run"]
pub fn start() {
    if is_enabled() {
        tick_after(TICK_MICROSECONDS);
    }
}

/// Ticks for the first time after so much CPU time, and then as always.
fn tick_after(microseconds: i64) {
    let timeval = |microseconds| libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: timeval(TICK_MICROSECONDS), it_value: timeval(microseconds) };
    // SAFETY: reads the times only.
    unsafe {
        match OWN_TIMER.load(Ordering::Relaxed) {
            0 => syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &timer as *const _, 0),
            own => {
                let timespec = |time: libc::timeval| sys::timespec(time.tv_usec as u64 * 1000);
                let times = [timespec(timer.it_interval), timespec(timer.it_value)];
                syscall!(libc::SYS_timer_settime, own - 1, 0, times.as_ptr(), 0)
            }
        };
    }
}

/// The program uses ITIMER_VIRTUAL itself: from now on another timer ticks. Returns whether it has been ours so far.
pub fn leave_virtual_timer() -> bool {
    if !is_enabled() || OWN_TIMER.load(Ordering::Relaxed) != 0 {
        return false;
    }
    /// The kernel's structure: the value, the signal, the kind of notification, and what other kinds need.
    #[repr(C)]
    struct Event {
        value: usize,
        signal: c_int,
        kind: c_int,
        unused: [u64; 6],
    }
    let event = Event { value: cookie(), signal: libc::SIGVTALRM, kind: libc::SIGEV_SIGNAL, unused: [0; 6] };
    let none = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
    };
    // SAFETY: the kernel reads the structures and writes the number.
    unsafe {
        let mut timer = 0u32;
        let clock = libc::CLOCK_PROCESS_CPUTIME_ID;
        if syscall!(libc::SYS_timer_create, clock, &event as *const _, &mut timer as *mut _) == 0 {
            OWN_TIMER.store(timer + 1, Ordering::Relaxed);
            tick_after(TICK_MICROSECONDS);
        }
        syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &none as *const _, 0);
    }
    true
}

/// Whether the program's ITIMER_VIRTUAL, which it has never set, is ours.
pub fn has_virtual_timer() -> bool {
    is_enabled() && OWN_TIMER.load(Ordering::Relaxed) == 0
}

/// What our timer sends along.
fn cookie() -> usize {
    &raw const HURRIES as usize
}

/// Whether a SIGVTALRM is a tick.
unsafe fn is_tick(info: *const libc::siginfo_t) -> bool {
    // SAFETY: the kernel's information; a timer sends a value.
    unsafe {
        match OWN_TIMER.load(Ordering::Relaxed) {
            0 => (*info).si_code == SI_KERNEL,
            _ => (*info).si_code == SI_TIMER && (*info).si_value().sival_ptr as usize == cookie(),
        }
    }
}

/// A signal has come from outside. Points may be far away, or there may never be another one.
pub fn hurry() {
    if is_enabled() && !HURRIES.swap(true, Ordering::Relaxed) {
        tick_after(SOON_MICROSECONDS);
    }
}

unsafe extern "C" fn on_tick(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's context of this signal.
    let at = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] } as usize;
    // SAFETY: the kernel's arguments.
    unsafe {
        let tick = is_tick(info);
        if !tick {
            signals::kernel::on_programs_own(signal, info, context);
        }
        if at == handler() {
            // Two came at once, and the frame of the other one lies below.
            return DEFERRED.store(tick, Ordering::Relaxed);
        }
        if !DEFERRED.swap(false, Ordering::Relaxed) && !tick {
            return;
        }
    }
    let hurries = HURRIES.load(Ordering::Relaxed) && !control::mailbox().is_empty();
    HURRIES.store(hurries, Ordering::Relaxed);
    if hurries {
        tick_after(SOON_MICROSECONDS);
    }
    // The runtime is never entered twice; it makes points of its own accord.
    if own_contains(at) {
        return;
    }
    let Some(me) = current() else { return };
    let _leave = LeaveOnDrop::armed();
    // SAFETY: `me` runs the program's own code, so it holds the baton and nothing is borrowed.
    unsafe {
        // `current` has accounted for a lease.
        let points = scheduler().results().points;
        let seen = LAST_POINTS.0.get().replace(points);
        if seen != points {
            return;
        }
        let before = errno();
        scheduler().escaped(Escape::Tick);
        if hurries {
            signals::kernel::look(scheduler());
        }
        // So much time has passed that no point has told of.
        let passed = if hurries { SOON_MICROSECONDS } else { TICK_MICROSECONDS };
        scheduler().time_passes(passed as u64 * 1000);
        scheduler().made_no_progress(me);
        point(me, EventKind::Yield, 0);
        LAST_POINTS.0.get().write(scheduler().results().points);
        set_errno(before);
        if crate::switch::fibers() {
            signals::fiber::before_return(context);
        }
    }
}
