// pass: parking_lot::Condvar: ping-pong, notify_all (which moves waiters to the mutex's queue), a time-out
// uncontrolled: uncontended locks are not schedule points

use parking_lot::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn main() {
    let turn = Mutex::new(0);
    let changed = Condvar::new();
    let play = |me: usize| {
        for _ in 0..3 {
            let mut guard = turn.lock();
            changed.wait_while(&mut guard, |turn| *turn % 2 != me);
            *guard += 1;
            changed.notify_one();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
    assert_eq!(*turn.lock(), 6);

    let go = Mutex::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut guard = go.lock();
                while !*guard {
                    changed.wait(&mut guard);
                }
            });
        }
        let mut guard = go.lock();
        *guard = true;
        // With the mutex held: one waiter is woken later, the rest are requeued and come one by one.
        changed.notify_all();
    });

    let mut guard = go.lock();
    assert!(changed
        .wait_for(&mut guard, Duration::from_millis(1))
        .timed_out());
}
