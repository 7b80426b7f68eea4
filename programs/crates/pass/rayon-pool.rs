// pass: a rayon pool of three threads: install, join, a parallel sum, a scope, broadcast, and its end
// uncontrolled: uncontended locks are not schedule points

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn fibonacci(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    // Each half may be stolen by another thread of the pool, or not.
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn main() {
    let ended = std::sync::Arc::new(AtomicUsize::new(0));
    let count = ended.clone();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("pool-{index}"))
        .exit_handler(move |_| {
            count.fetch_add(1, SeqCst);
        })
        .build()
        .unwrap();

    assert_eq!(pool.install(|| fibonacci(5)), 5);
    assert_eq!(pool.install(|| (1..=20).into_par_iter().sum::<u32>()), 210);

    let tasks = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|inner| {
                tasks.fetch_add(1, SeqCst);
                inner.spawn(|_| {
                    tasks.fetch_add(1, SeqCst);
                });
            });
        }
    });
    assert_eq!(tasks.load(SeqCst), 6);
    assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);

    // Dropping the pool only asks its threads to end; the handler tells when they do.
    drop(pool);
    while ended.load(SeqCst) < 3 {
        std::thread::yield_now();
    }
}
