// pass: one thread reads standard input, two work on it: every run gets all of it
// stdin: 3 1 4 1 5 9 2 6
// uncontrolled: uncontended locks are not schedule points

use std::io::{self, BufRead};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let receiver = Arc::new(Mutex::new(receiver));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let receiver = receiver.clone();
            thread::spawn(move || {
                let mut sum = 0;
                loop {
                    // The lock is held while waiting, as in the pool of the Rust book.
                    let Ok(number) = receiver.lock().unwrap().recv() else {
                        return sum;
                    };
                    sum += number;
                }
            })
        })
        .collect();

    let reader = thread::spawn(move || {
        let mut count = 0;
        for line in io::stdin().lock().lines() {
            for word in line.unwrap().split_whitespace() {
                sender.send(word.parse::<i32>().unwrap()).unwrap();
                count += 1;
            }
        }
        count
    });
    assert_eq!(reader.join().unwrap(), 8);
    let sum: i32 = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    assert_eq!(sum, 31);
}
