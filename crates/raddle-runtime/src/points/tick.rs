//! The last resort against code that spins without a schedule point.
//!
//! A timer of the process's own CPU time ticks; when a whole tick passes without a point, the
//! running thread is preempted where it stands. That depends on real time, so it is not
//! repeatable, and it is reported as having happened.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};

use raddle_core::EventKind;
use raddle_protocol::settings::flag;
use raddle_protocol::Escape;

use crate::control::{self, current, point, scheduler, LeaveOnDrop};
use crate::dispatch::text::own_contains;
use crate::points::{errno, restartable, set_errno};
use crate::signals::action::install;
use crate::syscall;

/// CPU time between two ticks. Long enough that ordinary computing between two points, which is
/// repeatable, is left alone.
const TICK_MICROSECONDS: i64 = 250_000;

struct LastPoints(UnsafeCell<u64>);

// SAFETY: touched by the handler only, which runs on one thread at a time: the one that burns CPU.
unsafe impl Sync for LastPoints {}

static LAST_POINTS: LastPoints = LastPoints(UnsafeCell::new(u64::MAX));

fn is_enabled() -> bool {
    control::block().is_some_and(|block| block.settings.flags & flag::NO_TICK == 0)
}

/// Installs the handler: a fork copies it.
pub fn prepare() {
    if is_enabled() {
        install(libc::SIGVTALRM, on_tick as *const () as usize, libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER);
    }
}

/// Starts the timer for this run: a fork does not copy it.
#[link_section = "raddle_run"]
pub fn start() {
    if !is_enabled() {
        return;
    }
    set(TICK_MICROSECONDS);
}

/// Stops it, before another program takes the place of this one: the kernel keeps timers then.
pub(super) fn stop() {
    if is_enabled() {
        set(0);
    }
}

#[link_section = "raddle_run"]
fn set(microseconds: i64) {
    let tick = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: tick, it_value: tick };
    // SAFETY: reads the timer only.
    unsafe { syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &timer as *const _, 0) };
}

unsafe extern "C" fn on_tick(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's context of this signal.
    let at = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] } as usize;
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
        if restartable::is_inside(me, at) {
            return;
        }
        let before = errno();
        scheduler().escaped(Escape::Tick);
        scheduler().made_no_progress(me);
        point(me, EventKind::Yield, 0);
        LAST_POINTS.0.get().write(scheduler().results().points);
        set_errno(before);
        if crate::switch::fibers() {
            crate::signals::fiber::before_return(context);
        }
    }
}
