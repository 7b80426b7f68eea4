//! The handlers that the kernel knows, and the way from there to the program's own.

use core::arch::global_asm;
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::{Escape, Outcome};

use super::action::{install, set_action, KernelAction};
use super::{alternate, bit, eligible, fiber, notify, own_info, Action, InfoHandler, PlainHandler, SIGNALS};
use crate::control::{self, point, scheduler, state, Mode};
use crate::os::sys;
use crate::process::failure;
use crate::scheduler::Scheduler;
use crate::switch::{fibers, gate};
use crate::syscall;

/// Signals that the kernel raises at an instruction of the running thread.
const FAULTS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP];

/// Whether a signal is one of those.
pub fn is_fault(signal: c_int) -> bool {
    FAULTS.contains(&signal)
}

/// What the kernel has delivered and the scheduler has not taken yet. Written by handlers on any thread. Valid when
/// zeroed.
pub struct Mailbox {
    slots: [Slot; 64],
    arrivals: AtomicU64,
}

struct Slot {
    /// 0 free, 1 being written, 2 full.
    state: AtomicU32,
    letter: UnsafeCell<MaybeUninit<Letter>>,
}

#[derive(Clone, Copy)]
struct Letter {
    number: u64,
    pointer: usize,
    info: libc::siginfo_t,
}

// SAFETY: a slot is written by the thread that moved it from 0 to 1 and read by the one that moves it
// from 2 to 0.
unsafe impl Sync for Mailbox {}

impl Mailbox {
    fn post(&self, info: libc::siginfo_t) {
        let number = self.arrivals.fetch_add(1, Ordering::Relaxed);
        let letter = Letter { number, pointer: sys::thread_pointer(), info };
        for slot in &self.slots {
            if slot.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                // SAFETY: ours since the exchange.
                unsafe { (*slot.letter.get()).write(letter) };
                slot.state.store(2, Ordering::Release);
                return;
            }
        }
        // Full: standard signals may be lost when many come at once, as in the kernel.
    }

    fn take(&self) -> Option<Letter> {
        let full = |s: &&Slot| s.state.load(Ordering::Acquire) == 2;
        // SAFETY: full slots have been written and are read by the holder of the baton only.
        let read = |s: &Slot| unsafe { (*s.letter.get()).assume_init() };
        let slot = self.slots.iter().filter(full).min_by_key(|s| read(s).number)?;
        let letter = read(slot);
        slot.state.store(0, Ordering::Release);
        Some(letter)
    }

    fn is_empty(&self) -> bool {
        self.slots.iter().all(|s| s.state.load(Ordering::Relaxed) != 2)
    }
}

/// An asynchronous signal: only noted.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    unsafe {
        if control::mode() != Mode::Controlled {
            return run_plainly(signal, info, context);
        }
        control::mailbox().post(*info);
    }
}

/// In a forked child, or after the last thread: the program's handler runs at once.
unsafe fn run_plainly(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments, and a handler that the program installed.
    unsafe {
        let action = state().signals.actions[signal as usize];
        if action.handled() {
            call(&action, signal, info, context);
        }
    }
}

/// Calls a handler of the program.
unsafe fn call(action: &Action, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the program's handler, of the kind that its flags say.
    unsafe {
        if action.flags & libc::SA_SIGINFO != 0 {
            core::mem::transmute::<usize, InfoHandler>(action.handler)(signal, info, context);
        } else {
            core::mem::transmute::<usize, PlainHandler>(action.handler)(signal);
        }
    }
}

