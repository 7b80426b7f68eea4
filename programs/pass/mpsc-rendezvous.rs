// pass: mpsc::sync_channel(0): a send ends only when somebody receives
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, TrySendError};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::sync_channel(0);
    // Nobody receives yet, so nothing can be handed over.
    assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));

    let sent = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 1..=2 {
            let (sender, sent) = (sender.clone(), &sent);
            scope.spawn(move || {
                for _ in 0..3 {
                    sender.send(me).unwrap();
                    sent.fetch_add(1, SeqCst);
                }
            });
        }
        drop(sender);
        let mut sum = 0;
        for (received, value) in receiver.iter().enumerate() {
            // No more sends have ended than values were taken, this one among them.
            assert!(sent.load(SeqCst) <= received + 1);
            sum += value;
        }
        assert_eq!(sum, 9);
    });
    assert_eq!(sent.load(SeqCst), 6);
}
