//! Barriers, after POSIX pthread_barrier_wait. The last to arrive gets the serial value, as in
//! glibc.

/// glibc's `struct pthread_barrier`.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Barrier {
    arrived: u32,
    round: u32,
    count: u32,
    shared: u32,
    left: u32,
}

/// What an arrival means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    Waits,
    /// The last one has arrived: all go on.
    Opens,
}

impl Barrier {
    /// Whether it lives in memory that other processes share.
    pub fn shared(&self) -> bool {
        self.shared != 0
    }

    /// Whether it was destroyed: glibc then counts as many threads out as there can ever be.
    pub fn destroyed(&self) -> bool {
        self.left >= 1 << 30
    }

    pub fn arrive(&mut self) -> Arrival {
        self.arrived += 1;
        if self.arrived < self.count {
            return Arrival::Waits;
        }
        self.arrived = 0;
        Arrival::Opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_every_full_round() {
        let mut barrier = Barrier { count: 3, ..Barrier::default() };
        for _ in 0..4 {
            let arrivals: Vec<_> = (0..3).map(|_| barrier.arrive()).collect();
            assert_eq!(arrivals, [Arrival::Waits, Arrival::Waits, Arrival::Opens]);
            assert_eq!(barrier.arrived, 0);
        }
    }
}
