//! Bodies with bugs that some schedules bring to light. On their own they nearly always pass.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Two threads that come to one place; whether the second one was first.
fn upset() -> bool {
    let first = Arc::new(Mutex::new(0));
    let threads = [1, 2].map(|me| {
        let first = Arc::clone(&first);
        thread::spawn(move || {
            let mut first = first.lock().unwrap();
            if *first == 0 {
                *first = me;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    let first = *first.lock().unwrap();
    first == 2
}

#[raddle::test]
fn two_withdrawals() {
    let account = Arc::new(Mutex::new(10));
    let threads: [JoinHandle<()>; 2] = [1, 2].map(|_| {
        let account = Arc::clone(&account);
        thread::spawn(move || {
            let enough = *account.lock().unwrap() >= 10;
            if enough {
                thread::yield_now();
                *account.lock().unwrap() -= 10;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    let balance = *account.lock().unwrap();
    assert!(balance >= 0, "the balance is {balance}");
}

#[raddle::test]
fn error() -> Result<(), String> {
    if upset() {
        return Err("out of order".into());
    }
    Ok(())
}

#[raddle::test]
fn thread_panics() {
    let first = Arc::new(Mutex::new(0));
    let threads = [1, 2].map(|me| {
        let first = Arc::clone(&first);
        thread::spawn(move || {
            let mut first = first.lock().unwrap();
            if *first == 0 {
                *first = me;
            }
            assert!(*first == 1, "thread {me} was too early");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[raddle::test]
fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = Arc::clone(&locks);
    let thread = thread::spawn(move || {
        let _b = other.1.lock().unwrap();
        thread::yield_now();
        let _a = other.0.lock().unwrap();
    });
    let a = locks.0.lock().unwrap();
    thread::yield_now();
    drop((locks.1.lock().unwrap(), a));
    thread.join().unwrap();
}

#[raddle::test]
fn abort() {
    if upset() {
        std::process::abort();
    }
}

#[raddle::test]
fn threads_left() {
    if upset() {
        let forgotten = thread::Builder::new().name("forgotten".into());
        forgotten
            .spawn(|| loop {
                thread::park()
            })
            .unwrap();
    }
}

#[raddle::test]
fn leak() {
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    let more = TIMES.fetch_add(1, SeqCst) % 2;
    let threads: Vec<_> = (0..2 + more).map(|_| thread::spawn(thread::yield_now)).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[raddle::test]
#[should_panic(expected = "found by some schedule")]
fn expected() {
    assert!(!upset(), "found by some schedule");
}

#[raddle::test(runs = 0x100, policy = "pct:d=2", seed = 11)]
fn options() {
    assert!(!upset());
}
