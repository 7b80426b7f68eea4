//! The handlers that the kernel knows, and the way from there to the program's own.

use core::ffi::{c_int, c_void};

use raddle_core::ThreadId;
use raddle_protocol::{Escape, Outcome};

use super::action::{action_of, find_libc_restorer, install, set_action, KernelAction, DEFAULT};
use super::deliver::call;
use super::mailbox::Letter;
use super::timers::{self, Notice};
use super::{
    alternate, bit, eligible, fiber, is_reserved, notify, own_info, reserved, Action, LIBCS, SIGNALS, SI_TKILL,
};
use crate::control::{self, scheduler, state, Mode};
use crate::os::sys;
use crate::points::tick;
use crate::process::failure;
use crate::scheduler::clock::NEVER;
use crate::scheduler::Scheduler;
use crate::switch::{fibers, gate};
use crate::{heap, syscall};

/// Signals that the kernel raises at an instruction of the running thread.
const FAULTS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP];

/// Whether a signal is one of those.
pub fn is_fault(signal: c_int) -> bool {
    FAULTS.contains(&signal)
}

/// What the kernel blocks while a signal is noted, so that one is noted after the other and none on top of another:
/// everything except for what the noting itself could raise.
const WHILE_NOTED: u64 = !(bit(libc::SIGSEGV) | bit(libc::SIGBUS) | bit(libc::SIGILL));

/// An asynchronous signal: only noted.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    unsafe {
        if control::mode() != Mode::Controlled {
            return run_plainly(signal, info, context);
        }
        note(info);
    }
}

/// Leaves a signal to the scheduler.
unsafe fn note(info: *mut libc::siginfo_t) {
    // SAFETY: the kernel's arguments.
    unsafe {
        control::mailbox().post(Letter { pointer: sys::thread_pointer(), info: *info });
        tick::hurry();
    }
}

/// Outside of control the program's handler runs at once.
unsafe fn run_plainly(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments, and a handler that the program installed.
    unsafe {
        let action = state().signals.actions[signal as usize];
        if action.handled() {
            let before = (&raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask).cast::<u64>().read();
            let mask = action.mask_on_top_of(signal, before);
            syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &mask as *const _, 0, 8);
            call(&action, signal, info, context);
        } else if action.handler == libc::SIG_DFL {
            end_by(signal);
        }
    }
}

/// A signal that the runtime needs itself has come, and is the program's.
pub unsafe fn on_programs_own(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments; what the scheduler knows is only read.
    unsafe {
        if control::block().is_none() || control::mode() != Mode::Controlled {
            return run_plainly(signal, info, context);
        }
        let action = state().signals.actions[signal as usize];
        let me = scheduler().pointers.get(sys::thread_pointer());
        if (*info).si_code > 0 && signal == libc::SIGSYS {
            // A filter of the program's own: raised by the system call that the thread is about to make.
            let blocked = me.is_some_and(|me| scheduler().threads[me.index()].signal_mask & bit(signal) != 0);
            if action.handled() && !blocked {
                reset_if_asked(signal, &action);
                return call(&action, signal, info, context);
            }
            return die(signal, info);
        }
        let ends = action.handler == libc::SIG_DFL && eligible(scheduler(), signal).is_some();
        if ends && (*info).si_code != SI_TKILL {
            die(signal, info);
        }
        note(info);
    }
}

unsafe fn reset_if_asked(signal: c_int, action: &Action) {
    if action.flags & libc::SA_RESETHAND != 0 {
        // SAFETY: the caller holds the baton.
        unsafe { state() }.signals.actions[signal as usize].handler = libc::SIG_DFL;
    }
}

/// Does what a signal without a handler does to the process. It is not blocked.
pub fn act_by_default(signal: c_int, mut info: libc::siginfo_t) {
    // SAFETY: the caller holds the baton; the thread's own id.
    unsafe {
        if is_reserved(signal) {
            return die(signal, &mut info);
        }
        // The kernel knows.
        syscall!(sys::SYS_tgkill, sys::getpid(), sys::gettid(), signal);
    }
}

