// fail: two Mutexes taken in opposite orders
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let a = Mutex::new(100);
    let b = Mutex::new(100);
    let progress = Condvar::new();
    let transfer = |from: &Mutex<i32>, to: &Mutex<i32>, amount| {
        let mut from = from.lock().unwrap();
        // An unmodified Rust binary shows its locks only when they are contended: between two free locks there is no
        // schedule point. A notification is a system call and makes one; the other transfer may come in here.
        progress.notify_all();
        let mut to = to.lock().unwrap();
        *from -= amount;
        *to += amount;
    };
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b, 10));
        scope.spawn(|| transfer(&b, &a, 20));
    });
}
