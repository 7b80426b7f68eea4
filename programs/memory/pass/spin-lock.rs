// pass: three threads and a spin lock, which spins without a pause
// race-free

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

struct Plain(UnsafeCell<u32>);
// SAFETY: only touched with the lock held, or when the others have ended.
unsafe impl Sync for Plain {}

static LOCKED: AtomicBool = AtomicBool::new(false);
static COUNT: Plain = Plain(UnsafeCell::new(0));

fn count() {
    for _ in 0..2 {
        while LOCKED.swap(true, Acquire) {}
        unsafe { *COUNT.0.get() += 1 };
        LOCKED.store(false, Release);
    }
}

fn main() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(count)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { *COUNT.0.get() }, 6);
}
