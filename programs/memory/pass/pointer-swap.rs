// pass: a shared pointer to counted objects can be loaded and swapped at any time: who swaps waits until nobody is between load and count
// race-free

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread;

const DEAD: i32 = -1;

struct Object {
    count: AtomicUsize,
    value: UnsafeCell<i32>, // Poisoned instead of freed, so that a use after the end shows every time.
}
// SAFETY: the value is read by those who hold a reference, and written by the last of them.
unsafe impl Sync for Object {}

impl Object {
    const fn new(value: i32) -> Self {
        Object { count: AtomicUsize::new(1), value: UnsafeCell::new(value) }
    }
}

static OLD: Object = Object::new(1);
static NEW: Object = Object::new(2);
static CURRENT: AtomicPtr<Object> = AtomicPtr::new(&raw const OLD as *mut Object); // Holds a reference.
static LOADING: AtomicUsize = AtomicUsize::new(0);

fn load() -> &'static Object {
    LOADING.fetch_add(1, SeqCst);
    let object = unsafe { &*CURRENT.load(SeqCst) };
    object.count.fetch_add(1, SeqCst);
    LOADING.fetch_sub(1, SeqCst);
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
    while LOADING.load(SeqCst) != 0 {} // Those who come from now on load the new one.
    release(unsafe { &*old });
}

fn main() {
    let threads = [thread::spawn(read), thread::spawn(read), thread::spawn(swap)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { (*OLD.value.get(), *NEW.value.get()) }, (DEAD, 2));
}
