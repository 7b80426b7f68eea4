// fail: main waits for the slow thread and takes it for granted that the quick one is done as well
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static RESULT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let quick = thread::spawn(|| RESULT.store(42, SeqCst));
    let slow = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i);
        }
    });
    slow.join().unwrap();
    assert_eq!(RESULT.load(SeqCst), 42, "the quick thread was not joined");
    quick.join().unwrap();
}
