// pass: LazyLock: a static made at first use, by whichever thread comes first
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex};
use std::thread;

static MADE: AtomicUsize = AtomicUsize::new(0);
static REGISTRY: LazyLock<Mutex<Vec<usize>>> = LazyLock::new(|| {
    MADE.fetch_add(1, SeqCst);
    thread::yield_now(); // The others come while it is half done, and wait on the futex.
    Mutex::new(vec![0])
});

fn main() {
    assert_eq!(MADE.load(SeqCst), 0);
    let threads: Vec<_> = (1..4)
        .map(|me| thread::spawn(move || REGISTRY.lock().unwrap().push(me)))
        .collect();
    for handle in threads {
        handle.join().unwrap();
    }
    assert_eq!(MADE.load(SeqCst), 1);
    let mut registered = REGISTRY.lock().unwrap().clone();
    assert_eq!(registered[0], 0);
    registered.sort();
    assert_eq!(registered, [0, 1, 2, 3]);
}
