//! Shadow memory: for every eight bytes of the program, the last accesses that may still race.
//!
//! An access is kept as an epoch, after FastTrack (Flanagan and Freund, 2009): the thread and its clock at
//! the time. It happens before another access if the clock is known to the other's thread. Deviations:
//! three accesses are kept for each eight bytes, whatever they are, and the oldest gives way to a fourth,
//! so that a race may be missed but never invented; and each has a mask of the bytes it touched.
//!
//! What a thread does again before its clock moves on is the same access, but perhaps at another place: `if (p)
//! use(p->v)` reads p twice, and a write races with both. One of the places is kept, and in each run another one
//! ([`Preference`]), so that all of them are learned.

use raddle_core::ThreadId;

use super::depot::Stack;
use super::table::Table;

/// Accesses that are kept.
const CELLS: usize = 3;

/// One access: by which thread, when, which bytes and how (first word); where (second word). Empty when zeroed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Cell(u64, u64);

const THREAD: u32 = 32;
const MASK: u32 = 44;
const WRITES: u64 = 1 << 52;
const ATOMIC: u64 = 1 << 53;
const USED: u64 = 1 << 54;
const STACK: u32 = 56;
/// The part of the second word that says where.
const PC: u64 = 0xffff_ffff_ffff;
/// All but where.
const WHAT: u64 = (1 << STACK) - 1;

impl Cell {
    /// An access of `bytes` (one bit each) by a thread at a time.
    #[inline(always)]
    pub fn new(t: ThreadId, clock: u32, bytes: u8, how: AccessKind, pc: usize, stack: Stack) -> Cell {
        let what = u64::from(clock) | u64::from(t.0) << THREAD | u64::from(bytes) << MASK | how.0 | USED;
        Cell(what | u64::from(stack >> 16) << STACK, pc as u64 & PC | u64::from(stack) << 48)
    }

    pub fn thread(self) -> ThreadId {
        ThreadId((self.0 >> THREAD) as u16 & 0xfff)
    }

    /// The thread's own clock at the time.
    pub fn clock(self) -> u32 {
        self.0 as u32
    }

    /// The bytes, one bit each.
    pub fn bytes(self) -> u8 {
        (self.0 >> MASK) as u8
    }

    /// Whether it writes, and whether it is atomic.
    pub fn how(self) -> AccessKind {
        AccessKind(self.0 & (WRITES | ATOMIC))
    }

    /// Where in the program.
    pub fn pc(self) -> usize {
        (self.1 & PC) as usize
    }

