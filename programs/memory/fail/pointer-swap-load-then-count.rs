// fail: a shared pointer to counted objects is loaded first and counted afterwards; in between a swap may drop the last reference
// expect: assert
// races: OLD

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread;

const DEAD: i32 = -1;

struct Object {
    count: AtomicUsize,
    value: UnsafeCell<i32>, // Poisoned instead of freed, so that a use after the end shows every time.
}
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Object {}

impl Object {
    const fn new(value: i32) -> Self {
        Object { count: AtomicUsize::new(1), value: UnsafeCell::new(value) }
    }
}

static OLD: Object = Object::new(1);
static NEW: Object = Object::new(2);
static CURRENT: AtomicPtr<Object> = AtomicPtr::new(&raw const OLD as *mut Object); // Holds a reference.

// The reader loads the pointer to the old object. The other thread swaps it for the new one, drops the only reference to the old one,
// and destroys it. The reader raises the count of a dead object, and reads it.
fn load() -> &'static Object {
    let object = unsafe { &*CURRENT.load(SeqCst) };
    object.count.fetch_add(1, SeqCst);
    object
}

fn release(object: &Object) {
    if object.count.fetch_sub(1, SeqCst) == 1 {
        unsafe { *object.value.get() = DEAD };
    }
}

fn read() {
    let object = load();
    let value = unsafe { *object.value.get() };
    assert!(value == 1 || value == 2);
    release(object);
}

fn swap() {
    let old = CURRENT.swap(&raw const NEW as *mut Object, SeqCst);
    release(unsafe { &*old });
}

fn main() {
    let reader = thread::spawn(read);
    swap();
    reader.join().unwrap();
}
