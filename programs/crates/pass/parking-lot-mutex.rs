// pass: parking_lot::Mutex: exclusion, fair unlock, a try_lock that fails, a timed attempt
// uncontrolled: uncontended locks are not schedule points

use parking_lot::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..3 {
                    let mut guard = counter.lock();
                    let old = *guard;
                    // The others run into the held lock here, and park.
                    thread::yield_now();
                    *guard = old + 1;
                    if round == 1 {
                        // Hands the lock directly to one who waits.
                        MutexGuard::unlock_fair(guard);
                    }
                }
            });
        }
    });
    assert_eq!(*counter.lock(), 9);

    let guard = counter.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(counter.try_lock().is_none());
            // The holder waits for this thread, so only the clock can end the attempt.
            let start = Instant::now();
            assert!(counter.try_lock_for(Duration::from_millis(1)).is_none());
            assert!(start.elapsed() >= Duration::from_millis(1));
        });
    });
    drop(guard);
}