/// A fault at an instruction of the running thread: goes through at once.
unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments; the thread that faults runs, so it holds the baton, or it is
    // outside control and nothing of the scheduler is touched.
    unsafe {
        if signal == libc::SIGTRAP && control::mode() != Mode::Before && crate::points::sync_function::on_trap(context)
        {
            if fibers() {
                fiber::before_return(context);
            }
            return;
        }
        gate::seize();
        let action =
            if control::block().is_some() { state().signals.actions[signal as usize] } else { Action::default() };
        if action.handled() && !alternate::overflowed() {
            if action.flags & libc::SA_RESETHAND != 0 {
                state().signals.actions[signal as usize] = Action::default();
            }
            if signal != libc::SIGTRAP && control::mode() == Mode::Controlled {
                alternate::redeliver(&action, signal, info, context);
            }
            control::leave_for_good();
            return call(&action, signal, info, context);
        }
        if action.handler == libc::SIG_IGN && (*info).si_code <= 0 {
            return control::leave_for_good();
        }
        if control::mode() == Mode::Controlled {
            report(signal, info);
        }
        // Die as the program would have died.
        set_action(signal, &KernelAction { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 });
        let unblock = bit(signal);
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &unblock as *const _, 0, 8);
        if (*info).si_code <= 0 {
            syscall!(sys::SYS_tgkill, sys::getpid(), sys::gettid(), signal);
        }
    }
}

unsafe fn report(signal: c_int, info: *mut libc::siginfo_t) {
    // SAFETY: the run is over; the results are only added to.
    unsafe {
        let s = scheduler();
        let me = scheduler().pointers.get(sys::thread_pointer()).unwrap_or(s.current);
        let assertion = s.results().outcome == Outcome::Assert as u32;
        s.results().thread = u32::from(me.0);
        s.results().signal = signal;
        // A signal that was sent has no address.
        s.results().address = if (*info).si_code > 0 { (*info).si_addr() as u64 } else { 0 };
        failure::record(s, if assertion { Outcome::Assert } else { Outcome::Signal });
        failure::freeze(s.shared_block());
    }
}

/// Takes over the signals: those that the program already handles, and the faults. Done before the
/// fork server starts, so that its children have it done.
pub fn take_over() {
    // SAFETY: there is one thread.
    let actions = unsafe { &mut state().signals.actions };
    for signal in 1..SIGNALS as c_int {
        let mut old = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: the kernel writes the action.
        unsafe { syscall!(sys::SYS_rt_sigaction, signal, 0, &mut old as *mut _, 8) };
        if signal == libc::SIGSYS || old.handler == on_fault as *const () as usize {
            continue;
        }
        let action = Action { handler: old.handler, flags: old.flags as c_int, mask: old.mask };
        actions[signal as usize] = action;
        if action.handled() {
            hook(signal, &action);
        }
    }
    for signal in FAULTS {
        let action = actions[signal as usize];
        if !action.handled() {
            hook(signal, &action);
        }
    }
}

/// The main thread's mask and alternate stack at the start of a run.
pub fn adopt_main() {
    let mut mask = 0u64;
    // SAFETY: the kernel writes the mask.
    unsafe {
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, 0, &mut mask as *mut _, 8);
        scheduler().thread(ThreadId::MAIN).signal_mask = mask;
        if fibers() {
            fiber::adopt_main(mask);
        }
    }
    alternate::adopt(ThreadId::MAIN);
}

/// A thread has its first turn on its OS thread: SIGSYS must not be blocked, whatever it inherited.
pub fn adopt(me: ThreadId) {
    alternate::adopt(me);
    let unblock = bit(libc::SIGSYS);
    // SAFETY: reads the mask only.
    unsafe { syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &unblock as *const _, 0, 8) };
}

/// Tells the kernel what to do on a signal that the program wants to handle like this.
pub fn hook(signal: c_int, action: &Action) {
    let kept = action.flags & (libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT);
    // The alternate stack is ours. Threads are switched in the handler of breakpoints, which must
    // therefore stay on the thread's own stack.
    let ours = if signal == libc::SIGTRAP { 0 } else { libc::SA_ONSTACK };
    let flags = libc::SA_SIGINFO | libc::SA_NODEFER | kept | ours;
    if is_fault(signal) && action.handler != libc::SIG_IGN {
        install(signal, on_fault as *const () as usize, flags);
    } else if action.handled() {
        install(signal, on_signal as *const () as usize, flags | libc::SA_RESTART);
    } else {
        let plain = KernelAction { handler: action.handler, flags: kept as u64, restorer: 0, mask: 0 };
        set_action(signal, &plain);
    }
}

