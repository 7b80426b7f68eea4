//! What the kernel has delivered and the scheduler has not taken yet.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU64, Ordering};

/// Letters that find room.
const SLOTS: u64 = 1024;

/// Written by handlers on any thread, read by the holder of the baton. Valid when zeroed.
pub struct Mailbox {
    /// Letters that were posted, or are being written.
    posted: AtomicU64,
    taken: AtomicU64,
    slots: [Slot; SLOTS as usize],
}

struct Slot {
    /// One more than the number of the letter that is in it.
    full: AtomicU64,
    letter: UnsafeCell<MaybeUninit<Letter>>,
}

/// A signal, and where the kernel has delivered it.
#[derive(Clone, Copy)]
pub struct Letter {
    /// The thread pointer at that moment.
    pub pointer: usize,
    pub info: libc::siginfo_t,
}

// SAFETY: a slot is written by the thread that has drawn its number, and read by the one that takes it, after it was
// marked as full and before it is drawn again.
unsafe impl Sync for Mailbox {}

impl Mailbox {
    /// Puts a letter at the end. Without room it is lost, as a signal is when too many wait in the kernel.
    pub fn post(&self, letter: Letter) {
        let room = |posted: u64| (posted - self.taken.load(Ordering::Acquire) < SLOTS).then_some(posted + 1);
        let Ok(number) = self.posted.fetch_update(Ordering::AcqRel, Ordering::Relaxed, room) else { return };
        let slot = &self.slots[(number % SLOTS) as usize];
        // SAFETY: ours since the number was drawn.
        unsafe { (*slot.letter.get()).write(letter) };
        slot.full.store(number + 1, Ordering::Release);
    }

    /// Takes the oldest letter.
    pub fn take(&self) -> Option<Letter> {
        let number = self.taken.load(Ordering::Relaxed);
        let slot = &self.slots[(number % SLOTS) as usize];
        if slot.full.load(Ordering::Acquire) != number + 1 {
            return None;
        }
        // SAFETY: full, and read by the holder of the baton only.
        let letter = unsafe { (*slot.letter.get()).assume_init() };
        self.taken.store(number + 1, Ordering::Release);
        Some(letter)
    }

    pub fn is_empty(&self) -> bool {
        self.posted.load(Ordering::Relaxed) == self.taken.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_taken_in_the_order_of_posting_and_the_last_are_lost() {
        // SAFETY: documented as valid when zeroed.
        let mailbox: Box<Mailbox> = unsafe { Box::new(core::mem::zeroed()) };
        // SAFETY: plain numbers.
        let info = unsafe { core::mem::zeroed() };
        for round in 0..3 {
            assert!(mailbox.is_empty());
            (0..SLOTS as usize + 10).for_each(|pointer| mailbox.post(Letter { pointer: pointer + round, info }));
            let taken: Vec<_> = std::iter::from_fn(|| mailbox.take()).map(|letter| letter.pointer).collect();
            assert_eq!(taken, (round..SLOTS as usize + round).collect::<Vec<_>>());
        }
    }
}
