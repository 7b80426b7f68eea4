// fail: one thread holds a lock and needs a OnceLock, whose initialiser needs the lock
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::{Mutex, OnceLock};
use std::thread;

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static PREFIX: OnceLock<String> = OnceLock::new();

fn prefix() -> &'static str {
    PREFIX.get_or_init(|| {
        thread::yield_now(); // Meanwhile the other thread may take the lock.
        format!("{}-", NAMES.lock().unwrap().len())
    })
}

fn add(name: &str) {
    let mut names = NAMES.lock().unwrap();
    names.push(format!("{}{name}", prefix()));
}

fn main() {
    let adder = thread::spawn(|| add("loom"));
    // Nearly always done before the adder has started, so that the adder finds the prefix made.
    assert_eq!(prefix(), "0-");
    adder.join().unwrap();
}
