//! The last resort against code that spins without a schedule point.
//!
//! A timer of the process's own CPU time ticks. When the running thread has passed no point for some ticks, it is
//! preempted where it stands, and lets others go first. That depends on real time, so it is not repeatable, and it is
//! reported as having happened. Once it has, there is less to lose: from then on threads are preempted sooner, and also
//! when they pass a point now and then. Two threads that spin for each other are often of both kinds: one only reads, the
//! other takes a lock after every million reads.
//!
//! The virtual clock moves on by the CPU time that the thread has used, no more and no less: whether it spins or computes
//! is not known, and a thread that sleeps beside one that computes must not wake up too early.
//!
//! A signal that has come from outside is delivered by the next tick that finds the thread where the last one did.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use raddle_core::ThreadId;
use raddle_protocol::settings::flag;
use raddle_protocol::Escape;

use crate::access::spin_loop;
use crate::control::{self, current, scheduler, LeaveOnDrop};
use crate::dispatch::text::own_contains;
use crate::os::sys;
use crate::points::{errno, restartable, set_errno};
use crate::signals::action;
use crate::{signals, syscall};

/// Nanoseconds of CPU time between two ticks.
const TICK: u64 = 10_000_000;
/// The same, when patience is worn out: as often as the kernel does it.
const SHORT_TICK: u64 = 1_000_000;
/// Ticks without a point after which a thread is preempted for the first time: a quarter of a second, so that ordinary
/// computing between two points, which is repeatable, is left alone.
const PATIENCE: u64 = 25;
/// Preemptions after which one tick is enough.
const WORN_OUT: u32 = PATIENCE.ilog2();
/// A thread that was preempted goes on when others have passed so many points, as a power of two, or cannot go on.
const MOST_POINTS: u32 = 6;

struct Watch {
    /// The number of points at the last tick.
    points: u64,
    /// Ticks since then, without a point.
    silent: u64,
    /// The CPU time at the last tick with a point.
    since: u64,
    /// The thread that was running at the last tick.
    thread: ThreadId,
    /// Ticks that have found the same thread.
    runs: u64,
    /// Ticks of all threads that were preempted, until they count as an operation without progress.
    owed: u64,
    /// How often a thread was preempted.
    preempted: u32,
}

struct Cell(UnsafeCell<Watch>);

// SAFETY: touched by the handler only, which runs on one thread at a time: the one that burns CPU.
unsafe impl Sync for Cell {}

static WATCH: Cell = Cell(UnsafeCell::new(Watch::NEW));

impl Watch {
    const NEW: Watch =
        Watch { points: u64::MAX, silent: 0, since: 0, thread: ThreadId::MAIN, runs: 0, owed: 0, preempted: 0 };

    /// A tick at which the run has passed this number of points and used `cpu` nanoseconds, and `thread` runs. Returns
    /// for how many of them that has been silent, if it is to be preempted.
    fn tick(&mut self, points: u64, cpu: u64, thread: ThreadId, hurries: bool) -> Option<u64> {
        let passed = core::mem::replace(&mut self.points, points) != points;
        let other = core::mem::replace(&mut self.thread, thread) != thread;
        self.silent = if passed { 0 } else { self.silent + 1 };
        if passed {
            self.since = cpu;
        }
        self.runs = if other { 1 } else { self.runs + 1 };
        let patience = PATIENCE >> self.preempted.min(WORN_OUT);
        let long = self.silent >= patience || self.preempted > 0 && self.runs >= patience;
        (long || hurries && !passed).then(|| cpu - core::mem::replace(&mut self.since, cpu))
    }

    /// A thread that was preempted goes on. What was passed meanwhile is no sign of life.
    fn resume(&mut self, points: u64, cpu: u64) {
        (self.points, self.since) = (points, cpu);
    }

    /// A thread is preempted. Returns whether that is to count as an operation without progress.
    fn preempt(&mut self) -> bool {
        self.preempted += 1;
        self.runs = 0;
        self.owed += core::mem::take(&mut self.silent);
        let counts = self.owed >= PATIENCE;
        self.owed %= PATIENCE;
        counts
    }
}

/// What the kernel says of the signal of a timer: of the one that setitimer arms, and of one that timer_create has made.
const SI_KERNEL: c_int = 0x80;
/// See [`SI_KERNEL`].
const SI_TIMER: c_int = -2;

/// A signal from outside waits for the next tick or the next look, whichever is first.
static HURRIES: AtomicBool = AtomicBool::new(false);

/// A tick came on top of another SIGVTALRM, whose handler has not started.
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// The kernel's timer that ticks while the program has ITIMER_VIRTUAL for itself, plus one; 0 while we have that.
static OWN_TIMER: AtomicU32 = AtomicU32::new(0);

const NOT_ARMED: libc::itimerval = libc::itimerval {
    it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
    it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
};

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
        start_ticking(TICK);
    }
}

/// Stops it, before another program takes the place of this one: the kernel keeps timers of this kind then.
pub(super) fn stop() {
    if has_virtual_timer() {
        // SAFETY: reads the times only.
        unsafe { syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &NOT_ARMED as *const _, 0) };
    }
}

