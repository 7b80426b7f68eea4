// pass: mpsc::channel: two senders, each in its own order; receiving and sending fail once the other side is gone
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc::{self, RecvError, TryRecvError};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..2)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || {
                for number in 0..5 {
                    sender.send((me, number)).unwrap();
                }
            })
        })
        .collect();
    drop(sender); // Else the loop below would wait for main itself.

    let mut next = [0, 0];
    for (from, number) in &receiver {
        assert_eq!(number, next[from]);
        next[from] += 1;
    }
    assert_eq!(next, [5, 5]);
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    for handle in threads {
        handle.join().unwrap();
    }

    let (sender, receiver) = mpsc::channel::<String>();
    let hang_up = thread::spawn(move || drop(receiver));
    hang_up.join().unwrap();
    // What could not be sent comes back.
    assert_eq!(sender.send("anyone?".into()).unwrap_err().0, "anyone?");
}
