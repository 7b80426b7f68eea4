//! Looks for a cycle in a sequence of states that can only be remembered one at a time.
//!
//! R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980), section 2: each state is compared with
//! one remembered state, which is replaced after 1, 2, 4, 8, … states. The number of states until a cycle is found is
//! at most proportional to where it starts and how long it is.
//!
//! Deviations: only the first states after a remembered one are compared with it, which makes that number larger and
//! the comparisons fewer; and a cycle counts when it has closed several times, each time after as many states.

/// How often a cycle must close.
const TIMES: u32 = 3;

/// One in so many states is compared, if there are more of them than these.
const COMPARED: u64 = 8;
const FEW: u64 = 64;

/// What is compared.
pub trait State {
    /// Remembers the present state in place of the one before. Returns whether it could.
    fn remember(&mut self) -> bool;
    /// Whether the present state is the remembered one.
    fn recurs(&mut self) -> bool;
}

/// The search for a cycle. Valid when zeroed.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    /// Visits since the state was remembered, or was last seen again.
    distance: u64,
    /// Visits before another state is remembered.
    limit: u64,
    remembered: bool,
    /// Visits that the cycle took when it closed last.
    length: u64,
    /// How often it has closed like that.
    closed: u32,
}

impl Cycle {
    /// The next state. `quiet`: nothing came from outside since the last one, and nothing left.
    pub fn visit(&mut self, quiet: bool, state: &mut impl State) {
        if self.is_proven() {
            return;
        }
        if !quiet {
            (self.remembered, self.closed) = (false, 0);
        }
        self.distance += 1;
        let near = self.distance <= (self.limit / COMPARED).max(FEW);
        if self.remembered && near && state.recurs() {
            // What depends on the state alone takes as long each time.
            self.closed = if self.distance == self.length { self.closed + 1 } else { 1 };
            (self.length, self.distance) = (self.distance, 0);
        } else if self.distance > self.limit {
            self.remembered = state.remember();
            self.limit = 2 * self.limit + 1;
            (self.distance, self.closed) = (0, 0);
        }
    }

    /// Whether the states go round in a circle.
    pub fn is_proven(&self) -> bool {
        self.closed >= TIMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States that are numbers.
    #[derive(Default)]
    struct Numbers {
        now: u64,
        remembered: Option<u64>,
        compared: u64,
    }

    impl State for Numbers {
        fn remember(&mut self) -> bool {
            self.remembered = Some(self.now);
            true
        }

        fn recurs(&mut self) -> bool {
            self.compared += 1;
            self.remembered == Some(self.now)
        }
    }

    /// The visit at which a cycle was proven in `states`, if it was.
    fn proven(visits: u64, state: impl Fn(u64) -> u64, quiet: impl Fn(u64) -> bool) -> Option<u64> {
        let (mut cycle, mut numbers) = (Cycle::default(), Numbers::default());
        (0..visits).find(|&i| {
            numbers.now = state(i);
            cycle.visit(quiet(i), &mut numbers);
            cycle.is_proven()
        })
    }

    #[test]
    fn every_cycle_is_found_soon() {
        for start in [0, 1, 7, 100] {
            for length in [1, 2, 3, 5, 8, 60, 1000] {
                let state = |i: u64| if i < start { i } else { start + (i - start) % length };
                let found = proven(100_000, state, |_| true).expect("found");
                assert!(found < 512 + 40 * (start + length), "{start} {length} {found}");
            }
        }
    }

    #[test]
    fn what_changes_for_ever_is_none() {
        assert_eq!(proven(100_000, |i| i, |_| true), None);
        // It is in one state now and then, but not as what depends on that state alone would be.
        assert_eq!(proven(100_000, |i| if i.isqrt().pow(2) == i { 0 } else { i }, |_| true), None);
    }

    #[test]
    fn news_from_outside_break_a_cycle() {
        assert_eq!(proven(100_000, |i| i % 4, |i| i % 4 != 0), None);
        assert!(proven(100_000, |i| i % 4, |i| i % 4 != 0 || i > 5_000).is_some());
    }
}
