// fail: double-checked initialisation that publishes the pointer before the object is complete
// expect: assert
// races: OBJECT
// source: D. C. Schmidt and T. Harrison, Double-Checked Locking, 1997

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::sync::Mutex;
use std::thread;

struct Settings {
    width: u32,
    height: u32,
}

struct Plain(UnsafeCell<Settings>);
// SAFETY: it is not; that is the bug.
unsafe impl Sync for Plain {}

static OBJECT: Plain = Plain(UnsafeCell::new(Settings { width: 0, height: 0 }));
static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(ptr::null_mut());
static LOCK: Mutex<()> = Mutex::new(());

// The first publishes the pointer and writes the width. The second sees the pointer, takes no lock, and reads a height of 0.
fn get() -> *mut Settings {
    let mut seen = SETTINGS.load(SeqCst);
    if seen.is_null() {
        let _guard = LOCK.lock().unwrap();
        seen = SETTINGS.load(SeqCst);
        if seen.is_null() {
            seen = OBJECT.0.get();
            SETTINGS.store(seen, SeqCst);
            unsafe {
                (*seen).width = 80;
                (*seen).height = 25;
            }
        }
    }
    seen
}

fn read() {
    let settings = get();
    assert_eq!(unsafe { ((*settings).width, (*settings).height) }, (80, 25));
}

fn main() {
    let other = thread::spawn(read);
    read();
    other.join().unwrap();
}
