// pass: Barrier: used again and again, exactly one leader in each round, nobody runs ahead
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Barrier;
use std::thread;

fn main() {
    const THREADS: usize = 3;
    const ROUNDS: usize = 3;
    let barrier = Barrier::new(THREADS);
    let arrived = AtomicUsize::new(0);
    let leaders = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    arrived.fetch_add(1, SeqCst);
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, SeqCst);
                    }
                    assert_eq!(arrived.load(SeqCst), round * THREADS);
                    // The second barrier keeps the next round's arrivals from coming too early.
                    barrier.wait();
                    assert_eq!(leaders.load(SeqCst), round);
                }
            });
        }
    });
}
