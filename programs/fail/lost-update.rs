// fail: the lock is given back between reading and writing, so an increment is lost
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let counter = Mutex::new(0);
    let progress = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let old = *counter.lock().unwrap();
                progress.notify_all(); // Some work on the value, without the lock.
                *counter.lock().unwrap() = old + 1;
            });
        }
    });
    assert_eq!(counter.into_inner().unwrap(), 2);
}
