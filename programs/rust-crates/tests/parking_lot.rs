//! parking_lot: locks that spin, then park.
//!
//! Threads park in a table by the addresses of their locks, and two locks may share a place there. Where there are two,
//! they are static: the addresses of stacks differ between fibers and OS threads, and then the runs would.

mod pass {
    use parking_lot::{Condvar, FairMutex, Mutex, Once, OnceState, ReentrantMutex, RwLock, RwLockUpgradableReadGuard};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn mutex() {
        static TOTAL: Mutex<usize> = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..3).for_each(|_| *TOTAL.lock() += 1));
            }
        });
        assert_eq!(*TOTAL.lock(), 9);
    }

    #[test]
    fn fair_and_reentrant() {
        static FAIR: FairMutex<usize> = FairMutex::new(0);
        static REENTRANT: ReentrantMutex<Cell<usize>> = ReentrantMutex::new(Cell::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    *FAIR.lock() += 1;
                    let outer = REENTRANT.lock();
                    let inner = REENTRANT.lock();
                    inner.set(outer.get() + 1);
                });
            }
        });
        assert_eq!((*FAIR.lock(), REENTRANT.lock().get()), (3, 3));
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
        static QUEUE: Mutex<Vec<i32>> = Mutex::new(Vec::new());
        static ADDED: Condvar = Condvar::new();
        thread::scope(|scope| {
            let takers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let mut queue = QUEUE.lock();
                        loop {
                            match queue.pop() {
                                Some(item) => break item,
                                None => ADDED.wait(&mut queue),
                            }
                        }
                    })
                })
                .collect();
            for item in 0..2 {
                QUEUE.lock().push(item);
                ADDED.notify_one();
            }
            let mut taken: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
            taken.sort();
            assert_eq!(taken, [0, 1]);
        });
    }

    /// Waiters are moved from the condition to the lock, and woken one after the other.
    #[test]
    fn condvar_wakes_all() {
        static OPEN: Mutex<bool> = Mutex::new(false);
        static OPENED: Condvar = Condvar::new();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| OPENED.wait_while(&mut OPEN.lock(), |open| !*open));
            }
            *OPEN.lock() = true;
            OPENED.notify_all();
        });
        assert!(OPENED.wait_for(&mut OPEN.lock(), Duration::from_secs(5)).timed_out());
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
        static A: Mutex<i32> = Mutex::new(0);
        static B: Mutex<i32> = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *A.lock() += *B.lock());
            scope.spawn(|| *B.lock() += *A.lock());
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
        static OPEN: Mutex<bool> = Mutex::new(false);
        static OPENED: Condvar = Condvar::new();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| OPENED.wait_while(&mut OPEN.lock(), |open| !*open));
            }
            *OPEN.lock() = true;
            OPENED.notify_one();
        });
    }
}
