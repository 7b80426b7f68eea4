//! arc-swap: reading an `Arc` without a lock while others replace it.

mod pass {
    use arc_swap::{ArcSwap, ArcSwapOption, Cache};
    use std::sync::Arc;
    use std::thread;

    /// A reader sees one configuration or the other one, never one that is gone.
    #[test]
    fn load_and_store() {
        let current = ArcSwap::from_pointee((0, 0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let seen = current.load();
                    assert_eq!(seen.0, seen.1);
                    let full = current.load_full();
                    assert!(full.0 >= seen.0);
                });
            }
            (1..3).for_each(|version| current.store(Arc::new((version, version))));
        });
        assert_eq!(Arc::strong_count(&current.load_full()), 2);
    }

    #[test]
    fn read_copy_update() {
        let total = ArcSwap::from_pointee(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| total.rcu(|total| **total + 1));
            }
        });
        assert_eq!(**total.load(), 3);
    }

    #[test]
    fn swap_takes_once() {
        let last = ArcSwapOption::from_pointee(7);
        let taken = thread::scope(|scope| {
            let takers = [0, 1, 2].map(|_| scope.spawn(|| last.swap(None)));
            takers.map(|taker| taker.join().unwrap()).into_iter().flatten().count()
        });
        assert_eq!(taken, 1);
    }

    #[test]
    fn cache() {
        let current = ArcSwap::from_pointee(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut cache = Cache::new(&current);
                let first = **cache.load();
                assert!(**cache.load() >= first);
            });
            current.store(Arc::new(1));
        });
    }
}

mod fail {
    use arc_swap::{ArcSwap, ArcSwapOption};
    use std::sync::Arc;
    use std::thread;

    /// A load and a store are no update.
    #[test]
    fn lost_update() {
        let total = ArcSwap::from_pointee(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| total.store(Arc::new(**total.load() + 1)));
            }
        });
        assert_eq!(**total.load(), 2);
    }

    /// Two loads may see two configurations.
    #[test]
    fn two_loads() {
        let current = ArcSwapOption::from_pointee(1);
        thread::scope(|scope| {
            scope.spawn(|| {
                if current.load().is_some() {
                    assert_eq!(**current.load().as_ref().unwrap(), 1);
                }
            });
            current.store(None);
        });
    }
}
