//! parking_lot: locks that spin, then park.

mod pass {
    use parking_lot::{
        const_mutex, Condvar, FairMutex, Mutex, Once, OnceState, ReentrantMutex, RwLock, RwLockUpgradableReadGuard,
    };
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn mutex() {
        static TOTAL: Mutex<usize> = const_mutex(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| *TOTAL.lock() += 1));
            }
        });
        assert_eq!(*TOTAL.lock(), 9);
    }

    #[test]
    fn fair_and_reentrant() {
        let (fair, reentrant) = (FairMutex::new(0), ReentrantMutex::new(Cell::new(0)));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    *fair.lock() += 1;
                    let outer = reentrant.lock();
                    let inner = reentrant.lock();
                    inner.set(outer.get() + 1);
                });
            }
        });
        assert_eq!((fair.into_inner(), reentrant.into_inner().get()), (3, 3));
    }

    #[test]
    fn times_out() {
        let lock = Mutex::new(());
        let guard = lock.lock();
        thread::scope(|scope| {
            let patient = scope.spawn(|| lock.try_lock_for(Duration::from_secs(60)).is_some());
            let impatient = scope.spawn(|| lock.try_lock_for(Duration::from_secs(1)).is_some());
            thread::sleep(Duration::from_secs(30));
            drop(guard);
            assert!(patient.join().unwrap() && !impatient.join().unwrap());
        });
    }

    #[test]
    fn rwlock() {
        let pair = RwLock::new((0, 0));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut pair = pair.write();
                pair.0 += 1;
                pair.1 += 1;
            });
            scope.spawn(|| {
                let pair = pair.read();
                assert_eq!(pair.0, pair.1);
            });
            scope.spawn(|| {
                let look = pair.upgradable_read();
                let before = *look;
                let mut pair = RwLockUpgradableReadGuard::upgrade(look);
                assert_eq!(*pair, before);
                *pair = (before.0 + 1, before.1 + 1);
            });
        });
        assert_eq!(pair.into_inner(), (2, 2));
    }

    #[test]
    fn condvar() {
        let (queue, added) = (Mutex::new(Vec::new()), Condvar::new());
        thread::scope(|scope| {
            let takers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let mut queue = queue.lock();
                        loop {
                            match queue.pop() {
                                Some(item) => break item,
                                None => added.wait(&mut queue),
                            }
                        }
                    })
                })
                .collect();
            for item in 0..2 {
                queue.lock().push(item);
                added.notify_one();
            }
            let mut taken: Vec<i32> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
            taken.sort();
            assert_eq!(taken, [0, 1]);
        });
    }

    /// Waiters are moved from the condition to the lock, and woken one after the other.
    #[test]
    fn condvar_wakes_all() {
        let (open, opened) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| opened.wait_while(&mut open.lock(), |open| !*open));
            }
            *open.lock() = true;
            opened.notify_all();
        });
        assert!(opened.wait_for(&mut open.lock(), Duration::from_secs(5)).timed_out());
    }

    #[test]
    fn once() {
        let (once, calls) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    once.call_once(|| _ = calls.fetch_add(1, SeqCst));
                    assert_eq!((once.state(), calls.load(SeqCst)), (OnceState::Done, 1));
                });
            }
        });
    }
}

mod fail {
    use parking_lot::{Condvar, Mutex, RwLock};
    use std::thread;

    #[test]
    fn opposite_orders() {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| *a.lock() += *b.lock());
            scope.spawn(|| *b.lock() += *a.lock());
        });
    }

    #[test]
    fn check_then_act() {
        let tickets = Mutex::new(1);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let left = *tickets.lock();
                    if left > 0 {
                        *tickets.lock() -= 1;
                    }
                });
            }
        });
        assert!(*tickets.lock() >= 0);
    }

    /// Two readers that both want to write: each waits for the other one to go.
    #[test]
    fn two_upgrades() {
        let value = RwLock::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let seen = value.read();
                    *value.write() = *seen + 1;
                });
            }
        });
    }

    /// One notification for two who wait.
    #[test]
    fn one_is_not_woken() {
        let (open, opened) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| opened.wait_while(&mut open.lock(), |open| !*open));
            }
            *open.lock() = true;
            opened.notify_one();
        });
    }
}
