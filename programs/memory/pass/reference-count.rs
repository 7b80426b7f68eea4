// pass: a reference count in fetch_add and fetch_sub: whoever drops the last reference destroys the object, once
// race-free

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

const ALIVE: i32 = 42;
const DEAD: i32 = -1;

struct Object {
    count: AtomicUsize,
    value: UnsafeCell<i32>, // Poisoned instead of freed, so that a use after the end shows every time.
}
// SAFETY: the value is read by those who hold a reference, and written by the last of them.
unsafe impl Sync for Object {}

static OBJECT: Object = Object { count: AtomicUsize::new(1), value: UnsafeCell::new(ALIVE) };
static DESTROYED: AtomicUsize = AtomicUsize::new(0);

fn release() {
    if OBJECT.count.fetch_sub(1, AcqRel) == 1 {
        unsafe { *OBJECT.value.get() = DEAD };
        DESTROYED.fetch_add(1, Relaxed);
    }
}

fn work() {
    assert_eq!(unsafe { *OBJECT.value.get() }, ALIVE);
    release();
}

fn main() {
    let threads = [(); 2].map(|()| {
        OBJECT.count.fetch_add(1, Relaxed); // For the thread.
        thread::spawn(work)
    });
    release();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(DESTROYED.load(Relaxed), 1);
    assert_eq!(unsafe { *OBJECT.value.get() }, DEAD);
}
