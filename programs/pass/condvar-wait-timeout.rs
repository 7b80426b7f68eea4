// pass: Condvar::wait_timeout: a wait that nobody ends times out, a wait that somebody ends is tried again
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let ready = Mutex::new(false);
    let changed = Condvar::new();

    let start = Instant::now();
    let (guard, result) = changed
        .wait_timeout_while(ready.lock().unwrap(), Duration::from_millis(2), |ready| {
            !*ready
        })
        .unwrap();
    assert!(result.timed_out() && !*guard);
    assert!(start.elapsed() >= Duration::from_millis(2));
    drop(guard);

    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = ready.lock().unwrap();
            // Neither a time-out nor a wake-up says anything about ready: only ready does.
            while !*guard {
                guard = changed
                    .wait_timeout(guard, Duration::from_millis(1))
                    .unwrap()
                    .0;
            }
        });
        scope.spawn(|| {
            // An hour that nobody waits.
            let patience = Duration::from_secs(3600);
            let mut guard = ready.lock().unwrap();
            while !*guard {
                guard = changed.wait_timeout(guard, patience).unwrap().0;
            }
        });
        *ready.lock().unwrap() = true;
        changed.notify_all();
    });
}
