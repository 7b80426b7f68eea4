// pass: thread::park_timeout: ends by the clock when nobody unparks, and by unpark long before it otherwise
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    // park_timeout may return early for no reason, so the clock decides.
    let pause = Duration::from_millis(2);
    let start = Instant::now();
    while start.elapsed() < pause {
        thread::park_timeout(pause - start.elapsed().min(pause));
    }

    static READY: AtomicBool = AtomicBool::new(false);
    let waiters: Vec<_> = [Duration::from_millis(1), Duration::from_secs(3600)]
        .into_iter()
        .map(|patience| {
            thread::spawn(move || {
                while !READY.load(SeqCst) {
                    thread::park_timeout(patience);
                }
            })
        })
        .collect();
    READY.store(true, SeqCst);
    for waiter in &waiters {
        waiter.thread().unpark();
    }
    for waiter in waiters {
        waiter.join().unwrap();
    }
}
