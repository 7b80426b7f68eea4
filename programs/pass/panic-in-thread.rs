// pass: panics in threads are caught by join, by the scope and by catch_unwind; main goes on
// uncontrolled: uncontended locks are not schedule points

use std::panic;
use std::thread;

struct Witness<'a>(&'a mut bool);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        thread::yield_now(); // A switch in the middle of unwinding.
        *self.0 = thread::panicking();
    }
}

fn main() {
    // The messages go to stderr with the threads' ids, which have to be the same in each run.
    let a = thread::spawn(|| panic::panic_any(17));
    let b = thread::Builder::new()
        .name("b".into())
        .spawn(|| -> u32 { panic!("on purpose: 2") })
        .unwrap();
    assert_eq!(a.join().unwrap_err().downcast_ref::<i32>(), Some(&17));
    assert_eq!(
        b.join().unwrap_err().downcast_ref::<&str>(),
        Some(&"on purpose: 2")
    );

    let (mut first, mut second) = (false, false);
    let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        thread::scope(|scope| {
            // Both unwind at the same time; nobody joins them, so the scope itself panics.
            scope.spawn(|| {
                let _witness = Witness(&mut first);
                panic!("on purpose: 3");
            });
            scope.spawn(|| {
                let _witness = Witness(&mut second);
                panic!("on purpose: 4");
            });
        })
    }));
    assert!(caught.is_err() && first && second);
}
