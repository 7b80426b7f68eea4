//! No thread can run: time passes, something comes from outside, or it is a deadlock.

use raddle_core::{EventKind, ThreadId};
use raddle_protocol::{Escape, Outcome};

use super::clock::NEVER;
use super::thread::{Life, Wait};
use super::Scheduler;
use crate::os::sys;
use crate::process::failure;
use crate::signals::kernel as signals;
use crate::syscall;

/// The longest sleep between two polls of conditions that have no descriptor.
pub(super) const LONGEST_NAP: u64 = 2_000_000;

/// What is left to do while no thread can run.
pub(super) enum Idle {
    /// Look at the enabled set again.
    Retry,
    /// The same, because a signal has come.
    Signal,
    /// The same, because something else has come from outside.
    OutsideEvent,
    /// Sleep: something may come from outside.
    Sleep {
        /// Nanoseconds to the next deadline.
        left: u64,
    },
}

impl Scheduler {
    /// Returns when a thread is enabled; ends the run if that cannot happen.
    #[cold]
    pub(super) fn idle(&mut self, me: ThreadId) {
        let mut nap = 20_000;
        let mut waited = false;
        let only_a_child = self.only_a_child();
        while self.enabled.is_empty() {
            match self.idle_once(me, false) {
                Idle::Signal if waited => self.escaped(Escape::OutsideInput),
                Idle::OutsideEvent if waited && !only_a_child => self.escaped(Escape::OutsideInput),
                Idle::Signal | Idle::OutsideEvent | Idle::Retry => {}
                Idle::Sleep { left } => {
                    let before = sys::real_monotonic();
                    OutsideWait::of(self, nap, left).sleep();
                    waited = true;
                    let passed = sys::real_monotonic() - before;
                    self.clock.jump(self.clock.now() + passed);
                    self.delays.rested(passed);
                    self.expire();
                    nap = (nap * 2).min(LONGEST_NAP);
                }
            }
            if self.alive == 0 {
                failure::stop(self, Outcome::Exited);
            }
        }
    }

    /// Does what can be done while no thread can run; ends the run if nothing can. With threads that are `away` and may
    /// come back, waiting for ever is not a deadlock.
    pub(super) fn idle_once(&mut self, me: ThreadId, away: bool) -> Idle {
        if signals::take_from_kernel(self) {
            return Idle::Signal;
        }
        if self.poll_outside() {
            return Idle::OutsideEvent;
        }
        if self.recheck() {
            return Idle::Retry;
        }
        let deadline = self.next_deadline();
        let open = away || self.is_open_to_outside();
        // A signal may come from anywhere at any time, so a wait for one does not slow the clock down.
        let slow = open && (away || !self.only_signals());
        match deadline {
            // Nothing else can happen before the deadline, so time jumps to it.
            Some(deadline) if !slow => {
                self.delays.rested(deadline.saturating_sub(self.clock.now()));
                self.clock.jump(deadline);
                self.expire();
                Idle::Retry
            }
            None if !open => failure::deadlock(self, me),
            // Virtual time goes no faster than real time while others may act.
            deadline => Idle::Sleep { left: deadline.map_or(NEVER, |d| d.saturating_sub(self.clock.now())) },
        }
    }

    /// Whether something may come from outside that a thread waits for.
    pub(super) fn is_open_to_outside(&self) -> bool {
        self.polled.iter().any(|t| self.waits_for_outside(t))
            || signals::expected(self)
            || self.foreign_threads
            || self.open_world && self.waits_for_shared_spin_lock()
    }

    /// Looks at every waiting thread again: an object may have been changed by code that we do not
    /// see, such as a real pthread_once that was left by an exception.
    pub(super) fn recheck(&mut self) -> bool {
        for i in 0..self.created {
            let t = ThreadId(i as u16);
            let waits = self.threads[i].life == Life::Alive && self.threads[i].wait.get().key() != 0;
            if waits && self.ready(t) {
                self.enabled.set(t, true);
            }
            if self.foreign_threads && self.futex_changed(t) {
                self.wake(t);
            }
        }
        !self.enabled.is_empty()
    }

