// pass: crossbeam::channel: many to many, bounded, rendezvous, select and a time-out
// uncontrolled: uncontended locks are not schedule points

use crossbeam::channel::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = channel::bounded(2);
    let (rendezvous, visitor) = channel::bounded(0);
    let sum: u32 = thread::scope(|scope| {
        for me in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..3).for_each(|i| sender.send(me * 3 + i).unwrap()));
        }
        drop(sender);
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || receiver.iter().sum::<u32>())
            })
            .collect();
        scope.spawn(move || rendezvous.send(100).unwrap());
        takers
            .into_iter()
            .map(|taker| taker.join().unwrap())
            .sum::<u32>()
            + visitor.recv().unwrap()
    });
    assert_eq!(sum, 115);

    // Two sources until both are closed.
    let (a, from_a) = channel::unbounded();
    let (b, from_b) = channel::bounded(1);
    thread::scope(|scope| {
        scope.spawn(move || (0..2).for_each(|_| a.send(1).unwrap()));
        scope.spawn(move || (0..2).for_each(|_| b.send(10).unwrap()));
        let (mut total, mut open) = (0, [true, true]);
        while open != [false, false] {
            let never = channel::never();
            let (first, second) = (
                if open[0] { &from_a } else { &never },
                if open[1] { &from_b } else { &never },
            );
            channel::select! {
                recv(first) -> message => match message { Ok(n) => total += n, Err(_) => open[0] = false },
                recv(second) -> message => match message { Ok(n) => total += n, Err(_) => open[1] = false },
            }
        }
        assert_eq!(total, 22);
    });

    let (_silent, receiver) = channel::unbounded::<()>();
    assert_eq!(
        receiver.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout)
    );
}