/// Sends a signal of this process to itself or one of its threads, through the model.
pub fn send(target: Option<ThreadId>, signal: c_int, info: libc::siginfo_t) {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    it.signals.enqueue(signal, target, info);
    if let Some(t) = target.or_else(|| eligible(&it.scheduler, signal)) {
        if it.scheduler.threads[t.index()].signal_mask & bit(signal) == 0 {
            notify(&mut it.scheduler, t);
        }
    }
}

/// Takes what the kernel has delivered since the last look. Returns whether there was anything.
pub fn take_from_kernel(_scheduler: &mut Scheduler) -> bool {
    let mut any = false;
    while let Some(letter) = control::mailbox().take() {
        any = true;
        // SAFETY: the caller holds the baton.
        let known = unsafe { scheduler() }.pointers.get(letter.pointer);
        const SI_TKILL: c_int = -6;
        const SI_TIMER: c_int = -2;
        // Codes of descriptors that signal (POLL_IN to POLL_HUP).
        const FROM_DESCRIPTOR: core::ops::RangeInclusive<c_int> = 1..=6;
        // Another process names the OS thread, which is the main thread's.
        let known = if fibers() { Some(ThreadId::MAIN) } else { known };
        // Timers and descriptors may have been told to signal one thread: then the kernel chose it.
        let code = letter.info.si_code;
        let chosen = code == SI_TIMER || FROM_DESCRIPTOR.contains(&code) && letter.info.si_signo != libc::SIGCHLD;
        let target = if code == SI_TKILL || chosen && !fibers() { known } else { None };
        send(target, letter.info.si_signo, letter.info);
    }
    any
}

/// Polls for signals from outside while threads can run.
pub fn look(s: &mut Scheduler) {
    if !control::mailbox().is_empty() && take_from_kernel(s) {
        s.escaped(Escape::OutsideInput);
    }
}

/// Whether a signal may still come from outside: a timer of the kernel's is armed, or a child runs
/// whose end is a signal with a handler.
pub fn expected(scheduler: &Scheduler) -> bool {
    // SAFETY: the caller holds the baton.
    let signals = unsafe { &state().signals };
    if signals.kernel_timer {
        return true;
    }
    scheduler.open_world && signals.actions[libc::SIGCHLD as usize].handled() && child_runs()
}

fn child_runs() -> bool {
    // SAFETY: the kernel writes the information.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let result = syscall!(libc::SYS_waitid, libc::P_ALL, 0, &mut info as *mut _, options, 0);
        result == 0 && info.si_pid() == 0
    }
}

/// Time has passed: the alarm may be due.
#[inline]
pub fn expire(scheduler: &mut Scheduler) {
    // SAFETY: the caller holds the baton.
    let alarm = unsafe { state() }.signals.alarm;
    if alarm != 0 && scheduler.clock.now() >= alarm - 1 {
        alarm_is_due(scheduler);
    }
}

#[cold]
fn alarm_is_due(scheduler: &mut Scheduler) {
    // SAFETY: the caller holds the baton.
    let signals = unsafe { &mut state().signals };
    signals.alarm = match signals.alarm_interval {
        0 => 0,
        interval => scheduler.clock.now() + interval + 1,
    };
    if signals.actions[libc::SIGALRM as usize].handled() {
        const SI_KERNEL: c_int = 0x80;
        send(None, libc::SIGALRM, own_info(libc::SIGALRM, SI_KERNEL));
    } else {
        // SAFETY: the default action ends the process; an ignored one does nothing.
        unsafe { syscall!(sys::SYS_kill, sys::getpid(), libc::SIGALRM) };
    }
}

