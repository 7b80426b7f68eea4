//! crossbeam: work stealing, channels, and below them epochs and back-off.

mod pass {
    use crossbeam_channel::{after, bounded, never, select, unbounded, RecvTimeoutError};
    use crossbeam_deque::{Injector, Steal, Stealer, Worker};
    use crossbeam_epoch::{self as epoch, Atomic, Owned};
    use crossbeam_utils::sync::{Parker, WaitGroup};
    use crossbeam_utils::Backoff;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    fn steal(from: &Stealer<usize>) -> Vec<usize> {
        let mut taken = Vec::new();
        loop {
            match from.steal() {
                Steal::Success(job) => taken.push(job),
                Steal::Empty => return taken,
                Steal::Retry => {}
            }
        }
    }

    /// Every job is taken exactly once, by its owner or by a thief.
    #[test]
    fn deque() {
        for worker in [Worker::new_lifo(), Worker::new_fifo()] {
            let stealer = worker.stealer();
            let mut taken = thread::scope(|scope| {
                let thieves = [scope.spawn(|| steal(&stealer)), scope.spawn(|| steal(&stealer))];
                (0..3).for_each(|job| worker.push(job));
                let mut taken: Vec<_> = std::iter::from_fn(|| worker.pop()).collect();
                thieves.into_iter().for_each(|thief| taken.extend(thief.join().unwrap()));
                taken
            });
            taken.sort();
            assert_eq!(taken, [0, 1, 2]);
        }
    }

    #[test]
    fn injector() {
        let (injector, taken) = (Injector::new(), AtomicUsize::new(0));
        (0..4).for_each(|job| injector.push(1 << job));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let own = Worker::new_fifo();
                    while let Some(job) = own.pop().or_else(|| {
                        std::iter::repeat_with(|| injector.steal_batch_and_pop(&own))
                            .find(|steal| !steal.is_retry())
                            .and_then(Steal::success)
                    }) {
                        taken.fetch_add(job, SeqCst);
                    }
                });
            }
        });
        assert_eq!(taken.into_inner(), 0b1111);
    }

    #[test]
    fn channel() {
        for (sender, receiver) in [unbounded(), bounded(1), bounded(0)] {
            let mut received = thread::scope(|scope| {
                let receivers = [0, 1].map(|_| receiver.clone());
                let receivers = receivers.map(|receiver| scope.spawn(move || receiver.iter().collect::<Vec<_>>()));
                for me in 0..2 {
                    let sender = sender.clone();
                    scope.spawn(move || (0..2).for_each(|item| sender.send(2 * me + item).unwrap()));
                }
                drop((sender, receiver));
                receivers.map(|receiver| receiver.join().unwrap()).concat()
            });
            received.sort();
            assert_eq!(received, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn selects() {
        let ((a, from_a), (b, from_b), closed) = (unbounded(), bounded(0), never());
        thread::scope(|scope| {
            scope.spawn(move || a.send(1).unwrap());
            scope.spawn(move || b.send(2).unwrap());
            let late = after(Duration::from_secs(60));
            let (mut sum, mut open) = (0, [from_a, from_b]);
            while open.iter().any(|receiver| !receiver.same_channel(&closed)) {
                select! {
                    recv(open[0]) -> item => item.map_or_else(|_| open[0] = closed.clone(), |item| sum += item),
                    recv(open[1]) -> item => item.map_or_else(|_| open[1] = closed.clone(), |item| sum += item),
                    recv(late) -> _ => panic!("nobody needs a minute"),
                }
            }
            assert_eq!(sum, 3);
        });
    }

    #[test]
    fn channel_times_out() {
        let (sender, receiver) = bounded(0);
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_secs(3));
            sender.send(1).unwrap();
        });
        assert_eq!(receiver.recv_timeout(Duration::from_secs(2)), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv(), Ok(1));
        late.join().unwrap();
    }

    /// What one thread replaces stays there for who has pinned it.
    #[test]
    fn epochs() {
        let current = Atomic::new(0usize);
        thread::scope(|scope| {
            for next in 1..3 {
                let current = &current;
                scope.spawn(move || {
                    let guard = epoch::pin();
                    let old = current.swap(Owned::new(next), SeqCst, &guard);
                    unsafe { guard.defer_destroy(old) };
                    guard.flush();
                });
            }
            scope.spawn(|| {
                let guard = epoch::pin();
                let seen = unsafe { current.load(SeqCst, &guard).deref() };
                let first = *seen;
                guard.flush();
                assert_eq!(*seen, first);
            });
        });
        drop(unsafe { current.into_owned() });
    }

    #[test]
    fn parker_and_wait_group() {
        let (parker, group) = (Parker::new(), WaitGroup::new());
        let unparker = parker.unparker().clone();
        let working = group.clone();
        let waits = thread::spawn(move || {
            parker.park();
            drop(working);
        });
        unparker.unpark();
        group.wait();
        waits.join().unwrap();
    }

    /// A loop that spins, then yields, then would park.
    #[test]
    fn backoff() {
        let ready = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let backoff = Backoff::new();
                    while !ready.load(SeqCst) {
                        backoff.snooze();
                    }
                });
            }
            thread::sleep(Duration::from_millis(1));
            ready.store(true, SeqCst);
        });
    }
}

mod fail {
    use crossbeam_channel::unbounded;
    use crossbeam_deque::Worker;
    use std::thread;

    /// What was there a moment ago may be gone.
    #[test]
    fn empty_then_steal() {
        let worker = Worker::new_fifo();
        worker.push(1);
        let stealer = worker.stealer();
        thread::scope(|scope| {
            scope.spawn(|| {
                if !stealer.is_empty() {
                    assert_eq!(stealer.steal().success().unwrap(), 1);
                }
            });
            worker.pop();
        });
    }

    /// Two who see the last message go for it, and one waits for ever: the channel stays open.
    #[test]
    fn empty_then_receive() {
        let (sender, receiver) = unbounded();
        (0..2).for_each(|job| sender.send(job).unwrap());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !receiver.is_empty() {
                        receiver.recv().unwrap();
                    }
                });
            }
        });
    }
}
