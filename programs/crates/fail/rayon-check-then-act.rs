// fail: the threads of a rayon pool check for the last ticket and take it in two steps
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::Condvar;

fn main() {
    let tickets = AtomicI32::new(1);
    let asked = Condvar::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    // broadcast runs the closure once on each of the three threads.
    let sold: usize = pool
        .broadcast(|_| {
            if tickets.load(SeqCst) <= 0 {
                return 0;
            }
            asked.notify_all(); // Between the check and the act another one may come.
            tickets.fetch_sub(1, SeqCst);
            1
        })
        .into_iter()
        .sum();
    assert_eq!(sold, 1);
}