    /// Whether the word of a futex that the thread waits for has changed. A thread that is not ours, or
    /// the kernel at its end, wakes real waiters only; spurious wake-ups are allowed.
    fn futex_changed(&self, t: ThreadId) -> bool {
        let thread = &self.threads[t.index()];
        // SAFETY: the program keeps the word while a thread waits for it.
        !thread.futex_word.is_null() && unsafe { thread.futex_word.read_volatile() } != thread.futex_value
    }

    /// Whether the end of a child is all that may come from outside. Nobody looks for it while threads can run, so it
    /// comes at the same step however long the child takes.
    fn only_a_child(&self) -> bool {
        let mut waiting = self.polled.iter().filter(|&t| self.waits_for_outside(t));
        let child = |t: ThreadId| self.pending[t.index()].kind == EventKind::WaitChild;
        waiting.next().is_some_and(child)
            && waiting.next().is_none()
            && self.next_deadline().is_none()
            && !signals::expected(self)
            && !self.foreign_threads
    }

    fn only_signals(&mut self) -> bool {
        let waits = |t: ThreadId| self.pending[t.index()].kind == EventKind::SigWait || !self.waits_for_outside(t);
        self.polled.iter().all(waits)
            && !signals::expected(self)
            && !(self.foreign_threads || self.open_world && self.waits_for_shared_spin_lock())
    }

    /// Whether a thread waits for a spin lock that another process may release. The lock does not say so.
    fn waits_for_shared_spin_lock(&self) -> bool {
        self.threads[..self.created].iter().any(|thread| match thread.wait.get() {
            Wait::SpinLock(spin) if thread.life == Life::Alive => crate::os::memory::is_shared(spin as usize),
            _ => false,
        })
    }

    pub(super) fn waits_for_outside(&self, t: ThreadId) -> bool {
        match self.threads[t.index()].wait.get() {
            // SAFETY: on the stack of a thread that waits.
            Wait::Polled(polled) => self.open_world || unsafe { !(*polled).closed },
            _ => false,
        }
    }
}

/// The most descriptors that are watched while no thread can run.
const MOST: usize = 64;

/// What threads wait for outside, in a form to sleep on.
pub struct OutsideWait {
    descriptors: [libc::pollfd; MOST],
    count: usize,
    at_most: u64,
}

impl OutsideWait {
    /// What threads wait for. The sleep lasts for `nap` unless the kernel wakes us, and never longer than `left`.
    pub(super) fn of(s: &Scheduler, nap: u64, left: u64) -> OutsideWait {
        let mut descriptors = [libc::pollfd { fd: -1, events: 0, revents: 0 }; MOST];
        let mut count = 0;
        let mut all = true;
        for t in s.polled.iter() {
            let Wait::Polled(polled) = s.threads[t.index()].wait.get() else { continue };
            // SAFETY: on the stack of a thread that waits.
            let polled = unsafe { &*polled };
            if polled.descriptors.is_null() || count + polled.count as usize > MOST {
                all = false;
                continue;
            }
            for i in 0..polled.count as usize {
                // SAFETY: `count` descriptors on the waiting thread's stack.
                descriptors[count] = unsafe { *polled.descriptors.add(i) };
                count += 1;
            }
        }
        // When every condition has a descriptor the kernel wakes us; the limit is only there so that
        // signals and the deadline are noticed.
        let longest = if all && count > 0 { LONGEST_NAP } else { nap };
        OutsideWait { descriptors, count, at_most: longest.min(left) }
    }

    /// Sleeps until a descriptor that a thread waits for may be ready, or for a while.
    pub fn sleep(mut self) {
        let time = sys::timespec(self.at_most);
        // SAFETY: the array and the time outlive the call.
        unsafe { syscall!(libc::SYS_ppoll, self.descriptors.as_mut_ptr(), self.count, &time as *const _, 0, 8) };
    }
}
