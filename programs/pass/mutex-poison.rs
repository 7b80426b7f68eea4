// pass: a panic while a Mutex is held poisons it; the others see that, recover, and clear it
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Arc, Mutex, TryLockError};
use std::thread;

fn main() {
    let shared = Arc::new(Mutex::new(vec![1, 2]));

    let breaker = {
        let shared = shared.clone();
        thread::spawn(move || {
            let mut guard = shared.lock().unwrap();
            guard.push(3);
            // The message goes to stderr with the thread's id, which has to be the same in each run.
            panic!("on purpose: the vector is half changed");
        })
    };
    let observer = {
        let shared = shared.clone();
        // May come before, during or after the panic: both answers are legal, and each tells what was seen.
        thread::spawn(move || match shared.lock() {
            Ok(guard) => assert_eq!(*guard, [1, 2]),
            Err(poisoned) => assert_eq!(**poisoned.get_ref(), [1, 2, 3]),
        })
    };
    assert!(breaker.join().is_err());
    observer.join().unwrap();

    assert!(shared.is_poisoned());
    assert!(matches!(shared.try_lock(), Err(TryLockError::Poisoned(_))));
    shared
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .pop();
    shared.clear_poison();
    assert_eq!(*shared.lock().unwrap(), [1, 2]);
}
