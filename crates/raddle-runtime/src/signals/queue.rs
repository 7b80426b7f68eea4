//! The signals of the process that wait for a thread, in the order in which the kernel gives them out: first those that
//! were sent to the thread, then those that were sent to the process; of each kind first those that are raised by
//! instructions, then by number, then by arrival.

use core::ffi::c_int;

use raddle_core::ThreadId;

use super::bit;

/// A signal on its way to a handler.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pending {
    pub signal: c_int,
    /// The thread it is for, plus one; 0 for the process.
    target: u32,
    /// The order of arrival.
    number: u64,
    /// What the handler is told.
    pub info: libc::siginfo_t,
}

/// Signals that the kernel takes out of a set before all others.
const SYNCHRONOUS: u64 = bit(libc::SIGSEGV)
    | bit(libc::SIGBUS)
    | bit(libc::SIGILL)
    | bit(libc::SIGTRAP)
    | bit(libc::SIGFPE)
    | bit(libc::SIGSYS);

/// The first real-time signal: all below it wait once only.
const FIRST_REAL_TIME: c_int = 32;

/// What a signal's place in the kernel's order is, among those for the same receiver.
pub fn rank(signal: c_int) -> (bool, c_int) {
    (SYNCHRONOUS & bit(signal) == 0, signal)
}

/// Signals that wait. Valid when zeroed.
#[repr(C)]
pub struct Queue {
    arrivals: u64,
    used: usize,
    entries: [Pending; Queue::LENGTH],
}

impl Queue {
    /// How many can wait: more than a program sends at once, and a whole number of pages more than need be.
    const LENGTH: usize = 128 + 3 * 256;

    fn waiting(&self) -> &[Pending] {
        &self.entries[..self.used]
    }

    /// Puts a signal at its end. A standard signal that waits already is not queued again. Returns whether there was
    /// room.
    pub fn enqueue(&mut self, signal: c_int, target: Option<ThreadId>, info: libc::siginfo_t) -> bool {
        let target = target.map_or(0, receiver);
        let same = |p: &Pending| p.signal == signal && p.target == target;
        if signal < FIRST_REAL_TIME && self.waiting().iter().any(same) {
            return true;
        }
        self.discard(undone_by(signal));
        if self.used == Queue::LENGTH {
            return false;
        }
        self.arrivals += 1;
        self.entries[self.used] = Pending { signal, target, number: self.arrivals, info };
        self.used += 1;
        true
    }

    /// Takes the next signal for this thread that is not in the mask.
    pub fn take_for(&mut self, t: ThreadId, mask: u64) -> Option<Pending> {
        let next = self.place_for(t, mask)?;
        let taken = self.entries[next];
        self.used -= 1;
        self.entries[next] = self.entries[self.used];
        Some(taken)
    }

    /// Puts back what was taken: it keeps its place.
    pub fn put_back(&mut self, taken: Pending) {
        if self.used < Queue::LENGTH {
            self.entries[self.used] = taken;
            self.used += 1;
        }
    }

    /// The next signal for this thread that is not in the mask, and whether it was sent to the thread alone.
    pub fn next_for(&self, t: ThreadId, mask: u64) -> Option<(c_int, bool)> {
        self.place_for(t, mask).map(|next| (self.entries[next].signal, self.entries[next].target != 0))
    }

    fn place_for(&self, t: ThreadId, mask: u64) -> Option<usize> {
        let wanted = |p: &Pending| is_for(p, t) && mask & bit(p.signal) == 0;
        let order = |p: &Pending| (p.target == 0, rank(p.signal), p.number);
        (0..self.used).filter(|&i| wanted(&self.entries[i])).min_by_key(|&i| order(&self.entries[i]))
    }

    /// The signals that wait for this thread, blocked or not.
    pub fn waiting_for(&self, t: ThreadId) -> u64 {
        self.waiting().iter().filter(|p| is_for(p, t)).fold(0, |set, p| set | bit(p.signal))
    }

    /// Whether a signal waits for this thread.
    pub fn waits_for(&self, t: ThreadId, mask: u64) -> bool {
        self.waiting_for(t) & !mask != 0
    }

    /// Whether a signal of which this is true waits.
    pub fn holds(&self, test: impl Fn(&libc::siginfo_t) -> bool) -> bool {
        self.waiting().iter().any(|p| test(&p.info))
    }

