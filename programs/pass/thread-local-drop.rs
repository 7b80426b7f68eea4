// pass: a thread_local! value whose Drop takes a lock, and has run when join returns
// uncontrolled: uncontended locks are not schedule points

use std::cell::Cell;
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<(usize, usize)> = Mutex::new((0, 0));

struct Tally(Cell<usize>);

impl Drop for Tally {
    fn drop(&mut self) {
        // Runs after the thread's closure: the thread must still be one that can be blocked and scheduled.
        let mut total = TOTAL.lock().unwrap();
        total.0 += self.0.get();
        thread::yield_now();
        total.1 += 1;
    }
}

thread_local!(static TALLY: Tally = const { Tally(Cell::new(0)) });

fn main() {
    let threads: Vec<_> = (1..=3)
        .map(|amount| {
            thread::spawn(move || {
                for _ in 0..amount {
                    TALLY.with(|tally| tally.0.set(tally.0.get() + 1));
                }
            })
        })
        .collect();
    for handle in threads {
        // join, unlike the end of a scope, waits for the destructors too.
        handle.join().unwrap();
    }
    assert_eq!(*TOTAL.lock().unwrap(), (6, 3));
}
