// pass: every operation on atomics of 1, 2, 4 and 8 bytes, on bools and pointers, checked against plain arithmetic; neighbours stay as they are
// race-free

use std::sync::atomic::{AtomicBool, AtomicI16, AtomicPtr, AtomicU32, AtomicU64, AtomicU8, Ordering::*};
use std::{ptr, thread};

// Each thread has a cell of its own, next to the other's: an access that is too wide would hit it.
macro_rules! operations {
    ($name:ident, $atomic:ty, $type:ty) => {
        fn $name(me: usize) {
            static CELLS: [$atomic; 2] = [const { <$atomic>::new(0) }; 2];
            let cell = &CELLS[me];
            let (mut plain, v) = ((0xa5c396e187b4d2f1_u64 >> me) as $type, (0x1b3d597f2468ace5_u64 >> me) as $type);
            cell.store(plain, Release);
            assert_eq!(cell.load(Acquire), plain);
            assert_eq!(cell.swap(v, AcqRel), plain);
            plain = v;
            assert_eq!(cell.fetch_add(v, Relaxed), plain);
            plain = plain.wrapping_add(v);
            assert_eq!(cell.fetch_sub(77, Acquire), plain);
            plain = plain.wrapping_sub(77);
            assert_eq!(cell.fetch_and(!v, Release), plain);
            plain &= !v;
            assert_eq!(cell.fetch_or(0x5a, AcqRel), plain);
            plain |= 0x5a;
            assert_eq!(cell.fetch_xor(v, SeqCst), plain);
            plain ^= v;
            assert_eq!(cell.fetch_nand(v, SeqCst), plain);
            plain = !(plain & v);
            assert_eq!(cell.fetch_max(v, SeqCst), plain);
            plain = plain.max(v);
            assert_eq!(cell.fetch_min(100, SeqCst), plain);
            plain = plain.min(100);
            assert_eq!(cell.compare_exchange(plain ^ 1, v, AcqRel, Relaxed), Err(plain));
            assert_eq!(cell.compare_exchange(plain, v, SeqCst, SeqCst), Ok(plain));
            while cell.compare_exchange_weak(v, 5, SeqCst, Acquire).is_err() {}
            assert_eq!(cell.fetch_update(SeqCst, SeqCst, |old| Some(old + 1)), Ok(5));
            assert_eq!(cell.load(SeqCst), 6);
        }
    };
}

operations!(one_byte, AtomicU8, u8);
operations!(two_bytes, AtomicI16, i16);
operations!(four_bytes, AtomicU32, u32);
operations!(eight_bytes, AtomicU64, u64);

static SET: AtomicBool = AtomicBool::new(false);
static WINNERS: AtomicU8 = AtomicU8::new(0);
static SLOT: AtomicPtr<usize> = AtomicPtr::new(ptr::null_mut());

fn work(me: usize) {
    one_byte(me);
    two_bytes(me);
    four_bytes(me);
    eight_bytes(me);
    if !SET.fetch_or(true, SeqCst) {
        WINNERS.fetch_add(1, SeqCst);
    }
    let found = SLOT.swap(Box::into_raw(Box::new(me)), AcqRel);
    if !found.is_null() {
        // SAFETY: made by the other thread, which left it here.
        assert_eq!(unsafe { *Box::from_raw(found) }, 1 - me);
    }
}

fn main() {
    let other = thread::spawn(|| work(1));
    work(0);
    other.join().unwrap();
    assert!(SET.load(SeqCst) && WINNERS.load(SeqCst) == 1 && !SLOT.load(SeqCst).is_null());
}