    /// The functions around it.
    pub fn stack(self) -> Stack {
        ((self.0 >> STACK) as u32) << 16 | (self.1 >> 48) as u32
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessKind(u64);

impl AccessKind {
    pub const READ: AccessKind = AccessKind(0);
    pub const WRITE: AccessKind = AccessKind(WRITES);
    pub const ATOMIC_READ: AccessKind = AccessKind(ATOMIC);
    /// An atomic write, also one that reads.
    pub const ATOMIC_WRITE: AccessKind = AccessKind(ATOMIC | WRITES);

    pub fn writes(self) -> bool {
        self.0 & WRITES != 0
    }

    /// Whether it is atomic.
    pub fn atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// Whether two such accesses without an order are a race.
    #[inline(always)]
    fn conflicts(self, other: AccessKind) -> bool {
        (self.0 | other.0) & WRITES != 0 && self.0 & other.0 & ATOMIC == 0
    }

    /// Whether every access that races with `older`, which happens before this, races with this as well.
    #[inline(always)]
    fn covers(self, older: AccessKind) -> bool {
        self.0 & WRITES >= older.0 & WRITES && self.0 & ATOMIC <= older.0 & ATOMIC
    }
}

/// Which of several places of one access is kept: the largest one when these bits are flipped. Runs differ in them, and
/// whichever places there are, each is the largest one for some of them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Preference(u64);

impl Preference {
    /// The largest place itself. That is mostly the last one in a function, and a run in which the other thread comes
    /// first shows the first one.
    pub const LARGEST: Preference = Preference(0);

    pub fn flipping(bits: u64) -> Preference {
        Preference(bits)
    }

    #[inline(always)]
    pub fn prefers(self, new: Cell, old: Cell) -> bool {
        self.rank(new) > self.rank(old)
    }

    #[inline(always)]
    fn rank(self, cell: Cell) -> u64 {
        cell.1 << (u64::BITS - PC.count_ones()) ^ self.0
    }
}

/// What is kept for eight bytes. Empty when zeroed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Word {
    cell: [Cell; CELLS],
    /// The one to replace next, and [`FREED`].
    next: u64,
}

/// The word lies in a freed block that is held back.
const FREED: u64 = 1 << 63;

/// All words that were accessed, by address divided by eight.
pub type Shadow = Table<Word>;

impl Word {
    /// Notes an access. `prefers` says whether its place is to be kept rather than that of an earlier access that was
    /// the same, and `knows` whether the accessing thread knows of a clock of another one. Calls `race` with an earlier
    /// access that races with it.
    #[inline(always)]
    pub fn note(
        &mut self,
        now: Cell,
        prefers: impl Fn(Cell) -> bool,
        knows: impl Fn(ThreadId, u32) -> bool,
        mut race: impl FnMut(Cell),
    ) {
        let mut place = CELLS;
        let mut again = false;
        for i in 0..CELLS {
            let old = self.cell[i];
            if old.0 == 0 {
                place = place.min(i);
                break;
            }
            if old.0 & WHAT == now.0 & WHAT {
                if !prefers(old) {
                    return;
                }
                self.cell[i] = now;
                again = true;
                continue;
            }
            if old.bytes() & now.bytes() == 0 {
                continue;
            }
            let before = old.thread() == now.thread() || knows(old.thread(), old.clock());
            if !before && old.how().conflicts(now.how()) {
                race(old);
            } else if before && now.how().covers(old.how()) && old.bytes() & !now.bytes() == 0 {
                place = place.min(i);
            }
        }
        if again {
            return;
        }
        if place == CELLS {
            place = (self.next & !FREED) as usize % CELLS;
            self.next += 1;
        }
        self.cell[place] = now;
    }

    /// Whether it lies in a freed block that is held back.
    #[inline(always)]
    pub fn is_freed(&self) -> bool {
        self.next & FREED != 0
    }

    pub fn set_freed(&mut self, freed: bool) {
        self.next = self.next & !FREED | if freed { FREED } else { 0 };
    }

