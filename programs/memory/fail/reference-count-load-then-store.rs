// fail: a reference is dropped by a load and a store: a reference that was added in between is forgotten, and its owner uses a dead object
// expect: assert
// races: OBJECT

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const ALIVE: i32 = 42;
const DEAD: i32 = -1;

struct Object {
    count: AtomicUsize,
    value: UnsafeCell<i32>, // Poisoned instead of freed, so that a use after the end shows every time.
}
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Object {}

static OBJECT: Object = Object { count: AtomicUsize::new(1), value: UnsafeCell::new(ALIVE) };

// The first thread loads 2. Main adds one for the second: 3. The first stores 1. Main drops its own, 0, and destroys the object.
fn release() {
    let left = OBJECT.count.load(SeqCst) - 1;
    OBJECT.count.store(left, SeqCst);
    if left == 0 {
        unsafe { *OBJECT.value.get() = DEAD };
    }
}

fn work() {
    assert_eq!(unsafe { *OBJECT.value.get() }, ALIVE);
    release();
}

fn main() {
    let threads = [(); 2].map(|()| {
        OBJECT.count.fetch_add(1, SeqCst);
        thread::spawn(work)
    });
    release();
    for thread in threads {
        thread.join().unwrap();
    }
}
