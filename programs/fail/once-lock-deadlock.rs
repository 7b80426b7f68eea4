// fail: one thread holds a lock and needs a OnceLock, whose initialiser needs the lock
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static PREFIX: OnceLock<String> = OnceLock::new();
static STARTED: Condvar = Condvar::new();

fn prefix() -> &'static str {
    PREFIX.get_or_init(|| {
        STARTED.notify_all(); // A system call, so a schedule point: the other thread may take the lock now.
        format!("{}-", NAMES.lock().unwrap().len())
    })
}

fn add(name: &str) {
    let mut names = NAMES.lock().unwrap();
    names.push(format!("{}{name}", prefix()));
}

fn main() {
    let first = thread::spawn(prefix);
    let second = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i); // Some work, after which the prefix is nearly always made.
        }
        add("loom");
    });
    assert_eq!(first.join().unwrap(), "0-");
    second.join().unwrap();
}