pub fn next_alarm() -> u64 {
    // SAFETY: the caller holds the baton.
    super::next_alarm(unsafe { &state().signals })
}

global_asm!(
    // raddle_on_stack(top, function, a, b, c): calls a function on another stack.
    ".globl raddle_on_stack",
    ".hidden raddle_on_stack",
    ".type raddle_on_stack,@function",
    "raddle_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "and rsp, -16",
    "mov rax, rsi",
    "mov rdi, rdx",
    "mov rsi, rcx",
    "mov rdx, r8",
    "call rax",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
);

extern "C-unwind" {
    fn raddle_on_stack(top: usize, function: usize, a: usize, b: usize, c: usize);
}

/// Runs the handlers of what is pending for a thread, at one of its schedule points.
#[cold]
pub fn deliver(me: ThreadId) {
    loop {
        // SAFETY: `me` holds the baton.
        let it = unsafe { state() };
        let mask = it.scheduler.threads[me.index()].signal_mask;
        let Some(pending) = it.signals.take_for(me, mask) else {
            it.scheduler.thread(me).signals = 0;
            return;
        };
        let signal = pending.signal;
        let action = it.signals.actions[signal as usize];
        if !action.handled() {
            if action.handler == libc::SIG_DFL {
                // It was blocked when it came: the kernel knows the default action.
                // SAFETY: the thread's own id.
                unsafe { syscall!(sys::SYS_tgkill, sys::getpid(), sys::gettid(), signal) };
            }
            continue;
        }
        if action.flags & libc::SA_RESETHAND != 0 {
            it.signals.actions[signal as usize] = Action::default();
            hook(signal, &Action::default());
        }
        let deferred = if action.flags & libc::SA_NODEFER == 0 { bit(signal) } else { 0 };
        let thread = it.scheduler.thread(me);
        thread.signal_mask = mask | action.mask | deferred;
        thread.restarts = action.flags & libc::SA_RESTART != 0;
        // More may wait, except for what is blocked now.
        let (interruptible, cancellable) = (thread.interruptible, thread.cancellable);
        thread.interruptible = false;
        thread.cancellable = false;
        point(me, EventKind::Handler, signal as usize);
        // SAFETY: the program's handler; nothing of ours is borrowed while it runs.
        unsafe { run_handler(me, &action, pending.info, mask) };
        // SAFETY: `me` holds the baton again.
        let thread = unsafe { scheduler() }.thread(me);
        thread.signal_mask = mask;
        if fibers() {
            fiber::masks_changed();
        }
        let thread = unsafe { scheduler() }.thread(me);
        thread.handled = thread.handled.wrapping_add(1);
        thread.interruptible = interruptible;
        thread.cancellable = cancellable;
    }
}

unsafe fn run_handler(me: ThreadId, action: &Action, mut info: libc::siginfo_t, mask: u64) {
    // SAFETY: the program's handler and alternate stack.
    unsafe {
        let mut context: libc::ucontext_t = core::mem::zeroed();
        (&raw mut context.uc_sigmask).cast::<u64>().write(mask);
        let errno = crate::points::errno();
        let stack = scheduler().threads[me.index()].alternate_stack;
        let here = (&raw const info) as usize;
        let on_it = (stack.0..stack.0 + stack.1).contains(&here);
        if action.flags & libc::SA_ONSTACK != 0 && stack.1 != 0 && !on_it {
            let top = stack.0 + stack.1 - 16;
            let (info, context) = ((&raw mut info) as usize, (&raw mut context) as usize);
            let signal = (*(info as *const libc::siginfo_t)).si_signo as usize;
            control::unlocked(me, || raddle_on_stack(top, action.handler, signal, info, context));
        } else {
            let signal = info.si_signo;
            control::unlocked(me, || call(action, signal, &raw mut info, (&raw mut context).cast()));
        }
        crate::points::set_errno(errno);
    }
}
