// fail: an unpark meant for main's own park is used up by the park inside a channel's recv
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::sync::{mpsc, Condvar};
use std::thread;

fn main() {
    let main_thread = thread::current();
    let (sender, receiver) = mpsc::channel();
    let helper = thread::spawn(move || {
        let progress = Condvar::new();
        for _ in 0..8 {
            progress.notify_all(); // System calls, so schedule points: main may come to its recv first.
        }
        sender.send(1).unwrap();
    });
    let slow = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i); // Some work, after which the message is nearly always there.
        }
    });
    slow.join().unwrap();
    let waker = thread::spawn(move || main_thread.unpark());
    // When the message is not there yet, recv parks. A thread has only one token, and recv does not give it back.
    assert_eq!(receiver.recv(), Ok(1));
    thread::park(); // No flag, no loop: as if the token could only have been meant for this place.
    helper.join().unwrap();
    waker.join().unwrap();
}
