// fail: two threads count with an atomic, but in two steps
// expect: assert
// race-free

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

// Both load 0, both store 1.
fn count() {
    let old = COUNTER.load(SeqCst);
    COUNTER.store(old + 1, SeqCst);
}

fn main() {
    let other = thread::spawn(count);
    count();
    other.join().unwrap();
    assert_eq!(COUNTER.load(SeqCst), 2);
}