/// Ends the process by a signal of its own, after a report.
unsafe fn die(signal: c_int, info: *mut libc::siginfo_t) {
    // SAFETY: the run is over.
    unsafe {
        gate::seize();
        report(signal, info, core::ptr::null());
        end_by(signal);
    }
}

/// Ends the process as the signal would have ended it.
unsafe fn end_by(signal: c_int) {
    // SAFETY: the calling thread's own id.
    unsafe {
        let unblock = bit(signal);
        set_action(signal, &DEFAULT);
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &unblock as *const _, 0, 8);
        syscall!(sys::SYS_tgkill, sys::getpid(), sys::gettid(), signal);
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
        crate::points::sync_function::on_fault(context);
        let action =
            if control::block().is_some() { state().signals.actions[signal as usize] } else { Action::default() };
        if control::mode() == Mode::Controlled && is_for_the_model(&action, &*info) {
            return note(info);
        }
        gate::seize();
        if action.handled() && !alternate::overflowed() && !is_blocked_fault(signal, &*info) {
            reset_if_asked(signal, &action);
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
            report(signal, info, context.cast());
        }
        // Die as the program would have died.
        set_action(signal, &DEFAULT);
        let unblock = bit(signal);
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &unblock as *const _, 0, 8);
        if (*info).si_code <= 0 {
            syscall!(sys::SYS_tgkill, sys::getpid(), sys::gettid(), signal);
        }
    }
}

/// Whether the signal of a fault was sent, and has a handler: it is like any other signal. What a thread of this process
/// has sent to one and the kernel delivers is libc's abort, in a call of the real library.
fn is_for_the_model(action: &Action, info: &libc::siginfo_t) -> bool {
    // SAFETY: a signal with such a code has a sender.
    let own = info.si_code == SI_TKILL && unsafe { info.si_pid() } == sys::getpid();
    action.handled() && info.si_code <= 0 && !own
}

/// Whether the thread that has faulted blocks the signal: then nothing but the end can follow.
unsafe fn is_blocked_fault(signal: c_int, info: &libc::siginfo_t) -> bool {
    // SAFETY: only read.
    let s = unsafe { scheduler() };
    let blocks = |me: ThreadId| s.threads[me.index()].signal_mask & bit(signal) != 0;
    let controlled = control::mode() == Mode::Controlled;
    controlled && info.si_code > 0 && s.pointers.get(sys::thread_pointer()).is_some_and(blocks)
}

unsafe fn report(signal: c_int, info: *mut libc::siginfo_t, context: *const libc::ucontext_t) {
    // SAFETY: the run is over; the results are only added to.
    unsafe {
        let s = scheduler();
        let pointer = sys::thread_pointer();
        let known = scheduler().pointers.get(pointer).or_else(|| crate::points::thread::ended_at(pointer));
        let me = known.unwrap_or(s.current);
        let assertion = s.results().outcome == Outcome::Assert as u32;
        s.results().thread = u32::from(me.0);
        s.results().signal = signal;
        // A signal that was sent has no address.
        s.results().address = if (*info).si_code > 0 { (*info).si_addr() as u64 } else { 0 };
        let outcome = match assertion {
            true => Outcome::Assert,
            false if heap::report::explains(me, (*info).si_code, context) => Outcome::Misuse,
            false => Outcome::Signal,
        };
        failure::record(s, outcome);
        failure::freeze(s.shared_block());
    }
}

/// Takes over the signals: those that the program already handles or ignores, the faults, and what the runtime needs
/// itself. Done before the fork server starts, so that its children have it done.
pub fn take_over() {
    find_libc_restorer();
    // SAFETY: there is one thread.
    let actions = unsafe { &mut state().signals.actions };
    for signal in 1..SIGNALS as c_int {
        let old = action_of(signal);
        let action = Action { handler: old.handler, flags: old.flags as c_int, mask: old.mask };
        let ours = [on_fault as *const () as usize, on_signal as *const () as usize].contains(&old.handler);
        if ours || old.handler == crate::dispatch::handler() || old.handler == tick::handler() {
            continue;
        }
        actions[signal as usize] = action;
        if action.handled() {
            hook(signal, &action);
        }
    }
    for signal in FAULTS {
        if !actions[signal as usize].handled() {
            hook(signal, &actions[signal as usize]);
        }
    }
    crate::dispatch::install();
    tick::install();
}

