//! A hash table in memory that is reserved and not yet there: it starts with a few pages and doubles.

use core::marker::PhantomData;

/// The first table; each next one has twice the slots of the one before. The table of n slots lies at
/// n..2n, so that growing needs no memory but its own.
const SMALLEST: usize = 256;

/// Values by address. `V` is valid when zeroed, and so is the table.
#[repr(C)]
pub struct Table<V> {
    size: usize,
    used: usize,
    values: PhantomData<V>,
}

#[repr(C)]
struct Slot<V> {
    /// 0: free.
    key: u64,
    value: V,
}

impl<V: Copy> Table<V> {
    /// Bytes that a table of at most `slots` slots reserves.
    pub const fn bytes(largest: usize) -> usize {
        2 * largest * size_of::<Slot<V>>()
    }

    fn home(&self, key: u64) -> usize {
        let hash = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        self.size + (hash & (self.size - 1))
    }

    /// Where the key stands, or the free slot where it would.
    #[inline(always)]
    unsafe fn find(&self, memory: *mut u8, key: u64) -> *mut Slot<V> {
        let slots = memory.cast::<Slot<V>>();
        let mut at = self.home(key);
        // SAFETY: inside the table, which is never full.
        unsafe {
            while (*slots.add(at)).key != key && (*slots.add(at)).key != 0 {
                at = self.size + ((at + 1) & (self.size - 1));
            }
            slots.add(at)
        }
    }

    /// The value of a key, if it has one.
    ///
    /// # Safety
    /// `memory` is this table's, with room for `largest` slots.
    #[inline]
    pub unsafe fn get(&self, memory: *mut u8, key: u64) -> Option<&'static mut V> {
        if self.size == 0 {
            return None;
        }
        // SAFETY: the caller's promise.
        let slot = unsafe { self.find(memory, key) };
        // SAFETY: as above.
        unsafe { ((*slot).key != 0).then(|| &mut (*slot).value) }
    }

    /// The value of a key, zeroed if it is new; `None` when the table is full.
    ///
    /// # Safety
    /// As for [`Table::get`].
    #[inline]
    pub unsafe fn entry(&mut self, memory: *mut u8, largest: usize, key: u64) -> Option<&'static mut V> {
        // SAFETY: the caller's promise.
        unsafe {
            if self.size != 0 {
                let slot = self.find(memory, key);
                if (*slot).key != 0 {
                    return Some(&mut (*slot).value);
                }
            }
            self.insert(memory, largest, key)
        }
    }

    #[inline(never)]
    unsafe fn insert(&mut self, memory: *mut u8, largest: usize, key: u64) -> Option<&'static mut V> {
        // SAFETY: the caller's promise.
        unsafe {
            if 2 * self.used >= self.size {
                if self.size >= largest {
                    return None;
                }
                self.grow(memory);
            }
            self.used += 1;
            let slot = self.find(memory, key);
            (*slot).key = key;
            Some(&mut (*slot).value)
        }
    }

    unsafe fn grow(&mut self, memory: *mut u8) {
        let old = self.size;
        self.size = (2 * old).max(SMALLEST);
        let slots = memory.cast::<Slot<V>>();
        for i in old..2 * old {
            // SAFETY: the old table lies below the new one.
            unsafe {
                let from = slots.add(i);
                if (*from).key != 0 {
                    let to = self.find(memory, (*from).key);
                    to.copy_from_nonoverlapping(from, 1);
                    // A later run starts with a table like this one again.
                    from.write_bytes(0, 1);
                }
            }
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Calls `visit` with every key and its value, in no particular order.
    ///
    /// # Safety
    /// As for [`Table::get`].
    pub unsafe fn for_each(&self, memory: *mut u8, mut visit: impl FnMut(u64, &mut V)) {
        let slots = memory.cast::<Slot<V>>();
        for i in self.size..2 * self.size {
            // SAFETY: inside the table.
            let slot = unsafe { &mut *slots.add(i) };
            if slot.key != 0 {
                visit(slot.key, &mut slot.value);
            }
        }
    }

    /// Forgets everything.
    ///
    /// # Safety
    /// As for [`Table::get`].
    pub unsafe fn clear(&mut self, memory: *mut u8) {
        if self.used != 0 {
            // SAFETY: inside the table.
            unsafe { memory.cast::<Slot<V>>().add(self.size).write_bytes(0, self.size) };
            self.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(largest: usize) -> (Table<u64>, Vec<u64>) {
        let table = Table { size: 0, used: 0, values: PhantomData };
        (table, vec![0; Table::<u64>::bytes(largest) / 8])
    }

    #[test]
    fn keeps_what_it_is_given_while_it_grows() {
        let (mut t, mut memory) = table(4096);
        let memory = memory.as_mut_ptr().cast();
        // SAFETY: the table's memory.
        unsafe {
            for key in 1..2000u64 {
                *t.entry(memory, 4096, key * 977).unwrap() = key;
            }
            for key in 1..2000u64 {
                assert_eq!(t.get(memory, key * 977).copied(), Some(key));
            }
            assert!(t.get(memory, 5).is_none());
            let mut sum = 0;
            t.for_each(memory, |_, value| sum += *value);
            assert_eq!(sum, (1..2000).sum());
            t.clear(memory);
            assert!(t.get(memory, 977).is_none());
            assert_eq!(*t.entry(memory, 4096, 977).unwrap(), 0);
        }
    }

    #[test]
    fn a_full_table_says_so() {
        let (mut t, mut memory) = table(512);
        let memory = memory.as_mut_ptr().cast();
        // SAFETY: the table's memory.
        unsafe {
            let kept = (1..1000u64).filter(|&key| t.entry(memory, 512, key).is_some()).count();
            assert_eq!(kept, 256);
            assert!(t.get(memory, 256).is_some() && t.get(memory, 257).is_none());
        }
    }
}
