// pass: three threads count with an atomic
// race-free

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn count() {
    for _ in 0..2 {
        COUNTER.fetch_add(1, Relaxed);
    }
}

fn main() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(count)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(COUNTER.load(Relaxed), 6);
}
