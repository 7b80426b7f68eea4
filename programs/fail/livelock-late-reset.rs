// fail: a flag is reset by one thread after another one has set it, and main spins for ever
// expect: livelock
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

static STARTED: AtomicBool = AtomicBool::new(false);

fn main() {
    // Belongs before the start of the worker, which may have said its word already.
    let reset = thread::spawn(|| STARTED.store(false, SeqCst));
    let worker = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i); // Some work, after which the reset has nearly always happened.
        }
        STARTED.store(true, SeqCst);
    });
    while !STARTED.load(SeqCst) {
        thread::yield_now();
    }
    reset.join().unwrap();
    worker.join().unwrap();
}
