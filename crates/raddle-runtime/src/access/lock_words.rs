//! Who took a lock that is a word in memory: the locks of Rust's standard library, which keep no owner.
//!
//! A word that is 0 is free. An instrumented program takes it by a compare-and-exchange and gives it back by an exchange,
//! and both are seen. Code that is not instrumented takes it after a wait in the kernel: a thread that has been woken
//! there has the lock, unless it waits there again. Where a lock was taken unseen, nobody is named.

use raddle_core::ThreadId;

/// Words that are remembered; of two with the same place the later one counts.
const WORDS: usize = 512;

/// The bits of a word that count readers or say that it is locked: those of a lock of readers and writers.
const TAKEN: u64 = (1 << 30) - 1;

/// Valid when zeroed.
#[repr(C)]
pub struct LockWords {
    word: [Word; WORDS],
}

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Word {
    address: usize,
    /// The thread that has it, plus one; 0 for none that is known.
    taker: u32,
    /// It has only been woken.
    is_guess: bool,
}

impl LockWords {
    fn word(&mut self, address: usize) -> &mut Word {
        let word = &mut self.word[place(address)];
        if word.address != address {
            *word = Word { address, ..Word::default() };
        }
        word
    }

    /// A thread has changed a word by an atomic operation.
    pub fn changed(&mut self, me: ThreadId, address: usize, old: u64, new: u64, compared: bool) {
        let (before, after) = (old & TAKEN, new & TAKEN);
        let is_mine = |word: &Word| word.taker == u32::from(me.0) + 1;
        match () {
            // An exchange of one mark for another only says that somebody waits.
            () if after > before && (before == 0 || compared) => self.take(me, address, false),
            () if after == 0 => self.word(address).taker = 0,
            () if after < before && is_mine(self.word(address)) => self.word(address).taker = 0,
            () => {}
        }
    }

    /// A thread goes on after a wait for a word.
    pub fn woken(&mut self, me: ThreadId, address: usize) {
        if self.word(address).taker == 0 {
            self.take(me, address, true);
        }
    }

    /// A thread is about to wait for a word.
    pub fn waits(&mut self, me: ThreadId, address: usize) {
        let word = self.word(address);
        if word.is_guess && word.taker == u32::from(me.0) + 1 {
            word.taker = 0;
        }
    }

    fn take(&mut self, me: ThreadId, address: usize, is_guess: bool) {
        *self.word(address) = Word { address, taker: u32::from(me.0) + 1, is_guess };
    }

    /// The thread that took a word last and has not given it back.
    pub fn taker(&self, address: usize) -> Option<ThreadId> {
        let word = &self.word[place(address)];
        let taker = word.taker.checked_sub(1).filter(|_| word.address == address)?;
        Some(ThreadId(taker as u16))
    }
}

fn place(address: usize) -> usize {
    (address >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 55
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: usize = 0x1000;
    const ONE: ThreadId = ThreadId(1);
    const TWO: ThreadId = ThreadId(2);

    fn empty() -> Box<LockWords> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[test]
    fn a_mutex_belongs_to_the_thread_that_found_it_free() {
        let mut words = empty();
        words.changed(ONE, LOCK, 0, 1, true);
        words.changed(TWO, LOCK, 1, 2, false);
        words.waits(TWO, LOCK);
        assert_eq!(words.taker(LOCK), Some(ONE));
        words.changed(ONE, LOCK, 2, 0, false);
        assert_eq!(words.taker(LOCK), None);
        words.woken(TWO, LOCK);
        assert_eq!(words.taker(LOCK), Some(TWO));
        // Another one was quicker.
        words.changed(ONE, LOCK, 0, 1, true);
        words.waits(TWO, LOCK);
        assert_eq!(words.taker(LOCK), Some(ONE));
    }

    #[test]
    fn a_thread_that_was_woken_and_waits_again_has_nothing() {
        let mut words = empty();
        words.woken(TWO, LOCK);
        words.waits(TWO, LOCK);
        assert_eq!(words.taker(LOCK), None);
    }

    #[test]
    fn a_thread_can_wait_for_itself() {
        let mut words = empty();
        words.changed(ONE, LOCK, 0, 1, true);
        words.waits(ONE, LOCK);
        assert_eq!(words.taker(LOCK), Some(ONE));
    }

    #[test]
    fn of_several_readers_the_last_one_is_named() {
        let mut words = empty();
        words.changed(ONE, LOCK, 0, 1, true);
        words.changed(TWO, LOCK, 1, 2, true);
        assert_eq!(words.taker(LOCK), Some(TWO));
        words.changed(TWO, LOCK, 2, 1, false);
        assert_eq!(words.taker(LOCK), None);
        assert_eq!(words.taker(LOCK + 4), None);
    }
}
