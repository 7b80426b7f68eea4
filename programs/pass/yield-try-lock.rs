// pass: Mutex::try_lock again and again, with yield_now after each failure
// uncontrolled: uncontended locks are not schedule points
// runs: 4

use std::sync::Mutex;
use std::thread;

const TURNS: u32 = 12_000;

fn main() {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..TURNS {
                    loop {
                        if let Ok(mut count) = count.try_lock() {
                            *count += 1;
                            thread::yield_now();
                            break;
                        }
                        thread::yield_now();
                    }
                    thread::yield_now();
                }
            });
        }
    });
    assert_eq!(count.into_inner().unwrap(), 3 * TURNS);
}
