// pass: Receiver::recv_timeout: silence times out, a slow sender is waited for again, a dropped one is noticed
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let (sender, receiver) = mpsc::channel();
    let pause = Duration::from_millis(1);

    // The sender is here and silent: only the clock can end this.
    let start = Instant::now();
    assert_eq!(receiver.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
    assert!(start.elapsed() >= pause);

    let slow = thread::spawn(move || {
        for number in 0..3 {
            thread::sleep(Duration::from_millis(2));
            sender.send(number).unwrap();
        }
    });
    let mut numbers = Vec::new();
    loop {
        match receiver.recv_timeout(pause) {
            Ok(number) => numbers.push(number),
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert_eq!(numbers, [0, 1, 2]);
    slow.join().unwrap();
}
