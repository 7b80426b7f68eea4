//! Signals.
//!
//! An asynchronous signal would run its handler on a parked thread beside the one that holds the
//! baton. So the handlers that the kernel knows are ours ([`kernel`]): they only queue. A queued
//! signal becomes pending for an eligible thread, and its handler runs at that thread's next
//! schedule point, as a decision like any other. Signals from outside are polled when no thread
//! can run, and from time to time, so that runs repeat wherever that is possible.

pub mod action;
pub mod alternate;
pub mod fiber;
pub mod kernel;

use core::ffi::{c_int, c_void};

use raddle_core::{Event, EventKind, ThreadId};

use crate::scheduler::clock::NEVER;
use crate::scheduler::thread::{Life, Wake};
use crate::scheduler::Scheduler;

/// Signals are numbered from 1 to 64.
pub const SIGNALS: usize = 65;

/// What the program wants to happen on a signal.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Action {
    /// SIG_DFL, SIG_IGN or the handler.
    pub handler: usize,
    /// SA_ flags.
    pub flags: c_int,
    /// Signals blocked during the handler.
    pub mask: u64,
}

impl Action {
    /// Whether there is a handler to run.
    pub fn handled(&self) -> bool {
        self.handler != libc::SIG_DFL && self.handler != libc::SIG_IGN
    }
}

/// A signal on its way to a handler.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pending {
    /// The signal; 0 for a free entry.
    pub signal: c_int,
    /// The thread it is for, plus one; 0 for the process.
    pub target: u32,
    /// The order of arrival.
    pub number: u64,
    /// What the handler is told.
    pub info: libc::siginfo_t,
}

/// Signals of the process. Valid when zeroed.
#[repr(C)]
pub struct Signals {
    arrivals: u64,
    /// The deadline of alarm and setitimer, plus one; 0 when there is none.
    pub alarm: u64,
    /// The interval of setitimer.
    pub alarm_interval: u64,
    /// A timer of the kernel's is armed.
    pub kernel_timer: bool,
    /// What the program wants, by signal.
    pub actions: [Action; SIGNALS],
    queue: [Pending; 128],
}

/// The bit of a signal in a mask.
pub fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

impl Signals {
    /// Puts a signal into the queue. A standard signal that waits already is not queued again.
    pub fn enqueue(&mut self, signal: c_int, target: Option<ThreadId>, info: libc::siginfo_t) {
        let target = target.map_or(0, |t| u32::from(t.0) + 1);
        let twice = signal < 32 && self.queue.iter().any(|p| p.signal == signal && p.target == target);
        if twice {
            return;
        }
        self.arrivals += 1;
        if let Some(free) = self.queue.iter_mut().find(|p| p.signal == 0) {
            *free = Pending { signal, target, number: self.arrivals, info };
        }
    }

    /// Takes the oldest signal for this thread that is not in the mask.
    pub fn take_for(&mut self, t: ThreadId, mask: u64) -> Option<Pending> {
        let mine = u32::from(t.0) + 1;
        let wanted =
            |p: &&mut Pending| p.signal != 0 && (p.target == 0 || p.target == mine) && mask & bit(p.signal) == 0;
        let oldest = self.queue.iter_mut().filter(wanted).min_by_key(|p| p.number)?;
        let taken = *oldest;
        oldest.signal = 0;
        Some(taken)
    }

    /// The signals that wait for this thread, blocked or not.
    pub fn waiting_for(&self, t: ThreadId) -> u64 {
        let mine = u32::from(t.0) + 1;
        let waiting = self.queue.iter().filter(|p| p.signal != 0 && (p.target == 0 || p.target == mine));
        waiting.fold(0, |set, p| set | bit(p.signal))
    }

    /// Whether a signal waits for this thread.
    pub fn waits_for(&self, t: ThreadId, mask: u64) -> bool {
        let mine = u32::from(t.0) + 1;
        self.queue.iter().any(|p| p.signal != 0 && (p.target == 0 || p.target == mine) && mask & bit(p.signal) == 0)
    }
}

/// The thread that handles a signal to the process: the main thread if it can, as in the kernel.
pub fn eligible(scheduler: &Scheduler, signal: c_int) -> Option<ThreadId> {
    (0..scheduler.created).map(|i| ThreadId(i as u16)).find(|t| {
        let thread = &scheduler.threads[t.index()];
        thread.life == Life::Alive && thread.signal_mask & bit(signal) == 0
    })
}

/// A signal is to be handled by a thread: ends its wait, if it waits.
pub fn notify(scheduler: &mut Scheduler, t: ThreadId) {
    scheduler.thread(t).signals = 1;
    if !scheduler.enabled.contains(t) && scheduler.threads[t.index()].life == Life::Alive {
        scheduler.set_pending(t, Event::new(EventKind::Handler, 0));
        scheduler.end_wait(t, Wake::Interrupted);
    }
}

pub fn next_alarm(signals: &Signals) -> u64 {
    signals.alarm.checked_sub(1).unwrap_or(NEVER)
}

/// A signal sent by this process to itself or one of its threads.
pub fn own_info(signal: c_int, code: c_int) -> libc::siginfo_t {
    // SAFETY: plain numbers; the layout is the kernel's: signal, errno, code, then pid and uid.
    unsafe {
        let mut info: libc::siginfo_t = core::mem::zeroed();
        info.si_signo = signal;
        info.si_code = code;
        let fields = (&raw mut info).cast::<c_int>();
        fields.add(4).write(crate::os::sys::getpid());
        fields.add(5).write(crate::syscall!(libc::SYS_getuid) as c_int);
        info
    }
}

/// What a handler without SA_SIGINFO, and one with it, look like.
pub type PlainHandler = unsafe extern "C-unwind" fn(c_int);
/// See [`PlainHandler`].
pub type InfoHandler = unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void);

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Signals> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    fn info() -> libc::siginfo_t {
        // SAFETY: plain numbers.
        unsafe { core::mem::zeroed() }
    }

    #[test]
    fn the_oldest_unblocked_signal_comes_first() {
        let mut signals = empty();
        signals.enqueue(libc::SIGUSR1, None, info());
        signals.enqueue(libc::SIGUSR2, Some(ThreadId(3)), info());
        let blocked = bit(libc::SIGUSR1);
        assert!(signals.take_for(ThreadId(1), blocked).is_none());
        assert_eq!(signals.take_for(ThreadId(3), blocked).map(|p| p.signal), Some(libc::SIGUSR2));
        assert_eq!(signals.take_for(ThreadId(1), 0).map(|p| p.signal), Some(libc::SIGUSR1));
        assert!(signals.take_for(ThreadId(1), 0).is_none());
    }

    #[test]
    fn standard_signals_do_not_queue_but_real_time_ones_do() {
        let mut signals = empty();
        for _ in 0..3 {
            signals.enqueue(libc::SIGUSR1, None, info());
            signals.enqueue(40, None, info());
        }
        let mut count = 0;
        while signals.take_for(ThreadId(0), 0).is_some() {
            count += 1;
        }
        assert_eq!(count, 4);
    }
}
