// pass: a sequence lock: two readers never see half of an update
// race-free
// source: H.-J. Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

static SEQUENCE: AtomicI32 = AtomicI32::new(0);
static X: AtomicI32 = AtomicI32::new(0); // The data are atomics as well, because readers look while the writer is at it.
static Y: AtomicI32 = AtomicI32::new(0);

fn write() {
    for i in 1..=2 {
        SEQUENCE.fetch_add(1, SeqCst);
        X.store(i, SeqCst);
        Y.store(-i, SeqCst);
        SEQUENCE.fetch_add(1, SeqCst);
    }
}

fn read() {
    loop {
        let before = SEQUENCE.load(SeqCst);
        let (x, y) = (X.load(SeqCst), Y.load(SeqCst));
        if before % 2 == 0 && SEQUENCE.load(SeqCst) == before {
            assert_eq!((x, y), (before / 2, -before / 2));
            return;
        }
    }
}

fn main() {
    let threads = [thread::spawn(read), thread::spawn(read), thread::spawn(write)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(SEQUENCE.load(SeqCst), 4);
}
