// pass: plain data go from whoever locks first to whoever locks second; who has to wait is handed the lock inside the standard library
// race-free

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Plain(UnsafeCell<i32>);
// SAFETY: only touched with the lock held, or when the others have ended.
unsafe impl Sync for Plain {}

static LOCK: Mutex<()> = Mutex::new(());
static DATA: Plain = Plain(UnsafeCell::new(0));

fn meet() {
    let _guard = LOCK.lock().unwrap();
    unsafe { *DATA.0.get() += 42 };
}

fn main() {
    let other = thread::spawn(meet);
    meet();
    other.join().unwrap();
    assert_eq!(unsafe { *DATA.0.get() }, 84);
}
