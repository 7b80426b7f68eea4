// fail: the flag is set before the data that it announces are written
// expect: assert
// races: DATA

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

struct Plain(UnsafeCell<i32>);
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Plain {}

static DATA: Plain = Plain(UnsafeCell::new(0));
static FLAG: AtomicBool = AtomicBool::new(false);

fn write() {
    FLAG.store(true, SeqCst);
    unsafe { *DATA.0.get() += 42 };
}

// The writer sets the flag; the reader sees it, and reads 0.
fn read() {
    if FLAG.load(SeqCst) {
        assert_eq!(unsafe { *DATA.0.get() }, 42);
    }
}

fn main() {
    let reader = thread::spawn(read);
    write();
    reader.join().unwrap();
}
