// fail: two Mutexes taken in opposite orders
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::Mutex;
use std::thread;

fn main() {
    let a = Mutex::new(100);
    let b = Mutex::new(100);
    let transfer = |from: &Mutex<i32>, to: &Mutex<i32>, amount| {
        let mut from = from.lock().unwrap();
        // An unmodified Rust binary shows its locks only when they are contended, so between two free locks
        // there is no schedule point. The yield makes one, and the other transfer may come in here.
        thread::yield_now();
        let mut to = to.lock().unwrap();
        *from -= amount;
        *to += amount;
    };
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b, 10));
        scope.spawn(|| transfer(&b, &a, 20));
    });
}
