//! What threads wait for, and how their waits end.

use raddle_core::{Event, EventKind, ThreadId};

use super::thread::{owner, Life, Wait, Wake};
use super::Scheduler;
use crate::model::mutex::Mutex;

impl Scheduler {
    /// Whether the thread can go on.
    #[inline]
    pub fn ready(&self, t: ThreadId) -> bool {
        // The usual cases first: a jump through a table is often predicted wrongly.
        match self.threads[t.index()].wait.get() {
            Wait::None => true,
            // SAFETY: see `ready_otherwise`.
            Wait::Mutex(m) => unsafe { (*m).ready(owner(t)) },
            _ => self.ready_otherwise(t),
        }
    }

    #[inline(never)]
    #[link_section = "raddle_run"]
    fn ready_otherwise(&self, t: ThreadId) -> bool {
        let thread = &self.threads[t.index()];
        let me = owner(t);
        // SAFETY (all below): the program keeps an object alive while threads wait for it; one that
        // does not would crash in the real function too.
        unsafe {
            match thread.wait.get() {
                Wait::None => true,
                Wait::Event | Wait::Polled(_) => thread.woken,
                Wait::Mutex(m) => (*m).ready(me),
                Wait::Read(l) => (*l).ready_to_read(me),
                Wait::Write(l) => (*l).ready_to_write(me),
                Wait::Semaphore(s) => (*s).ready(),
                Wait::SpinLock(s) => (*s).ready(),
                Wait::Once(o) => (*o).ready(),
                Wait::Join(other) => self.threads[other.index()].life != Life::Alive,
            }
        }
    }

    /// An object has changed: checks the threads that wait for it again.
    #[inline]
    pub fn changed(&mut self, key: usize) {
        if !self.waiters.none(key) {
            self.recheck_waiters(key);
        }
    }

    /// A mutex was locked or unlocked: like [`Scheduler::changed`], for the most frequent object of all.
    /// All threads that wait for it need the same: that it is free.
    #[inline]
    #[link_section = "raddle_run"]
    pub fn mutex_changed(&mut self, mutex: *const Mutex, available: bool) {
        let key = mutex as usize;
        if self.waiters.none(key) {
            return;
        }
        let mut at = None;
        while let Some(t) = self.waiters.after(key, at) {
            let thread = &self.threads[t.index()];
            let on = available | (thread.wake != Wake::Go);
            let on = if thread.wait.is_mutex() { on } else { thread.wake != Wake::Go || self.ready(t) };
            self.enabled.set(t, on);
            at = Some(t);
        }
    }

    #[link_section = "raddle_run"]
    fn recheck_waiters(&mut self, key: usize) {
        let mut at = None;
        while let Some(t) = self.waiters.after(key, at) {
            let on = self.threads[t.index()].wake != Wake::Go || self.ready(t);
            self.enabled.set(t, on);
            at = Some(t);
        }
    }

    /// Ends a thread's [`Wait::Event`] or [`Wait::Polled`].
    pub fn wake(&mut self, t: ThreadId) {
        self.thread(t).woken = true;
        self.waiters.remove(t);
        self.enabled.set(t, true);
    }

    /// Ends a wait on a condition: the thread now waits for its mutex.
    pub fn relock(&mut self, t: ThreadId, why: Wake) {
        let thread = self.thread(t);
        let mutex = core::mem::replace(&mut thread.relock, core::ptr::null_mut());
        thread.relocked = why;
        thread.wait = Wait::Mutex(mutex).pack();
        thread.wake = Wake::Go;
        self.set_pending(t, Event::new(EventKind::Relock, mutex as usize));
        self.timers.remove(t);
        self.waiters.insert(t, mutex as usize);
        let ready = self.ready(t);
        self.enabled.set(t, ready);
    }

    /// Ends a thread's wait for a reason other than what it waits for.
    pub fn end_wait(&mut self, t: ThreadId, why: Wake) {
        if !self.threads[t.index()].relock.is_null() {
            if why != Wake::Interrupted {
                return self.relock(t, why);
            }
            // A handler must be able to run before the mutex is free: the wait ends spuriously, as
            // POSIX allows then.
            let thread = self.thread(t);
            thread.relock = core::ptr::null_mut();
            thread.relocked = Wake::Interrupted;
            // It has left the condition: a signal to that must not be spent on it from now on.
            self.waiters.remove(t);
        }
        if self.threads[t.index()].wake == Wake::Go {
            self.thread(t).wake = why;
        }
        self.enabled.set(t, true);
    }
}
