//! Vector clocks: how far each thread has come, as far as another thread knows.

/// A vector clock: one number for each thread, in memory of [`Pool`]. Empty when zeroed.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Clock {
    at: u32,
    length: u32,
}

/// Where clocks keep their numbers. Memory is never freed: a run ends before it is used up, or stops
/// to keep clocks.
#[repr(C)]
pub struct Pool {
    used: u32,
}

/// The most numbers in the pool.
pub const NUMBERS: usize = 1 << 28;

/// The shortest clock, so that the first few threads need no growing.
const SHORTEST: u32 = 4;

impl Clock {
    /// How far thread `t` is known to have come.
    ///
    /// # Safety
    /// `numbers` is the pool's memory.
    #[inline(always)]
    pub unsafe fn get(&self, numbers: *const u32, t: usize) -> u32 {
        if t < self.length as usize {
            // SAFETY: inside this clock.
            unsafe { *numbers.add(self.at as usize + t) }
        } else {
            0
        }
    }
}

impl Pool {
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Makes room for thread `t` in the clock. Returns whether there was memory for it.
    ///
    /// # Safety
    /// `numbers` is the pool's memory.
    unsafe fn reach(&mut self, numbers: *mut u32, clock: &mut Clock, t: usize) -> bool {
        if t < clock.length as usize {
            return true;
        }
        let length = (t as u32 + 1).next_power_of_two().max(SHORTEST);
        if (self.used + length) as usize > NUMBERS {
            return false;
        }
        // SAFETY: fresh memory of the pool; another run may have left something there.
        unsafe {
            let to = numbers.add(self.used as usize);
            to.copy_from_nonoverlapping(numbers.add(clock.at as usize), clock.length as usize);
            to.add(clock.length as usize).write_bytes(0, (length - clock.length) as usize);
        }
        *clock = Clock { at: self.used, length };
        self.used += length;
        true
    }

    /// Sets how far thread `t` has come.
    ///
    /// # Safety
    /// As for [`Clock::get`].
    pub unsafe fn set(&mut self, numbers: *mut u32, clock: &mut Clock, t: usize, value: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.reach(numbers, clock, t) {
                *numbers.add(clock.at as usize + t) = value;
            }
        }
    }

    /// `to` learns everything that `from` knows.
    ///
    /// # Safety
    /// As for [`Clock::get`].
    pub unsafe fn join(&mut self, numbers: *mut u32, to: &mut Clock, from: &Clock) {
        // SAFETY: the caller's promise.
        unsafe {
            if from.length == 0 || !self.reach(numbers, to, from.length as usize - 1) {
                return;
            }
            let (mine, theirs) = (numbers.add(to.at as usize), numbers.add(from.at as usize));
            for i in 0..from.length as usize {
                *mine.add(i) = (*mine.add(i)).max(*theirs.add(i));
            }
        }
    }

    /// `to` becomes what `from` is.
    ///
    /// # Safety
    /// As for [`Clock::get`].
    pub unsafe fn copy(&mut self, numbers: *mut u32, to: &mut Clock, from: &Clock) {
        // SAFETY: the caller's promise.
        unsafe {
            if from.length != 0 && !self.reach(numbers, to, from.length as usize - 1) {
                return;
            }
            let mine = numbers.add(to.at as usize);
            mine.copy_from_nonoverlapping(numbers.add(from.at as usize), from.length as usize);
            mine.add(from.length as usize).write_bytes(0, (to.length - from.length) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_copies() {
        let mut memory = vec![7u32; 1024];
        let numbers = memory.as_mut_ptr();
        let mut pool = Pool { used: 0 };
        let (mut a, mut b) = (Clock::default(), Clock::default());
        // SAFETY: the pool's memory.
        unsafe {
            pool.set(numbers, &mut a, 0, 5);
            pool.set(numbers, &mut b, 6, 3);
            pool.set(numbers, &mut b, 0, 2);
            pool.join(numbers, &mut a, &b);
            assert_eq!([0, 1, 6, 100].map(|t| a.get(numbers, t)), [5, 0, 3, 0]);
            // A clock that forgets: a store that is not a release.
            pool.copy(numbers, &mut a, &Clock::default());
            assert_eq!([0, 6].map(|t| a.get(numbers, t)), [0, 0]);
            pool.copy(numbers, &mut a, &b);
            assert_eq!([0, 6].map(|t| a.get(numbers, t)), [2, 3]);
        }
    }
}
