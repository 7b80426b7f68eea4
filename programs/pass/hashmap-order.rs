// pass: the random order of a HashMap decides whom main joins first: the same seed gives the same order and trace
// uncontrolled: uncontended locks are not schedule points

use std::collections::HashMap;
use std::thread;

fn main() {
    let mut workers = HashMap::new();
    for name in ["heddle", "reed", "shuttle", "treadle"] {
        let worker = thread::spawn(move || {
            thread::yield_now();
            name.len()
        });
        workers.insert(name, worker);
    }
    // RandomState asks the system for random bytes, once per thread; the order differs from seed to seed.
    let mut total = 0;
    for (name, worker) in workers {
        total += worker.join().unwrap();
        println!("{name}");
    }
    assert_eq!(total, 24);

    // In another thread the keys are other ones, and come from random bytes again.
    let order = thread::spawn(|| {
        (0..6)
            .map(|i| (i, ()))
            .collect::<HashMap<_, _>>()
            .into_keys()
            .collect::<Vec<i32>>()
    });
    println!("{:?}", order.join().unwrap());
}
