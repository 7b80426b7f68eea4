// pass: crossbeam's scoped threads, WaitGroup, Parker and ShardedLock
// uncontrolled: uncontended locks are not schedule points

use crossbeam::sync::{Parker, ShardedLock, WaitGroup};
use crossbeam::thread;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn main() {
    let numbers = [1, 2, 3, 4];
    let finished = AtomicUsize::new(0);
    let total = ShardedLock::new(0);

    let halves = thread::scope(|scope| {
        let group = WaitGroup::new();
        for chunk in numbers.chunks(2) {
            let group = group.clone();
            let (total, finished) = (&total, &finished);
            scope.spawn(move |_| {
                *total.write().unwrap() += chunk.iter().sum::<i32>();
                finished.fetch_add(1, SeqCst);
                drop(group);
            });
        }
        group.wait(); // Until both have dropped theirs.
        assert_eq!(finished.load(SeqCst), 2);
        assert_eq!(*total.read().unwrap(), 10);

        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        scope.spawn(move |_| unparker.unpark());
        parker.park(); // The token is kept, whoever comes first.

        // A panic in a scoped thread comes out of its join.
        assert!(scope.spawn(|_| panic!("on purpose")).join().is_err());
        scope
            .spawn(|inner| inner.spawn(|_| numbers.len()).join().unwrap())
            .join()
            .unwrap()
    });
    assert_eq!(halves.unwrap(), 4);
}
