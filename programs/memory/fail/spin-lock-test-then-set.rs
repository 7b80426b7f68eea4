// fail: a spin lock that looks whether it is free and takes it in two steps
// expect: assert
// races: COUNT

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

struct Plain(UnsafeCell<u32>);
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Plain {}

static LOCKED: AtomicBool = AtomicBool::new(false);
static COUNT: Plain = Plain(UnsafeCell::new(0));

// Both see it free, both take it; one reads the count, then the other.
fn count() {
    while LOCKED.load(SeqCst) {}
    LOCKED.store(true, SeqCst);
    unsafe { *COUNT.0.get() += 1 };
    LOCKED.store(false, SeqCst);
}

fn main() {
    let other = thread::spawn(count);
    count();
    other.join().unwrap();
    assert_eq!(unsafe { *COUNT.0.get() }, 2);
}
