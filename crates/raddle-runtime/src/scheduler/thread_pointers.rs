//! Threads by their thread pointer: a small hash table with linear probing.

use raddle_core::ThreadId;

/// The first table; each next one has twice the slots of the one before.
const SMALLEST: usize = 64;
const LARGEST: usize = 16384;

/// Threads by thread pointer (which is also their pthread_t). Valid when zeroed.
///
/// The table starts small and moves to one of twice the size when it is half full, so that a run
/// touches only the memory that its threads need. Each table lies before the ones that are smaller than it:
/// the end of all this is what every run touches.
#[repr(C)]
pub struct ThreadPointers {
    slot: [Slot; SLOTS],
    /// Slots of the current table; 0 before the first insertion.
    size: usize,
    used: usize,
}

/// Slots of all tables.
const SLOTS: usize = 2 * LARGEST - SMALLEST;

/// Bytes at the end that a run with few threads touches.
pub const SMALL: usize = size_of::<ThreadPointers>() - (SLOTS - SMALLEST) * size_of::<Slot>();

#[derive(Clone, Copy)]
struct Slot {
    pointer: usize,
    thread: ThreadId,
}

const FREE: Slot = Slot { pointer: 0, thread: ThreadId::MAIN };

impl ThreadPointers {
    /// Where a table of `size` slots starts.
    fn start(size: usize) -> usize {
        SLOTS + SMALLEST - 2 * size
    }

    fn home(&self, pointer: usize) -> usize {
        let hash = (pointer >> 6).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        ThreadPointers::start(self.size) + (hash & (self.size - 1))
    }

    fn after(&self, at: usize) -> usize {
        let start = ThreadPointers::start(self.size);
        start + ((at - start + 1) & (self.size - 1))
    }

    /// Where a pointer stands, or the free slot where it would.
    fn find(&self, pointer: usize) -> usize {
        let mut at = self.home(pointer);
        while self.slot[at].pointer != 0 && self.slot[at].pointer != pointer {
            at = self.after(at);
        }
        at
    }

    /// The thread with this pointer.
    pub fn get(&self, pointer: usize) -> Option<ThreadId> {
        if self.size == 0 {
            return None;
        }
        let slot = &self.slot[self.find(pointer)];
        (slot.pointer != 0).then_some(slot.thread)
    }

    /// Notes a thread; an older one with the same pointer is forgotten.
    #[link_section = "raddle_run"]
    pub fn insert(&mut self, pointer: usize, thread: ThreadId) {
        if 2 * self.used >= self.size && self.size < LARGEST {
            self.grow();
        }
        let at = self.find(pointer);
        self.used += usize::from(self.slot[at].pointer == 0);
        self.slot[at] = Slot { pointer, thread };
    }

    fn grow(&mut self) {
        let old = self.size;
        self.size = (2 * old).max(SMALLEST);
        for i in (0..old).map(|i| ThreadPointers::start(old) + i) {
            let moved = core::mem::replace(&mut self.slot[i], FREE);
            if moved.pointer != 0 {
                let at = self.find(moved.pointer);
                self.slot[at] = moved;
            }
        }
    }

    #[link_section = "raddle_run"]
    pub fn remove(&mut self, pointer: usize) {
        if self.get(pointer).is_none() {
            return;
        }
        self.used -= 1;
        let mut at = self.find(pointer);
        // Moves later members of the run back so that no gap hides them.
        let mut next = at;
        loop {
            next = self.after(next);
            let moved = self.slot[next];
            if moved.pointer == 0 {
                break;
            }
            let wanted = self.home(moved.pointer);
            let stays = if at <= next { at < wanted && wanted <= next } else { at < wanted || wanted <= next };
            if !stays {
                self.slot[at] = moved;
                at = next;
            }
        }
        self.slot[at] = FREE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Rng;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_a_map() {
        let mut rng = Rng::new(9);
        // SAFETY: documented as valid when zeroed.
        let mut pointers: Box<ThreadPointers> = unsafe { Box::new(core::mem::zeroed()) };
        let mut reference = HashMap::new();
        for i in 0..100_000u32 {
            let pointer = 0x7fff_0000_0000 + rng.below(3000) as usize * 0x801000;
            if rng.below(3) > 0 {
                let t = ThreadId(i as u16);
                pointers.insert(pointer, t);
                reference.insert(pointer, t);
            } else {
                pointers.remove(pointer);
                reference.remove(&pointer);
            }
            let other = 0x7fff_0000_0000 + rng.below(3000) as usize * 0x801000;
            assert_eq!(pointers.get(other), reference.get(&other).copied());
        }
    }
}
