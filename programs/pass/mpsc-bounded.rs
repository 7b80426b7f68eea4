// pass: mpsc::sync_channel(2): senders wait while two items lie unread, and order is kept
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc::{self, TrySendError};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::sync_channel(2);
    sender.send(0).unwrap();
    sender.send(1).unwrap();
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));

    // More than fits, so this thread has to wait for main.
    let producer = thread::spawn(move || {
        for number in 2..8 {
            sender.send(number).unwrap();
        }
    });
    let numbers: Vec<i32> = receiver.iter().collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
    producer.join().unwrap();

    // A sender that waits for room learns that there will be none.
    let (sender, receiver) = mpsc::sync_channel(1);
    let producer = thread::spawn(move || while sender.send(()).is_ok() {});
    receiver.recv().unwrap();
    drop(receiver);
    producer.join().unwrap();
}
