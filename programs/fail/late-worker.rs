// fail: a thread counts after 50 ms, and the test expects the count after 60 ms
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let worker = thread::spawn(|| {
        thread::sleep(Duration::from_millis(50));
        COUNT.fetch_add(1, SeqCst);
    });
    thread::sleep(Duration::from_millis(60));
    assert_eq!(COUNT.load(SeqCst), 1);
    worker.join().unwrap();
}
