// pass: atomics and yield_now: a spin lock, a ticket in compare_exchange, a flag that publishes
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

static LOCK: AtomicBool = AtomicBool::new(false);
static COUNTER: AtomicUsize = AtomicUsize::new(0);
static MAXIMUM: AtomicUsize = AtomicUsize::new(0);
static READY: AtomicBool = AtomicBool::new(false);

fn worker(me: usize) {
    while !READY.load(Acquire) {
        thread::yield_now();
    }
    for _ in 0..3 {
        while LOCK.swap(true, Acquire) {
            thread::yield_now();
        }
        let old = COUNTER.load(Relaxed);
        thread::yield_now(); // With the lock held: the others spin.
        COUNTER.store(old + 1, Relaxed);
        LOCK.store(false, Release);
    }
    let mut seen = MAXIMUM.load(Relaxed);
    while seen < me {
        match MAXIMUM.compare_exchange(seen, me, SeqCst, Relaxed) {
            Ok(_) => break,
            Err(newer) => seen = newer,
        }
    }
}

fn main() {
    let threads: Vec<_> = (1..=2)
        .map(|me| thread::spawn(move || worker(me)))
        .collect();
    READY.store(true, Release);
    for handle in threads {
        handle.join().unwrap();
    }
    assert_eq!(COUNTER.load(Relaxed), 6);
    assert_eq!(MAXIMUM.load(Relaxed), 2);
}
