//! Where the threads of a parallel run go when they are woken.
//!
//! The kernel looks for an idle core at the moment of the wake-up. But a thread that wakes another one often rests
//! right after that, so its core is busy at that moment and idle a microsecond later: two threads end up on one core,
//! and stay there until the kernel balances its load again, milliseconds later. The gate knows which threads are
//! about to rest. So as long as fewer threads run than there are cores, a thread is woken on a core where no other
//! runs: the waker's own, if that one rests, which is the quickest way to hand over; else any. Once there, the kernel
//! may move it again.

use raddle_core::ThreadId;

use crate::os::sys;

/// With more cores than this the kernel finds an idle one.
const MOST: usize = 64;

/// The cores of a run. Valid when zeroed: no thread is placed.
#[repr(C)]
pub struct Placement {
    /// The cores on which the process may run, a bit each.
    cores: u64,
    /// The thread last seen on each of them: its id plus 1; 0 for none.
    on: [u16; MOST],
}

impl Placement {
    /// A run starts, of which threads are to be placed.
    pub fn start(&mut self) {
        self.cores = sys::cores();
        self.on.fill(0);
    }

    /// How many cores there are to place threads on; 0: threads are not placed.
    pub fn cores(&self) -> usize {
        match self.cores.count_ones() {
            1 => 0,
            n => n as usize,
        }
    }

    /// A core for a thread that is to be woken: `runs` says whether a thread runs. The core `here` is that of the
    /// calling thread, `me`.
    pub fn choose(&mut self, me: ThreadId, here: usize, t: ThreadId, runs: impl Fn(ThreadId) -> bool) -> Option<usize> {
        if here >= MOST {
            return None;
        }
        // Another thread may have been given the core of one that is about to rest.
        if runs(me) {
            self.seen(me, here);
        }
        let busy = |core: usize| self.on[core].checked_sub(1).is_some_and(|on| runs(ThreadId(on)));
        let free = |core: &usize| self.cores >> core & 1 == 1 && !busy(*core);
        let core = core::iter::once(here).chain(0..MOST).find(free)?;
        self.seen(t, core);
        Some(core)
    }

    fn seen(&mut self, t: ThreadId, core: usize) {
        let id = t.0 + 1;
        // The kernel may have moved it.
        self.on.iter_mut().filter(|on| **on == id).for_each(|on| *on = 0);
        self.on[core] = id;
    }

    /// The calling thread may run anywhere again.
    pub fn release(&self) {
        sys::run_on(0, self.cores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_goes_where_nobody_runs() {
        let t = ThreadId;
        let mut places = Placement { cores: 0b1011, on: [0; MOST] };
        // Main goes on, on core 1.
        assert_eq!(places.choose(t(0), 1, t(1), |it| it == t(0)), Some(0));
        // Core 2 is not the process's.
        assert_eq!(places.choose(t(0), 1, t(2), |it| it.0 < 2), Some(3));
        assert_eq!(places.choose(t(0), 1, t(3), |it| it.0 < 3), None);
        // Thread 2 wakes another one, and rests.
        assert_eq!(places.choose(t(2), 3, t(3), |it| it.0 < 2), Some(3));
        // And wakes one more.
        assert_eq!(places.choose(t(2), 3, t(4), |it| it == t(3)), Some(0));
        // Thread 3 has been moved to core 0, where thread 4 no longer runs.
        assert_eq!(places.choose(t(3), 0, t(5), |it| it == t(3)), Some(1));
        assert_eq!(places.choose(t(0), MOST, t(4), |_| false), None, "nothing is known of such a core");
    }
}
