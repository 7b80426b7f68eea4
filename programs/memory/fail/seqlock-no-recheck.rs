// fail: a sequence lock whose reader does not look at the sequence again after it has read
// expect: assert
// race-free
// source: H.-J. Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

static SEQUENCE: AtomicI32 = AtomicI32::new(0);
static X: AtomicI32 = AtomicI32::new(0);
static Y: AtomicI32 = AtomicI32::new(0);

fn write() {
    SEQUENCE.fetch_add(1, SeqCst);
    X.store(1, SeqCst);
    Y.store(-1, SeqCst);
    SEQUENCE.fetch_add(1, SeqCst);
}

// The reader sees that nobody writes, and reads x. The writer makes its whole update. The reader reads y.
fn read() {
    while SEQUENCE.load(SeqCst) % 2 != 0 {}
    let (x, y) = (X.load(SeqCst), Y.load(SeqCst));
    assert_eq!(x, -y);
}

fn main() {
    let reader = thread::spawn(read);
    write();
    reader.join().unwrap();
}
