// pass: plain data are handed over by a flag, written with release and read with acquire
// race-free

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

struct Plain(UnsafeCell<i32>);
// SAFETY: the flag orders the accesses.
unsafe impl Sync for Plain {}

static DATA: Plain = Plain(UnsafeCell::new(0));
static FLAG: AtomicBool = AtomicBool::new(false);

fn write() {
    unsafe { *DATA.0.get() += 42 };
    FLAG.store(true, Release);
}

fn read() {
    if FLAG.load(Acquire) {
        assert_eq!(unsafe { *DATA.0.get() }, 42);
    }
}

fn main() {
    let reader = thread::spawn(read);
    let writer = thread::spawn(write);
    reader.join().unwrap();
    writer.join().unwrap();
}
