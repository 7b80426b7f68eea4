// pass: thread::scope: threads borrow from the stack, and the scope waits for those that nobody joins
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

fn main() {
    let numbers = [1, 2, 3, 4, 5, 6];
    let finished = AtomicUsize::new(0);
    let mut tail = 0;

    let head = thread::scope(|scope| {
        let head = scope.spawn(|| numbers[..3].iter().sum::<i32>());
        scope.spawn(|| tail = numbers[3..].iter().sum());
        scope.spawn(|| {
            // A scoped thread may start more threads in the same scope.
            scope.spawn(|| finished.fetch_add(1, SeqCst));
            finished.fetch_add(1, SeqCst);
        });
        head.join().unwrap()
    });

    assert_eq!((head, tail), (6, 15));
    assert_eq!(finished.load(SeqCst), 2);
}