/// The main thread's mask and alternate stack at the start of a run.
pub fn adopt_main() {
    let mut mask = 0u64;
    let reserved = reserved();
    // SAFETY: the kernel reads and writes the masks.
    unsafe {
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &reserved as *const _, &mut mask as *mut _, 8);
        scheduler().thread(ThreadId::MAIN).signal_mask = mask;
        if fibers() {
            fiber::adopt_main(mask);
        }
    }
    alternate::adopt(ThreadId::MAIN);
}

/// A thread has its first turn on its OS thread: what the runtime needs must not be blocked, whatever it inherited.
pub fn adopt(me: ThreadId) {
    alternate::adopt(me);
    let unblock = reserved();
    // SAFETY: reads the mask only.
    unsafe { syscall!(sys::SYS_rt_sigprocmask, libc::SIG_UNBLOCK, &unblock as *const _, 0, 8) };
}

/// In a forked child, which is not under control, the calling thread is an ordinary one: the kernel gets what the
/// program wants.
pub fn become_child() {
    // SAFETY: there is one thread.
    unsafe {
        let Some(me) = scheduler().pointers.get(sys::thread_pointer()) else { return };
        for signal in 1..SIGNALS as c_int {
            give_back(signal, &state().signals.actions[signal as usize]);
        }
        alternate::give_back(me);
        let thread = &scheduler().threads[me.index()];
        syscall!(sys::SYS_rt_sigprocmask, libc::SIG_SETMASK, &thread.signal_mask as *const _, 0, 8);
        syscall!(sys::SYS_prctl, libc::PR_SET_NAME, thread.name.as_ptr(), 0, 0, 0);
    }
}

/// A handler returns in a forked child, where the kernel would set back what held in the parent.
pub fn return_as_child(context: *mut c_void) {
    // SAFETY: the kernel's context of this signal; there is one thread.
    unsafe {
        let Some(me) = scheduler().pointers.get(sys::thread_pointer()) else { return };
        let context = context.cast::<libc::ucontext_t>();
        (&raw mut (*context).uc_sigmask).cast::<u64>().write(scheduler().threads[me.index()].signal_mask);
        (*context).uc_stack = alternate::Program::of(me).in_context();
    }
}

/// Whether the kernel knows another handler than the program.
fn is_taken_over(signal: c_int, action: &Action) -> bool {
    action.handled() || is_fault(signal) || is_reserved(signal)
}

/// Tells the kernel what the program wants.
fn give_back(signal: c_int, action: &Action) {
    if action.handled() {
        install(signal, action.handler, action.flags, action.mask);
    } else if is_taken_over(signal, action) {
        set_action(signal, &KernelAction { handler: action.handler, ..DEFAULT });
    }
}

/// Tells the kernel what to do on a signal that the program wants to handle like this.
pub fn hook(signal: c_int, action: &Action) {
    if is_reserved(signal) {
        return;
    }
    let kept = action.flags & (libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT);
    // The alternate stack is ours. Threads are switched in the handler of breakpoints, which must
    // therefore stay on the thread's own stack.
    let ours = if signal == libc::SIGTRAP { 0 } else { libc::SA_ONSTACK };
    let flags = libc::SA_SIGINFO | kept | ours;
    if is_fault(signal) && action.handler != libc::SIG_IGN {
        install(signal, on_fault as *const () as usize, flags | libc::SA_NODEFER, 0);
    } else if action.handled() {
        install(signal, on_signal as *const () as usize, flags | libc::SA_RESTART, WHILE_NOTED);
    } else {
        set_action(signal, &KernelAction { handler: action.handler, flags: kept as u64, ..DEFAULT });
    }
}

