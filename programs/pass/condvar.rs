// pass: Condvar: ping-pong with notify_one, a start signal with notify_all
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let turn = Mutex::new(0);
    let changed = Condvar::new();
    let play = |me: usize| {
        for _ in 0..4 {
            let mut guard = changed
                .wait_while(turn.lock().unwrap(), |turn| *turn % 2 != me)
                .unwrap();
            *guard += 1;
            changed.notify_one();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
    assert_eq!(*turn.lock().unwrap(), 8);

    let go = Mutex::new(false);
    let start = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut guard = go.lock().unwrap();
                while !*guard {
                    guard = start.wait(guard).unwrap();
                }
            });
        }
        *go.lock().unwrap() = true;
        // Notifying without the lock is allowed: the flag was changed under it.
        start.notify_all();
    });
}
