//! Bodies that pass under every schedule, with what Rust programs use.

use std::cell::{Cell, RefCell};
use std::num::ParseIntError;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

#[raddle::test]
fn mutex() {
    let count = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || *count.lock().unwrap() += 1)
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 3);
}

#[raddle::test]
fn scope() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| count.fetch_add(1, SeqCst));
        }
    });
    assert_eq!(count.into_inner(), 3);
}

#[raddle::test]
fn channels() {
    let (sender, receiver) = mpsc::channel();
    let (bounded, receives) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        for i in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || sender.send(i).unwrap());
        }
        scope.spawn(move || (0..5).for_each(|i| bounded.send(i).unwrap()));
        drop(sender);
        assert_eq!(receives.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let mut got: Vec<_> = receiver.iter().collect();
        got.sort();
        assert_eq!(got, [0, 1]);
    });
}

#[raddle::test]
fn condvar_and_time() {
    let pair = (Mutex::new(false), Condvar::new());
    // Before the other thread starts: this one may be late.
    let started = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            *pair.0.lock().unwrap() = true;
            pair.1.notify_all();
        });
        let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
        assert!(started.elapsed() >= Duration::from_millis(50));
        let (_ready, timeout) = pair.1.wait_timeout_while(ready, Duration::from_millis(20), |_| true).unwrap();
        assert!(timeout.timed_out());
    });
}

#[raddle::test]
fn rwlock_barrier_and_once() {
    static SET: Once = Once::new();
    let (lock, barrier, cell) = (RwLock::new(0), Barrier::new(2), OnceLock::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                SET.call_once(|| {});
                *lock.write().unwrap() += 1;
                barrier.wait();
                assert_eq!(*lock.read().unwrap(), 2);
                assert_eq!(*cell.get_or_init(|| 7), 7);
            });
        }
    });
}

#[raddle::test]
fn park() {
    let main = thread::current();
    let ready = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(1, SeqCst);
            main.unpark();
        });
        while ready.load(SeqCst) == 0 {
            thread::park();
        }
    });
}

thread_local! {
    static PLAIN: Cell<u32> = const { Cell::new(3) };
    static COUNTED: RefCell<Counted> = RefCell::new(Counted::new());
}

static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counted(String);

impl Counted {
    fn new() -> Counted {
        MADE.fetch_add(1, SeqCst);
        Counted("fresh".into())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
    }
}

#[raddle::test]
fn thread_locals_are_fresh() {
    MADE.store(0, SeqCst);
    DROPPED.store(0, SeqCst);
    let threads = [1, 2].map(|_| {
        thread::spawn(|| {
            assert_eq!(PLAIN.replace(4), 3);
            COUNTED.with_borrow_mut(|counted| {
                assert_eq!(counted.0, "fresh");
                counted.0.push_str(" no more");
            });
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!((MADE.load(SeqCst), DROPPED.load(SeqCst)), (2, 2));
}

#[raddle::test]
fn caught_panics_and_named_threads() {
    let thread = thread::Builder::new().name("panics".into()).stack_size(256 << 10).spawn(|| {
        assert_eq!(thread::current().name(), Some("panics"));
        std::panic::resume_unwind(Box::new("expected"));
    });
    let other = thread::spawn(|| ());
    assert_eq!(thread.unwrap().join().unwrap_err().downcast_ref::<&str>(), Some(&"expected"));
    other.join().unwrap();
}

#[raddle::test]
fn parking_lot() {
    let shared = (parking_lot::Mutex::new(0), parking_lot::Condvar::new(), parking_lot::RwLock::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                *shared.2.write() += 1;
                *shared.0.lock() += 1;
                shared.1.notify_one();
            });
        }
        let mut count = shared.0.lock();
        while *count < 2 {
            shared.1.wait(&mut count);
        }
    });
    assert_eq!(*shared.2.read(), 2);
}

#[raddle::test]
fn crossbeam() {
    let (sender, receiver) = crossbeam::channel::bounded(1);
    let (other, others) = crossbeam::channel::unbounded();
    crossbeam::scope(|scope| {
        scope.spawn(|_| (0..3).for_each(|i| sender.send(i).unwrap()));
        scope.spawn(|_| other.send(10).unwrap());
        let mut sum = 0;
        for _ in 0..4 {
            crossbeam::select! {
                recv(receiver) -> value => sum += value.unwrap(),
                recv(others) -> value => sum += value.unwrap(),
            }
        }
        assert_eq!(sum, 13);
    })
    .unwrap();
}

#[raddle::test]
fn epoch() {
    let injector = crossbeam::deque::Injector::new();
    crossbeam::scope(|scope| {
        for i in 0..2 {
            let injector = &injector;
            scope.spawn(move |_| injector.push(Box::new(i)));
        }
    })
    .unwrap();
    let mut sum = 0;
    while let crossbeam::deque::Steal::Success(value) = injector.steal() {
        sum += *value;
    }
    assert_eq!(sum, 1);
}

/// The collector is the process's: what one run retires may be freed in a later one.
#[raddle::test]
fn collector() {
    use crossbeam::epoch::{self, Atomic, Owned};
    let shared = Arc::new(Atomic::new(0));
    let threads: Vec<_> = (1..3)
        .map(|i| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let guard = epoch::pin();
                let old = shared.swap(Owned::new(i), SeqCst, &guard);
                // SAFETY: it was taken out, and nobody else can find it any more.
                unsafe { guard.defer_destroy(old) };
                guard.flush();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    // SAFETY: the threads are gone.
    unsafe { drop(Arc::try_unwrap(shared).unwrap().into_owned()) };
}

#[raddle::test]
fn result() -> Result<(), ParseIntError> {
    let number = thread::spawn(|| "7".parse::<u32>()).join().unwrap()?;
    assert_eq!(number, 7);
    Ok(())
}

#[raddle::test(runs = 123, policy = "random", seed = 7, max_steps = 1_000_000)]
fn options() {
    thread::spawn(|| ()).join().unwrap();
}

/// Not by the attribute, and more than one.
#[test]
fn checks_in_a_test() {
    raddle::check(|| thread::spawn(|| ()).join().unwrap());
    raddle::Check::new().name("a name").runs(50).run(|| thread::spawn(|| ()).join().unwrap());
}
