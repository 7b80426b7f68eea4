// pass: RwLock: readers share and see whole updates, writers exclude, try_read and try_write tell which is held
// uncontrolled: uncontended locks are not schedule points

use std::sync::RwLock;
use std::thread;

fn main() {
    let pair = RwLock::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let mut guard = pair.write().unwrap();
                    guard.0 += 1;
                    thread::yield_now(); // A reader that got in now would see half an update.
                    guard.1 += 1;
                }
            });
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..3 {
                    let guard = pair.read().unwrap();
                    thread::yield_now();
                    assert!(guard.0 == guard.1 && guard.0 >= last);
                    last = guard.0;
                }
            });
        }
    });
    assert_eq!(*pair.read().unwrap(), (6, 6));

    let reading = pair.read().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(pair.try_write().is_err());
            assert!(pair.try_read().is_ok());
        });
    });
    drop(reading);
    let writing = pair.write().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(pair.try_read().is_err() && pair.try_write().is_err()));
    });
    drop(writing);
}
