//! The standard library: locks, channels, barriers, scoped threads, parking.

mod pass {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{mpsc, Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn mutex() {
        let total = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| *total.lock().unwrap() += 1));
            }
        });
        assert_eq!(*total.lock().unwrap(), 9);
    }

    #[test]
    fn condvar() {
        let (queue, added) = (Mutex::new(Vec::new()), Condvar::new());
        let taken = thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut taken = Vec::new();
                while taken.len() < 3 {
                    let mut queue = added.wait_while(queue.lock().unwrap(), |queue| queue.is_empty()).unwrap();
                    taken.append(&mut queue);
                }
                taken
            });
            for item in 0..3 {
                queue.lock().unwrap().push(item);
                added.notify_one();
            }
            taker.join().unwrap()
        });
        assert_eq!(taken, [0, 1, 2]);
    }

    #[test]
    fn condvar_times_out() {
        let (lock, never) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let guard = lock.lock().unwrap();
                    let (_guard, result) = never.wait_timeout_while(guard, Duration::from_secs(60), |()| true).unwrap();
                    assert!(result.timed_out());
                });
            }
        });
    }

    #[test]
    fn rwlock() {
        let pair = RwLock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut pair = pair.write().unwrap();
                    pair.0 += 1;
                    pair.1 += 1;
                });
                scope.spawn(|| {
                    let pair = pair.read().unwrap();
                    assert_eq!(pair.0, pair.1);
                });
            }
        });
        assert_eq!(*pair.read().unwrap(), (2, 2));
    }

    #[test]
    fn barrier() {
        let (barrier, arrived, leaders) = (Barrier::new(3), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=2 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        leaders.fetch_add(barrier.wait().is_leader().into(), Ordering::SeqCst);
                        assert!(arrived.load(Ordering::SeqCst) >= 3 * round);
                    }
                });
            }
        });
        assert_eq!(leaders.into_inner(), 2);
    }

    #[test]
    fn once() {
        static CELL: OnceLock<usize> = OnceLock::new();
        static LAZY: LazyLock<usize> = LazyLock::new(|| MADE.fetch_add(1, Ordering::SeqCst));
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let once = Once::new();
        thread::scope(|scope| {
            for me in 0..3 {
                let once = &once;
                scope.spawn(move || {
                    let value = *CELL.get_or_init(|| me);
                    assert_eq!(CELL.get(), Some(&value));
                    assert!(*LAZY < 2);
                    once.call_once(|| _ = MADE.fetch_add(1, Ordering::SeqCst));
                    assert!(once.is_completed());
                });
            }
        });
        assert_eq!(MADE.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn channels() {
        let (sender, receiver) = mpsc::channel();
        let (replies, replied) = mpsc::sync_channel(1);
        let senders: Vec<_> = (0..2)
            .map(|me| (me, sender.clone()))
            .map(|(me, sender)| thread::spawn(move || (0..2).for_each(|item| sender.send(2 * me + item).unwrap())))
            .collect();
        drop(sender);
        let doubles = thread::spawn(move || receiver.iter().for_each(|item| replies.send(2 * item).unwrap()));
        let mut doubled: Vec<_> = replied.iter().collect();
        doubled.sort();
        assert_eq!(doubled, [0, 2, 4, 6]);
        senders.into_iter().chain([doubles]).for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn channel_times_out() {
        let (sender, receiver) = mpsc::channel();
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_secs(3));
            sender.send(1).unwrap();
        });
        assert_eq!(receiver.recv_timeout(Duration::from_secs(2)), Err(mpsc::RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv(), Ok(1));
        late.join().unwrap();
    }

    #[test]
    fn park() {
        let ready = Arc::new(AtomicBool::new(false));
        let waits = {
            let ready = Arc::clone(&ready);
            thread::spawn(move || {
                while !ready.load(Ordering::Acquire) {
                    thread::park();
                }
            })
        };
        ready.store(true, Ordering::Release);
        waits.thread().unpark();
        waits.join().unwrap();
    }

    /// A spin lock with a hint and one with a yield: neither may use up the steps of a run.
    #[test]
    fn spinning() {
        let (locked, total) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for waits in [std::hint::spin_loop, thread::yield_now, std::hint::spin_loop] {
                let (locked, total) = (&locked, &total);
                scope.spawn(move || {
                    while locked.swap(true, Ordering::Acquire) {
                        waits();
                    }
                    total.store(total.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    locked.store(false, Ordering::Release);
                });
            }
        });
        assert_eq!(total.into_inner(), 3);
    }
}

mod fail {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Condvar, Mutex, RwLock};
    use std::thread;

    /// Two uncontended locks: nothing but atomics lies between them.
    #[test]
    fn opposite_orders() {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| *a.lock().unwrap() += *b.lock().unwrap());
            scope.spawn(|| *b.lock().unwrap() += *a.lock().unwrap());
        });
    }

    /// The balance is read under one lock and written under another one.
    #[test]
    fn check_then_act() {
        let balance = RwLock::new(100);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    if *balance.read().unwrap() >= 100 {
                        *balance.write().unwrap() -= 100;
                    }
                });
            }
        });
        assert!(*balance.read().unwrap() >= 0);
    }

    /// The flag is set outside of the lock, so the notification may come between the look and the wait.
    #[test]
    fn lost_notification() {
        let (ready, waiting, lock, changed) =
            (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = lock.lock().unwrap();
                while !ready.load(SeqCst) {
                    // The one atomic that is visible between the look and the wait: the body of `wait` is not.
                    waiting.fetch_add(1, SeqCst);
                    guard = changed.wait(guard).unwrap();
                }
            });
            ready.store(true, SeqCst);
            changed.notify_one();
        });
    }

    #[test]
    fn lost_update() {
        let total = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| total.store(total.load(SeqCst) + 1, SeqCst));
            }
        });
        assert_eq!(total.into_inner(), 2);
    }
}
