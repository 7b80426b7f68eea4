// pass: what is received after a time-out is neither lost nor received twice, and no time-out comes before its time
// runs: 1000
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

const ITEMS: u32 = 4;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let producer = thread::spawn(move || {
        for item in 0..ITEMS {
            thread::sleep(Duration::from_millis(10));
            sender.send(item).unwrap();
        }
    });
    let mut received = Vec::new();
    loop {
        let start = Instant::now();
        match receiver.recv_timeout(Duration::from_millis(8)) {
            Ok(item) => received.push(item),
            Err(RecvTimeoutError::Timeout) => assert!(start.elapsed() >= Duration::from_millis(8)),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    producer.join().unwrap();
    assert_eq!(received, Vec::from_iter(0..ITEMS));
}
