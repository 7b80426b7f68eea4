// pass: Once: one of three callers initialises and the others wait; a panic poisons it and call_once_force repairs it
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Once;
use std::thread;

static PLAIN: Once = Once::new();
static FAULTY: Once = Once::new();
static CALLS: AtomicUsize = AtomicUsize::new(0);
static VALUE: AtomicUsize = AtomicUsize::new(0);

fn user() {
    PLAIN.call_once(|| {
        CALLS.fetch_add(1, SeqCst);
        thread::yield_now(); // The others come while it is half done, and wait on the futex.
        VALUE.store(42, SeqCst);
    });
    assert!(PLAIN.is_completed());
    assert_eq!(VALUE.load(SeqCst), 42);
}

fn main() {
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(user)).collect();
    for handle in threads {
        handle.join().unwrap();
    }
    assert_eq!(CALLS.load(SeqCst), 1);

    let failed =
        thread::spawn(|| FAULTY.call_once(|| panic!("on purpose: the first attempt fails")));
    assert!(failed.join().is_err());
    let poisoned = thread::spawn(|| FAULTY.call_once(|| unreachable!()));
    assert!(poisoned.join().is_err());
    FAULTY.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(FAULTY.is_completed());
}