/// Ticks from now on, at intervals in nanoseconds.
fn start_ticking(every: u64) {
    let tick = libc::timeval { tv_sec: 0, tv_usec: every as i64 / 1000 };
    let timer = libc::itimerval { it_interval: tick, it_value: tick };
    // SAFETY: reads the times only.
    unsafe {
        match OWN_TIMER.load(Ordering::Relaxed) {
            0 => syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &timer as *const _, 0),
            own => {
                let times = [sys::timespec(every); 2];
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
    // SAFETY: the kernel reads the structures and writes the number.
    unsafe {
        let mut timer = 0u32;
        let clock = libc::CLOCK_PROCESS_CPUTIME_ID;
        if syscall!(libc::SYS_timer_create, clock, &event as *const _, &mut timer as *mut _) == 0 {
            OWN_TIMER.store(timer + 1, Ordering::Relaxed);
            start_ticking(TICK);
        }
        syscall!(libc::SYS_setitimer, libc::ITIMER_VIRTUAL, &NOT_ARMED as *const _, 0);
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

/// The CPU time that was used. The program does not learn it, so that it may be in the same state again.
fn cpu_time() -> u64 {
    sys::unseen(sys::cpu_time)
}

/// A signal has come from outside. Points may be far away, or there may never be another one.
pub fn hurry() {
    HURRIES.store(true, Ordering::Relaxed);
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
    // The runtime is never entered twice; it makes points of its own accord.
    if own_contains(at) {
        return;
    }
    let Some(me) = current() else { return };
    let _leave = LeaveOnDrop::armed();
    // SAFETY: `me` runs the program's own code, so it holds the baton and nothing is borrowed.
    unsafe {
        // `current` has accounted for a lease.
        if restartable::is_inside(me, at) {
            return;
        }
        let s = scheduler();
        // Threads that wait for the outside should not wait until this one has passed many points, either.
        s.look_outside();
        let watch = &mut *WATCH.0.get();
        let Some(silent) = watch.tick(s.results().points, cpu_time(), me, hurries) else { return };
        let before = errno();
        s.escaped(Escape::Tick);
        s.shared_block().control.preemptions.fetch_add(1, Ordering::Relaxed);
        s.real_time_passed(silent);
        signals::kernel::look(s);
        let counts = watch.preempt();
        if watch.preempted == WORN_OUT {
            start_ticking(SHORT_TICK);
        }
        if counts {
            s.made_no_progress(me);
        } else {
            s.spins_silently(me);
        }
        let points = 1 << s.thread(me).spins.min(MOST_POINTS);
        spin_loop::let_others_go_first(me, points);
        (*WATCH.0.get()).resume(scheduler().results().points, cpu_time());
        if scheduler().thread(me).signals != 0 {
            signals::deliver::deliver(me);
        }
        set_errno(before);
        if crate::switch::fibers() {
            signals::fiber::before_return(context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: ThreadId = ThreadId(1);

    /// How many ticks each of these preemptions takes, of threads that pass no point.
    fn patience(preemptions: usize) -> Vec<u64> {
        let mut watch = Watch { points: 0, ..Watch::NEW };
        let one = |_| {
            let ticks = (1..).find(|_| watch.tick(0, 0, OTHER, false).is_some());
            watch.preempt();
            ticks.unwrap_or(0)
        };
        (0..preemptions).map(one).collect()
    }

    #[test]
    fn patience_wears_out() {
        assert_eq!(patience(7), [25, 12, 6, 3, 1, 1, 1]);
    }

    #[test]
    fn silence_is_measured() {
        let mut watch = Watch { points: 7, preempted: WORN_OUT - 1, ..Watch::NEW };
        assert_eq!(watch.tick(8, 30, OTHER, false), None);
        assert_eq!(watch.tick(8, 40, OTHER, false), None);
        assert_eq!(watch.tick(8, 55, OTHER, false), Some(25));
        watch.preempt();
        watch.resume(9, 57);
        assert_eq!(watch.tick(9, 60, OTHER, false), Some(3), "the preemption was a point, too");
    }

    #[test]
    fn a_point_is_a_sign_of_life() {
        let mut watch = Watch { points: 0, ..Watch::NEW };
        assert!((0..1000).all(|tick| watch.tick(tick / 20, 0, OTHER, false).is_none()));
    }

    #[test]
    fn it_is_not_after_a_preemption() {
        let mut watch = Watch { points: 0, preempted: 2, ..Watch::NEW };
        let preempted: Vec<u64> = (1..20)
            .filter(|&tick| {
                let long = watch.tick(tick, 0, OTHER, false).is_some();
                if long {
                    watch.runs = 0;
                }
                long
            })
            .collect();
        assert_eq!(preempted, [6, 12, 18]);
        let mut turns = |tick: u64| watch.tick(100 + tick, 0, ThreadId(tick as u16 / 5 % 2), false);
        assert!((0..100).all(|tick| turns(tick).is_none()), "they take turns");
    }
}
