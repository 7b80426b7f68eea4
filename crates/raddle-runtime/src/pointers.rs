//! Threads by their thread pointer: a small hash table with linear probing.

use raddle_core::ThreadId;

const SLOTS: usize = 16384;

/// Threads by thread pointer (which is also their pthread_t). Valid when zeroed.
pub struct Pointers {
    slot: [Slot; SLOTS],
}

#[derive(Clone, Copy)]
struct Slot {
    pointer: usize,
    thread: ThreadId,
}

fn home(pointer: usize) -> usize {
    (pointer >> 6).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50 & (SLOTS - 1)
}

impl Pointers {
    /// The thread with this pointer.
    pub fn get(&self, pointer: usize) -> Option<ThreadId> {
        let mut at = home(pointer);
        while self.slot[at].pointer != 0 {
            if self.slot[at].pointer == pointer {
                return Some(self.slot[at].thread);
            }
            at = (at + 1) % SLOTS;
        }
        None
    }

    /// Notes a thread; an older one with the same pointer is forgotten.
    pub fn insert(&mut self, pointer: usize, thread: ThreadId) {
        let mut at = home(pointer);
        while self.slot[at].pointer != 0 && self.slot[at].pointer != pointer {
            at = (at + 1) % SLOTS;
        }
        self.slot[at] = Slot { pointer, thread };
    }

    /// Forgets a thread.
    pub fn remove(&mut self, pointer: usize) {
        let mut at = home(pointer);
        while self.slot[at].pointer != pointer {
            if self.slot[at].pointer == 0 {
                return;
            }
            at = (at + 1) % SLOTS;
        }
        // Moves later members of the run back so that no gap hides them.
        let mut next = at;
        loop {
            next = (next + 1) % SLOTS;
            let moved = self.slot[next];
            if moved.pointer == 0 {
                break;
            }
            let wanted = home(moved.pointer);
            let stays = if at <= next { at < wanted && wanted <= next } else { at < wanted || wanted <= next };
            if !stays {
                self.slot[at] = moved;
                at = next;
            }
        }
        self.slot[at] = Slot { pointer: 0, thread: ThreadId::MAIN };
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
        let mut pointers: Box<Pointers> = unsafe { Box::new(core::mem::zeroed()) };
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
