// pass: panics caught by catch_unwind in several threads at once, with locks taken by Drop while they unwind
// uncontrolled: uncontended locks are not schedule points

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Barrier, Mutex};
use std::thread;

const THREADS: usize = 3;

static DROPS: Mutex<usize> = Mutex::new(0);

struct Witness {
    panicking: bool,
}

impl Drop for Witness {
    fn drop(&mut self) {
        assert_eq!(thread::panicking(), self.panicking);
        // A thread that unwinds poisons a lock only if it took it before; it is taken here in any case.
        let mut drops = DROPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *drops += 1;
        thread::yield_now();
        drop(drops);
        thread::yield_now();
        assert_eq!(thread::panicking(), self.panicking);
    }
}

fn fall(me: usize, depth: usize) {
    let _witness = Witness { panicking: true };
    if depth == 0 {
        panic::panic_any(me);
    }
    fall(me, depth - 1);
}

fn main() {
    panic::set_hook(Box::new(|_| thread::yield_now())); // Silent; runs in the thread that panics.
    let together = Barrier::new(THREADS);
    thread::scope(|scope| {
        for me in 0..THREADS {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                for round in 0..3 {
                    let value = me * 10 + round;
                    let caught = panic::catch_unwind(AssertUnwindSafe(|| fall(value, 2))).unwrap_err();
                    assert!(!thread::panicking());
                    thread::yield_now();
                    assert_eq!(caught.downcast_ref::<usize>(), Some(&value));
                    // One of them does not panic while the others do.
                    drop(Witness { panicking: false });
                }
                // A panic that goes on: caught, looked at and resumed.
                let again = panic::catch_unwind(|| {
                    let first = panic::catch_unwind(|| fall(me, 0)).unwrap_err();
                    let _witness = Witness { panicking: true };
                    panic::resume_unwind(first);
                });
                assert_eq!(again.unwrap_err().downcast_ref::<usize>(), Some(&me));
            });
        }
    });
    assert_eq!(*DROPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), THREADS * (3 * 4 + 2));
}
