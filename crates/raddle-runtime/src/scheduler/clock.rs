//! The one virtual clock.
//!
//! It counts nanoseconds since the start of the run. Every schedule point and every reading moves
//! it on by a fixed quantum, so that `while (now() < deadline)` ends; when no thread can run it jumps
//! to the next deadline, so that a test that sleeps for a minute takes no time. A thread that does
//! nothing but read the clock makes it run faster and faster, so that busy waiting for a minute
//! takes no time either.

/// What a schedule point costs on the virtual clock.
const POINT: u64 = 1_000;
/// What a reading costs on the virtual clock.
const READING: u64 = 1_000;
/// Readings in a row after which the clock speeds up, and then doubles its pace again.
const PATIENCE: u32 = 64;
/// The fastest pace of repeated readings.
const FASTEST: u64 = 20_000_000;

/// CLOCK_MONOTONIC at the start of a run: a machine that has been up for a while.
pub const MONOTONIC_START: u64 = 1_000_000_000_000;

/// A deadline that never comes.
pub const NEVER: u64 = u64::MAX;

/// The virtual clock. Valid when zeroed.
#[derive(Debug, Default)]
pub struct Clock {
    now: u64,
    readings: u32,
    /// CLOCK_REALTIME at the start of the run.
    pub realtime_start: u64,
}

impl Clock {
    /// The clock at the start of a run.
    pub fn starting_at(realtime_start: u64) -> Clock {
        Clock { realtime_start, ..Clock::default() }
    }

    /// Nanoseconds since the start of the run.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// So many nanoseconds pass.
    pub fn pass_time(&mut self, nanoseconds: u64) {
        self.now += nanoseconds;
    }

    /// A schedule point passes.
    #[inline]
    pub fn point(&mut self) {
        self.now += POINT;
    }

    pub fn pass(&mut self, points: u64) {
        self.now += points * POINT;
        self.readings = 0;
    }

    /// How long so many points take.
    pub fn points_take(&self, points: u64) -> u64 {
        points * POINT
    }

    /// How many points can pass before a deadline.
    pub fn points_before(&self, deadline: u64) -> u64 {
        deadline.saturating_sub(self.now + 1) / POINT
    }

    /// A thread did something other than read the clock.
    #[inline]
    pub fn other_work(&mut self) {
        self.readings = 0;
    }

    /// A thread reads the clock. Returns the time, and whether it is read again and again.
    pub fn read(&mut self) -> (u64, bool) {
        self.readings = self.readings.saturating_add(1);
        let doublings = (self.readings / PATIENCE).min(20);
        self.now += (READING << doublings).min(FASTEST);
        (self.now, self.readings.is_multiple_of(PATIENCE))
    }

    /// Jumps to a deadline.
    pub fn jump(&mut self, deadline: u64) {
        self.now = self.now.max(deadline);
    }

    /// A time on one of the program's clocks as a deadline of this one.
    pub fn deadline(&self, clock: i32, time: u64) -> u64 {
        time.saturating_sub(self.start_of(clock)).min(NEVER - 1)
    }

    /// What one of the program's clocks shows at `now`.
    pub fn show(&self, clock: i32, now: u64) -> u64 {
        now + self.start_of(clock)
    }

    fn start_of(&self, clock: i32) -> u64 {
        match clock {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => self.realtime_start,
            _ => MONOTONIC_START,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_waiting_for_a_minute_takes_few_readings() {
        let mut clock = Clock::default();
        let mut readings = 0;
        while clock.read().0 < 60_000_000_000 {
            readings += 1;
        }
        assert!(readings < 10_000, "{readings}");
    }

    #[test]
    fn deadlines_survive_the_way_there_and_back() {
        let clock = Clock { realtime_start: 7_000, ..Clock::default() };
        for id in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            assert_eq!(clock.deadline(id, clock.show(id, 123)), 123);
        }
        assert_eq!(clock.deadline(libc::CLOCK_MONOTONIC, 5), 0);
        assert!(clock.deadline(libc::CLOCK_REALTIME, u64::MAX) < NEVER);
    }
}
