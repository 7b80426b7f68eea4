// pass: Mutex: exclusion also while the holder gives way, try_lock that fails while another thread holds it
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Mutex, TryLockError};
use std::thread;

fn main() {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let mut guard = counter.lock().unwrap();
                    let old = *guard;
                    // The others run into the held lock here, which makes them use the futex.
                    thread::yield_now();
                    *guard = old + 1;
                }
            });
        }
    });
    assert_eq!(*counter.lock().unwrap(), 12);

    let guard = counter.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(matches!(counter.try_lock(), Err(TryLockError::WouldBlock))));
    });
    drop(guard);
    assert_eq!(counter.into_inner().unwrap(), 12);
}