    /// Forgets all accesses to some of the bytes.
    pub fn forget(&mut self, bytes: u8) {
        self.set_freed(false);
        // Holes would hide what comes after them.
        let old = core::mem::replace(&mut self.cell, [Cell(0, 0); CELLS]);
        let mut kept = 0;
        for cell in old {
            if cell.0 != 0 && cell.bytes() & !bytes != 0 {
                let mut cell = cell;
                cell.0 &= !(u64::from(bytes) << MASK);
                self.cell[kept] = cell;
                kept += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    fn word() -> Word {
        Word { cell: [Cell(0, 0); CELLS], next: 0 }
    }

    fn races(word: &mut Word, now: Cell, known: u32) -> Vec<usize> {
        let mut found = Vec::new();
        word.note(
            now,
            |old| Preference::LARGEST.prefers(now, old),
            |_, clock| clock <= known,
            |old| found.push(old.pc()),
        );
        found
    }

    fn access(t: ThreadId, bytes: u8, how: AccessKind, pc: usize) -> Cell {
        Cell::new(t, 5, bytes, how, pc, 0x12_3456)
    }

    #[test]
    fn a_cell_keeps_what_it_is_given() {
        let cell = Cell::new(ThreadId(4095), u32::MAX, 0x81, AccessKind::ATOMIC_WRITE, 0x7fff_f7d8_9abc, 0x12_3456);
        assert_eq!((cell.thread(), cell.clock(), cell.bytes()), (ThreadId(4095), u32::MAX, 0x81));
        assert_eq!((cell.pc(), cell.stack(), cell.how()), (0x7fff_f7d8_9abc, 0x12_3456, AccessKind::ATOMIC_WRITE));
    }

    #[test]
    fn two_writes_without_an_order_race() {
        let mut w = word();
        assert_eq!(races(&mut w, access(A, 0x0f, AccessKind::WRITE, 1), 0), []);
        assert_eq!(races(&mut w, access(B, 0x0f, AccessKind::WRITE, 2), 0), [1]);
    }

    #[test]
    fn an_order_is_enough() {
        let mut w = word();
        races(&mut w, access(A, 0xff, AccessKind::WRITE, 1), 0);
        assert_eq!(races(&mut w, access(B, 0xff, AccessKind::WRITE, 2), 5), []);
        // The second write stands for both now.
        assert_eq!(races(&mut w, access(ThreadId(3), 0xff, AccessKind::READ, 3), 0), [2]);
    }

    #[test]
    fn reads_other_bytes_and_atomics_do_not_race() {
        let mut w = word();
        races(&mut w, access(A, 0x0f, AccessKind::READ, 1), 0);
        assert_eq!(races(&mut w, access(B, 0x0f, AccessKind::READ, 2), 0), []);
        assert_eq!(races(&mut w, access(B, 0xf0, AccessKind::WRITE, 2), 0), []);
        let mut w = word();
        races(&mut w, access(A, 0x0f, AccessKind::ATOMIC_WRITE, 1), 0);
        assert_eq!(races(&mut w, access(B, 0x0f, AccessKind::ATOMIC_WRITE, 2), 0), []);
        assert_eq!(races(&mut w, access(ThreadId(3), 0x01, AccessKind::READ, 3), 0), [1, 2]);
    }

    #[test]
    fn a_write_after_two_reads_races_with_both() {
        let mut w = word();
        races(&mut w, access(A, 0xff, AccessKind::READ, 1), 0);
        races(&mut w, access(B, 0xff, AccessKind::READ, 2), 0);
        assert_eq!(races(&mut w, access(ThreadId(3), 0xff, AccessKind::WRITE, 3), 0), [1, 2]);
    }

    #[test]
    fn an_atomic_does_not_hide_a_plain_access() {
        let mut w = word();
        races(&mut w, access(A, 0xff, AccessKind::WRITE, 1), 0);
        races(&mut w, access(B, 0xff, AccessKind::ATOMIC_WRITE, 2), 5);
        assert_eq!(races(&mut w, access(ThreadId(3), 0xff, AccessKind::ATOMIC_WRITE, 3), 0), [1]);
    }

    #[test]
    fn all_places_of_a_check_and_its_uses_race() {
        let reads = [0x5555_5555_1000, 0x5555_5555_1010, 0x5555_5555_1018, 0x7fff_f7d8_9abc];
        let write = access(B, 0xff, AccessKind::WRITE, 1);
        let found = |preference: Preference| {
            let (mut w, mut found) = (word(), Vec::new());
            let mut note =
                |now| w.note(now, |old| preference.prefers(now, old), |_, _| false, |old| found.push(old.pc()));
            reads.iter().for_each(|&pc| note(access(A, 0xff, AccessKind::READ, pc)));
            note(write);
            found
        };
        assert_eq!(found(Preference::LARGEST), [reads[3]]);
        let mut all: Vec<_> =
            (0..64u64).flat_map(|run| found(Preference::flipping(run.wrapping_mul(0x9E37_79B9_7F4A_7C15)))).collect();
        assert_eq!(all.len(), 64);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all, reads);
        // The other way round, the last place sees the write as well.
        let mut w = word();
        races(&mut w, write, 0);
        for pc in reads {
            assert_eq!(races(&mut w, access(A, 0xff, AccessKind::READ, pc), 0), [1]);
        }
    }

    #[test]
    fn what_is_forgotten_does_not_race() {
        let mut w = word();
        races(&mut w, access(A, 0xff, AccessKind::WRITE, 1), 0);
        w.forget(0x0f);
        assert_eq!(races(&mut w, access(B, 0x0f, AccessKind::WRITE, 2), 0), []);
        assert_eq!(races(&mut w, access(B, 0x80, AccessKind::WRITE, 3), 0), [1]);
    }
}
