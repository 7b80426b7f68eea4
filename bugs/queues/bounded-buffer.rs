// bug: producers and consumers wait on one condition, and the one who is woken may be of the wrong kind: all wait
// kind: deadlock
// depth: 2
// threads: 5
// source: the bounded buffer of the corpus's list; the mistake is the one of every text on monitors
// finds: pct, random
// points: atomic
// args: 2 3
// variants: 2-3 = 2 3 [threads 5]; 3-4 = 3 4 [threads 7]; 4-4 = 4 4 [threads 9]
// Arguments: producers, and as many consumers; items of each of them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CAPACITY: usize = 1;

struct Buffer {
    items: Mutex<VecDeque<u32>>,
    changed: Condvar,
}

impl Buffer {
    fn tell(&self) {
        // One condition for two kinds of waiters: one of them is not enough.
        if cfg!(fixed) {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    fn put(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == CAPACITY {
            items = self.changed.wait(items).unwrap();
        }
        items.push_back(item);
        self.tell();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                self.tell();
                return item;
            }
            items = self.changed.wait(items).unwrap();
        }
    }
}

fn argument(index: usize, standard: u32) -> u32 {
    std::env::args().nth(index).map_or(standard, |word| word.parse().expect("a number"))
}

fn main() {
    let (pairs, each) = (argument(1, 2), argument(2, 3));
    let buffer = Arc::new(Buffer { items: Mutex::new(VecDeque::with_capacity(CAPACITY)), changed: Condvar::new() });

    let producers: Vec<_> = (0..pairs)
        .map(|producer| {
            let buffer = buffer.clone();
            thread::spawn(move || (0..each).for_each(|i| buffer.put(producer * each + i)))
        })
        .collect();
    let consumers: Vec<_> = (0..pairs)
        .map(|_| {
            let buffer = buffer.clone();
            thread::spawn(move || (0..each).map(|_| buffer.take()).sum::<u32>())
        })
        .collect();
    for producer in producers {
        producer.join().unwrap();
    }
    let sum: u32 = consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum();
    assert_eq!(sum, (0..pairs * each).sum());
}