    /// Forgets the signals of a set, whoever they are for.
    pub fn discard(&mut self, set: u64) {
        if set != 0 {
            self.keep(|p| bit(p.signal) & set == 0);
        }
    }

    /// A thread has ended: what was sent to it alone is gone.
    pub fn forget_thread(&mut self, t: ThreadId) {
        if self.used != 0 {
            self.keep(|p| p.target != receiver(t));
        }
    }

    fn keep(&mut self, wanted: impl Fn(&Pending) -> bool) {
        let mut i = 0;
        while i < self.used {
            if wanted(&self.entries[i]) {
                i += 1;
            } else {
                self.used -= 1;
                self.entries[i] = self.entries[self.used];
            }
        }
    }
}

fn receiver(t: ThreadId) -> u32 {
    u32::from(t.0) + 1
}

fn is_for(pending: &Pending, t: ThreadId) -> bool {
    pending.target == 0 || pending.target == receiver(t)
}

/// A signal that stops the process and the one that lets it go on take each other back.
fn undone_by(signal: c_int) -> u64 {
    let stops = bit(libc::SIGTSTP) | bit(libc::SIGTTIN) | bit(libc::SIGTTOU) | bit(libc::SIGSTOP);
    match signal {
        libc::SIGCONT => stops,
        _ if stops & bit(signal) != 0 => bit(libc::SIGCONT),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Queue> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    fn info(value: c_int) -> libc::siginfo_t {
        // SAFETY: plain numbers.
        let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
        info.si_errno = value;
        info
    }

    fn all(queue: &mut Queue, t: u16) -> Vec<(c_int, c_int)> {
        core::iter::from_fn(|| queue.take_for(ThreadId(t), 0)).map(|p| (p.signal, p.info.si_errno)).collect()
    }

    #[test]
    fn only_unblocked_signals_of_a_thread_are_taken() {
        let mut queue = empty();
        queue.enqueue(libc::SIGUSR1, None, info(0));
        queue.enqueue(libc::SIGUSR2, Some(ThreadId(3)), info(0));
        let blocked = bit(libc::SIGUSR1);
        assert!(queue.take_for(ThreadId(1), blocked).is_none());
        assert_eq!(queue.take_for(ThreadId(3), blocked).map(|p| p.signal), Some(libc::SIGUSR2));
        assert_eq!(queue.take_for(ThreadId(1), 0).map(|p| p.signal), Some(libc::SIGUSR1));
        assert!(queue.take_for(ThreadId(1), 0).is_none());
    }

    #[test]
    fn the_order_is_the_kernels() {
        let mut queue = empty();
        for (i, signal) in [40, libc::SIGUSR1, 36, libc::SIGSYS, 40, libc::SIGHUP].into_iter().enumerate() {
            queue.enqueue(signal, None, info(i as c_int));
        }
        queue.enqueue(libc::SIGTERM, Some(ThreadId(0)), info(9));
        queue.enqueue(libc::SIGUSR1, Some(ThreadId(1)), info(9));
        let expected =
            [(libc::SIGTERM, 9), (libc::SIGSYS, 3), (libc::SIGHUP, 5), (libc::SIGUSR1, 1), (36, 2), (40, 0), (40, 4)];
        assert_eq!(all(&mut queue, 0), expected);
        assert_eq!(all(&mut queue, 1), [(libc::SIGUSR1, 9)]);
    }

    #[test]
    fn standard_signals_do_not_queue_but_real_time_ones_do() {
        let mut queue = empty();
        for _ in 0..3 {
            queue.enqueue(libc::SIGUSR1, None, info(0));
            queue.enqueue(40, None, info(0));
        }
        assert_eq!(all(&mut queue, 0).len(), 4);
        let sent = (0..2000).filter(|_| queue.enqueue(40, None, info(0))).count();
        assert_eq!((sent, all(&mut queue, 0).len()), (Queue::LENGTH, Queue::LENGTH));
    }

    #[test]
    fn what_is_discarded_does_not_come_back() {
        let mut queue = empty();
        for signal in [libc::SIGTSTP, 40, libc::SIGUSR1, 40] {
            queue.enqueue(signal, None, info(0));
        }
        queue.enqueue(libc::SIGUSR2, Some(ThreadId(2)), info(0));
        queue.enqueue(libc::SIGCONT, None, info(0));
        queue.discard(bit(40));
        queue.forget_thread(ThreadId(2));
        assert_eq!(all(&mut queue, 2), [(libc::SIGUSR1, 0), (libc::SIGCONT, 0)]);
    }
}
