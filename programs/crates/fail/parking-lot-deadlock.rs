// fail: two parking_lot mutexes taken in opposite orders
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use parking_lot::Mutex;
use std::thread;

fn main() {
    let a = Mutex::new(100);
    let b = Mutex::new(100);
    let transfer = |from: &Mutex<i32>, to: &Mutex<i32>, amount| {
        let mut from = from.lock();
        // A free parking_lot lock is one inlined atomic instruction, which an unmodified binary does not show as a
        // schedule point. The notification makes one, and the other transfer may come in here.
        std::sync::Condvar::new().notify_all();
        let mut to = to.lock();
        *from -= amount;
        *to += amount;
    };
    thread::scope(|scope| {
        scope.spawn(|| transfer(&a, &b, 10));
        scope.spawn(|| transfer(&b, &a, 20));
    });
}
