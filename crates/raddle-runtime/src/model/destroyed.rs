//! Which thread destroyed which object, and where: for the report of a use of it. Whether an object is destroyed is
//! written in the object itself.

use raddle_core::ThreadId;

/// The latest calls that destroyed an object.
const MOST: usize = 128;

/// Who destroyed what, and where. Valid when zeroed.
pub struct Destroyed {
    entry: [Entry; MOST],
    /// How many there have been.
    count: usize,
}

#[derive(Clone, Copy)]
pub struct Entry {
    pub object: usize,
    pub by: ThreadId,
    /// Where the call returns to.
    pub place: usize,
}

impl Destroyed {
    /// A run starts, or another one in the same process.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    pub fn note(&mut self, entry: Entry) {
        self.entry[self.count % MOST] = entry;
        self.count += 1;
    }

    pub fn find(&self, object: usize) -> Option<Entry> {
        let oldest = self.count.saturating_sub(MOST);
        (oldest..self.count).rev().map(|i| self.entry[i % MOST]).find(|entry| entry.object == object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_destroy_is_remembered() {
        // SAFETY: documented as valid when zeroed.
        let mut destroyed: Box<Destroyed> = unsafe { Box::new(core::mem::zeroed()) };
        assert!(destroyed.find(0).is_none());
        for i in 0..1000usize {
            destroyed.note(Entry { object: i % 100 * 8, by: ThreadId((i % 7) as u16), place: i });
        }
        assert_eq!(destroyed.find(8).map(|entry| entry.place), Some(901));
        destroyed.clear();
        assert!(destroyed.find(8).is_none());
    }
}
