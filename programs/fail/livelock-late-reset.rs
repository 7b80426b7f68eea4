// fail: a flag is reset after the thread that sets it was started, so main may spin for ever
// expect: livelock
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

static STARTED: AtomicBool = AtomicBool::new(false);

fn main() {
    let worker = thread::spawn(|| STARTED.store(true, SeqCst));
    thread::yield_now();
    STARTED.store(false, SeqCst); // Belongs before the spawn: the worker may have said its word already.
    while !STARTED.load(SeqCst) {
        thread::yield_now();
    }
    worker.join().unwrap();
}
