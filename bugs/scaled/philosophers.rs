// bug: all philosophers take their left fork, and wait for ever for the right one
// kind: deadlock
// depth: 3
// threads: 4
// source: the dining philosophers, as in stride (ASE'17), figure 5: din_phil
// finds: urw; pct and random while there are few philosophers
// points: atomic
// args: 3
// variants: 2 = 2 [threads 3, depth 2]; 3 = 3 [threads 4, depth 3]; 4 = 4 [threads 5, depth 4]; 5 = 5 [threads 6, depth 5]; 6 = 6 [threads 7, depth 6]; 7 = 7 [threads 8, depth 7]
// row: stride:din_phil_2, stride:din_phil_3, stride:din_phil_4
// Argument: philosophers.

use std::sync::{Arc, Mutex};
use std::thread;

/// A fork, and how often it was used.
type Fork = Mutex<u32>;

fn eat(forks: &[Fork], place: usize) {
    let (left, right) = (place, (place + 1) % forks.len());
    // In the correct program the last one is left-handed.
    let (first, second) = if cfg!(fixed) && right < left { (right, left) } else { (left, right) };
    let mut one = forks[first].lock().unwrap();
    let mut two = forks[second].lock().unwrap();
    *one += 1;
    *two += 1;
}

fn main() {
    let count: usize = std::env::args().nth(1).map_or(3, |word| word.parse().expect("a number"));
    assert!(count >= 2, "there must be two philosophers at least");
    let forks: Arc<Vec<Fork>> = Arc::new((0..count).map(|_| Mutex::new(0)).collect());

    let philosophers: Vec<_> = (0..count)
        .map(|place| {
            let forks = forks.clone();
            thread::spawn(move || eat(&forks, place))
        })
        .collect();
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
    assert!(forks.iter().all(|fork| *fork.lock().unwrap() == 2));
}
