// fail: a panic has the stacks of all threads from the moment at which it was raised
// expect: assert
// says: thread 'teller' panicked at | a deposit was lost; left: 1; right: 2 | panic::audit ( | t0 | join of
// never: RUST_BACKTRACE | rust_panic
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

fn add(sum: &AtomicU32) {
    let old = sum.load(Ordering::SeqCst);
    thread::yield_now();
    sum.store(old + 1, Ordering::SeqCst);
}

#[inline(never)]
fn audit(sum: &AtomicU32) {
    assert_eq!(sum.load(Ordering::SeqCst), 2, "a deposit was lost");
}

fn main() {
    let sum = Arc::new(AtomicU32::new(0));
    let adders: Vec<_> = (0..2).map(|_| Arc::clone(&sum)).map(|sum| thread::spawn(move || add(&sum))).collect();
    adders.into_iter().for_each(|adder| adder.join().unwrap());
    let teller = thread::Builder::new().name("teller".into()).spawn(move || audit(&sum)).unwrap();
    teller.join().unwrap();
}