/// Sends a signal of this process to itself or one of its threads, through the model.
/// Returns whether there was room for it.
pub fn send(target: Option<ThreadId>, signal: c_int, info: libc::siginfo_t) -> bool {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let receiver = &it.scheduler.threads[target.unwrap_or(ThreadId::MAIN).index()];
    if it.signals.actions[signal as usize].ignores(signal) && receiver.signal_mask & bit(signal) == 0 {
        return true;
    }
    let queued = it.signals.queue.enqueue(signal, target, info);
    if let Some(t) = target.or_else(|| eligible(&it.scheduler, signal)) {
        if it.scheduler.threads[t.index()].signal_mask & bit(signal) == 0 {
            notify(&mut it.scheduler, t);
        }
    }
    queued
}

/// Takes the signals of a set that the kernel holds back, because they are about to be let through: it would deliver all
/// of them at once, and forget the ones that are ignored, while some of them may have to wait for the handlers of others.
pub fn take_held_back(set: u64) {
    let set = set & !reserved() & !LIBCS;
    let none = sys::timespec(0);
    if set == 0 {
        return;
    }
    // SAFETY: the kernel reads the set and writes the information; the caller holds the baton.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        while syscall!(libc::SYS_rt_sigtimedwait, &set as *const _, &mut info as *mut _, &none as *const _, 8) > 0 {
            let target = receiver_of(&Letter { pointer: sys::thread_pointer(), info });
            state().signals.queue.enqueue(info.si_signo, target, info);
        }
    }
}

/// Takes what the kernel has delivered since the last look. Returns whether there was anything.
pub fn take_from_kernel(_scheduler: &mut Scheduler) -> bool {
    let mut any = false;
    while let Some(letter) = control::mailbox().take() {
        any = true;
        send(receiver_of(&letter), letter.info.si_signo, letter.info);
    }
    any
}

