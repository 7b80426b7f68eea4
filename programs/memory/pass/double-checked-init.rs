// pass: double-checked initialisation: the pointer is published with release, and only when the object is complete
// race-free
// source: D. C. Schmidt and T. Harrison, Double-Checked Locking, 1997

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::sync::Mutex;
use std::thread;

struct Settings {
    width: u32,
    height: u32,
}

struct Plain(UnsafeCell<Settings>);
// SAFETY: written once, with the lock held, and read only through the published pointer.
unsafe impl Sync for Plain {}

static OBJECT: Plain = Plain(UnsafeCell::new(Settings { width: 0, height: 0 }));
static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(ptr::null_mut());
static LOCK: Mutex<u32> = Mutex::new(0); // How often it was made.

fn get() -> &'static Settings {
    let mut seen = SETTINGS.load(Acquire);
    if seen.is_null() {
        let mut made = LOCK.lock().unwrap();
        seen = SETTINGS.load(Acquire);
        if seen.is_null() {
            seen = OBJECT.0.get();
            unsafe {
                (*seen).width = 80;
                (*seen).height = 25;
            }
            *made += 1;
            SETTINGS.store(seen, Release);
        }
    }
    unsafe { &*seen }
}

fn read() {
    let settings = get();
    assert_eq!((settings.width, settings.height), (80, 25));
}

fn main() {
    let threads = [thread::spawn(read), thread::spawn(read), thread::spawn(read)];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*LOCK.lock().unwrap(), 1);
}
