// fail: a flag that says "the data is there" is set before the data
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::Condvar;
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static DATA: AtomicU32 = AtomicU32::new(0);
static CHANGED: Condvar = Condvar::new();

fn main() {
    let writer = thread::spawn(|| {
        READY.store(true, SeqCst);
        CHANGED.notify_all(); // The reader may look now.
        DATA.store(42, SeqCst);
    });
    CHANGED.notify_all();
    if READY.load(SeqCst) {
        assert_eq!(DATA.load(SeqCst), 42);
    }
    writer.join().unwrap();
}
