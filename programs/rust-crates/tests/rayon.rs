//! rayon: a pool of threads that steal work and sleep.

mod pass {
    use rayon::prelude::*;

    fn pool() -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
    }

    #[test]
    fn join() {
        fn fibonacci(n: u32) -> u32 {
            if n < 2 {
                return n;
            }
            let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
            a + b
        }
        assert_eq!(pool().install(|| fibonacci(4)), 3);
    }

    #[test]
    fn thousand_items() {
        let sum: usize = pool().install(|| (0..1000).into_par_iter().with_min_len(100).map(|item| 2 * item).sum());
        assert_eq!(sum, 999_000);
    }

    #[test]
    fn scope() {
        let mut halves = [0, 0];
        pool().scope(|scope| {
            for half in &mut halves {
                scope.spawn(move |_| *half = 1);
            }
        });
        assert_eq!(halves, [1, 1]);
    }

    #[test]
    fn broadcast() {
        assert_eq!(pool().broadcast(|context| context.index()), [0, 1]);
    }
}

mod fail {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn lost_update() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let total = AtomicUsize::new(0);
        let add = || total.store(total.load(SeqCst) + 1, SeqCst);
        pool.join(add, add);
        assert_eq!(total.into_inner(), 2);
    }
}
