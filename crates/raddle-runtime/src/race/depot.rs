//! Call stacks as numbers: a stack is where the innermost function was called, and the stack of its caller.
//! Each is kept once.

use super::table::Table;

/// One frame and all below it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Node {
    pc: usize,
    below: u32,
}

/// A stack; 0 is the empty one.
pub type Stack = u32;

/// The most stacks: their numbers have 24 bits.
pub const STACKS: usize = 1 << 23;

/// All stacks. Valid when zeroed.
#[repr(C)]
pub struct Depot {
    used: u32,
    numbers: Table<u32>,
}

impl Depot {
    /// Bytes that the depot reserves.
    pub const BYTES: usize = Self::NODES + Table::<u32>::bytes(2 * STACKS);
    const NODES: usize = (STACKS + 1) * size_of::<Node>();

    /// The stack with one more frame on top. The empty stack when there is no room for more.
    ///
    /// # Safety
    /// `memory` is the depot's.
    #[inline]
    pub unsafe fn push(&mut self, memory: *mut u8, below: Stack, pc: usize) -> Stack {
        let key = u64::from(below) << 40 | pc as u64 & 0xff_ffff_ffff;
        // SAFETY: the caller's promise.
        unsafe {
            let Some(number) = self.numbers.entry(memory.add(Self::NODES), 2 * STACKS, key) else { return 0 };
            if *number == 0 {
                self.used += 1;
                *number = self.used;
                memory.cast::<Node>().add(self.used as usize).write(Node { pc, below });
            }
            *number
        }
    }

    /// The frames of a stack, the innermost first.
    ///
    /// # Safety
    /// As for [`Depot::push`].
    pub unsafe fn frames(&self, memory: *const u8, stack: Stack) -> impl Iterator<Item = usize> {
        let nodes = memory.cast::<Node>();
        let mut at = stack;
        core::iter::from_fn(move || {
            // SAFETY: a number that the depot has given.
            let node = (at != 0).then(|| unsafe { *nodes.add(at as usize) })?;
            at = node.below;
            Some(node.pc)
        })
    }

    /// Forgets all stacks.
    ///
    /// # Safety
    /// As for [`Depot::push`].
    pub unsafe fn clear(&mut self, memory: *mut u8) {
        self.used = 0;
        // SAFETY: the caller's promise.
        unsafe { self.numbers.clear(memory.add(Self::NODES)) };
    }
}