/// The thread that a signal was sent to; `None`: to the process.
fn receiver_of(letter: &Letter) -> Option<ThreadId> {
    // Codes of descriptors that signal (POLL_IN to POLL_HUP).
    const FROM_DESCRIPTOR: core::ops::RangeInclusive<c_int> = 1..=6;
    // SAFETY: the caller holds the baton.
    let known = unsafe { scheduler() }.pointers.get(letter.pointer);
    let code = letter.info.si_code;
    // SAFETY: whatever the code, these are plain numbers.
    let own = code == SI_TKILL && unsafe { letter.info.si_pid() } == sys::getpid();
    // Another process names the OS thread, which is the main thread's.
    let known = if fibers() && !own { Some(ThreadId::MAIN) } else { known };
    // Timers and descriptors may have been told to signal one thread: then the kernel chose it.
    let chosen = code == SI_TIMER || FROM_DESCRIPTOR.contains(&code) && letter.info.si_signo != libc::SIGCHLD;
    if code == SI_TKILL || chosen && !fibers() {
        known
    } else {
        None
    }
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

/// Time has passed: the alarm or a timer may be due.
#[inline]
pub fn expire(scheduler: &mut Scheduler) {
    // SAFETY: the caller holds the baton.
    let next = unsafe { state() }.signals.next;
    if next != 0 && scheduler.clock.now() >= next - 1 {
        something_is_due(scheduler);
    }
}

#[cold]
fn something_is_due(scheduler: &mut Scheduler) {
    let now = scheduler.clock.now();
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let signals = &mut it.signals;
    if signals.alarm != 0 && now >= signals.alarm - 1 {
        signals.alarm = if signals.alarm_interval == 0 { 0 } else { now + signals.alarm_interval + 1 };
        const SI_KERNEL: c_int = 0x80;
        send_of_timer(None, own_info(libc::SIGALRM, SI_KERNEL));
    }
    for slot in 0..timers::MOST {
        // SAFETY: as above.
        let timers = unsafe { &mut state().timers };
        let times = timers.timers[slot].expire(now);
        if times != 0 {
            notify_of_timer(scheduler, slot, times);
        }
    }
    plan_next();
}

/// A timer has expired so many times.
fn notify_of_timer(scheduler: &mut Scheduler, slot: usize, times: u32) {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let timer = &mut it.timers.timers[slot];
    let target = match timer.notice {
        Notice::Free | Notice::None => return,
        Notice::Call => {
            timer.calls = timer.calls.saturating_add(times);
            if it.timers.caller_waits {
                scheduler.wake(ThreadId(it.timers.caller as u16 - 1));
            }
            return;
        }
        Notice::Process => None,
        Notice::Thread(thread) => Some(ThreadId(thread)),
    };
    if it.signals.queue.holds(|info| of_timer(info) == Some(slot)) {
        // The signal of an earlier time has not been seen: this one is only counted.
        timer.unseen = timer.unseen.saturating_add(times);
        return;
    }
    timer.unseen = times - 1;
    let mut info = own_info(timer.signal, SI_TIMER);
    // The number and the overruns stand where other signals have their sender, and then the value.
    // SAFETY: plain numbers.
    unsafe {
        (&raw mut info).cast::<c_int>().add(4).write(slot as c_int);
        (&raw mut info).cast::<c_int>().add(5).write(0);
        (&raw mut info).cast::<usize>().add(3).write(timer.value);
    }
    send_of_timer(target, info);
}

const SI_TIMER: c_int = -2;

/// The timer of ours that has sent a signal.
fn of_timer(info: &libc::siginfo_t) -> Option<usize> {
    // SAFETY: plain numbers.
    let slot = unsafe { (&raw const *info).cast::<c_int>().add(4).read() };
    (info.si_code == SI_TIMER).then_some(slot as usize).filter(|&slot| slot < timers::MOST)
}

/// A signal is taken from the queue. That of a timer says how often the timer has expired meanwhile.
pub fn is_seen(info: &mut libc::siginfo_t) {
    // SAFETY: the caller holds the baton.
    let timers = unsafe { &mut state().timers };
    let Some(slot) = of_timer(info) else { return };
    let timer = &mut timers.timers[slot];
    // SAFETY: plain numbers; another timer, of the kernel's, has another value.
    unsafe {
        if timer.notice != Notice::Free && (&raw const *info).cast::<usize>().add(3).read() == timer.value {
            timer.overrun = core::mem::take(&mut timer.unseen);
            (&raw mut *info).cast::<c_int>().add(5).write(timer.overrun as c_int);
        }
    }
}

/// A timer of ours sends a signal.
fn send_of_timer(target: Option<ThreadId>, info: libc::siginfo_t) {
    let signal = info.si_signo;
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let action = it.signals.actions[signal as usize];
    let open = match target {
        Some(t) => it.scheduler.threads[t.index()].signal_mask & bit(signal) == 0,
        None => eligible(&it.scheduler, signal).is_some(),
    };
    if !open || action.handled() || action.ignores(signal) {
        send(target, signal, info);
    } else if is_reserved(signal) {
        act_by_default(signal, info);
    } else {
        // SAFETY: a signal to this process, which knows what it does by default.
        unsafe { syscall!(sys::SYS_kill, sys::getpid(), signal) };
    }
}

/// An alarm or a timer has changed.
pub fn plan_next() {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    let alarm = it.signals.alarm.checked_sub(1).unwrap_or(NEVER);
    let next = alarm.min(it.timers.next());
    it.signals.next = if next == NEVER { 0 } else { next + 1 };
}

/// When the next alarm or timer is due.
pub fn next_alarm() -> u64 {
    // SAFETY: the caller holds the baton.
    unsafe { state() }.signals.next.checked_sub(1).unwrap_or(NEVER)
}

/// A new run in the same process: nothing of the last one is on its way.
pub fn forget_run() {
    // SAFETY: the caller holds the baton.
    let it = unsafe { state() };
    if it.signals.next != 0 || it.timers.caller != 0 {
        it.signals.alarm = 0;
        // SAFETY: valid when zeroed.
        it.timers = unsafe { core::mem::zeroed() };
        plan_next();
    }
    it.signals.queue.discard(u64::MAX);
}
