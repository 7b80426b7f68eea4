//! Whether anything is achieved under turns of many lengths.
//!
//! Two threads that try, fail and step back together come back to the same state under every schedule that treats them
//! alike, and need only a little disorder to get out of it. So states are collected in the first quarter of a stage with
//! disorder and looked for in the last one. Who has got on in between never comes back to one of them.

use super::hash::Hash;

/// The most states that are collected.
const MOST: usize = 4_096;
/// The most pages that are read to collect states, and again to look for them: about a second's work.
const MOST_PAGES: u64 = 1 << 19;

/// States of one stage. Valid when zeroed.
#[repr(C)]
pub struct Seen {
    count: usize,
    /// Pages that were read to collect them, and to look for them.
    pages: [u64; 2],
    again: bool,
    states: [Hash; MOST],
}

/// Which part of a stage it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quarter {
    /// States are collected.
    First,
    /// They are not looked at.
    Between,
    /// They are looked for.
    Last,
}

impl Quarter {
    /// At a point of a stage that lasts for `length` points, `left` before its end.
    pub fn of(left: u64, length: u64) -> Quarter {
        match (4 * left).checked_div(length) {
            Some(0) => Quarter::Last,
            Some(1 | 2) => Quarter::Between,
            _ => Quarter::First,
        }
    }
}

impl Seen {
    /// Forgets all states.
    pub fn clear(&mut self) {
        (self.count, self.pages, self.again) = (0, [0; 2], false);
    }

    /// Whether a state came again.
    pub fn is_again(&self) -> bool {
        self.again
    }

    /// The next state, if it is worth the look: its hash, and the pages that this takes.
    pub fn visit(&mut self, quarter: Quarter, digest: impl FnOnce() -> Option<(Hash, u64)>) {
        let looks = quarter == Quarter::Last;
        let full = if looks { self.again || self.count == 0 } else { self.count == MOST };
        if quarter == Quarter::Between || full || self.pages[usize::from(looks)] > MOST_PAGES {
            return;
        }
        let Some((hash, pages)) = digest() else { return };
        self.pages[usize::from(looks)] += pages;
        if looks {
            self.again = self.states[..self.count].contains(&hash);
        } else {
            self.states[self.count] = hash;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether one of these states comes again, with so many pages each.
    fn again(states: &[u64], pages: u64) -> (bool, usize) {
        // SAFETY: documented as valid when zeroed.
        let mut seen: Box<Seen> = unsafe { Box::new(core::mem::zeroed()) };
        let (length, mut looks) = (states.len() as u64, 0);
        for (i, &state) in states.iter().enumerate() {
            let quarter = Quarter::of(length - i as u64 - 1, length);
            seen.visit(quarter, || {
                looks += 1;
                let mut hash = Hash::EMPTY;
                hash.word(state);
                Some((hash, pages))
            });
        }
        (seen.is_again(), looks)
    }

    #[test]
    fn what_goes_round_comes_again_and_what_counts_does_not() {
        let round: Vec<u64> = (0..1000).map(|i| i % 7).collect();
        let counts: Vec<u64> = (0..1000).map(|i| i / 500).collect();
        let stuck_at_last: Vec<u64> = (0..1000).map(|i| i.min(400)).collect();
        assert!(again(&round, 1).0);
        assert!(!again(&counts, 1).0);
        assert!(!again(&stuck_at_last, 1).0);
    }

    #[test]
    fn looks_are_limited() {
        let counts: Vec<u64> = (0..100_000).collect();
        assert_eq!(again(&counts, 1), (false, MOST + 25_000));
        let few = (MOST_PAGES / (1 << 16) + 1) as usize;
        assert_eq!(again(&counts, 1 << 16), (false, 2 * few));
        assert_eq!(again(&[1], 1), (false, 0));
    }
}
