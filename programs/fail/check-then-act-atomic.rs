// fail: a balance is checked and then changed by two atomic operations, each of them right, both together not
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::sync::Condvar;
use std::thread;

static BALANCE: AtomicI32 = AtomicI32::new(100);
static ASKED: Condvar = Condvar::new();

fn withdraw(amount: i32) {
    if BALANCE.load(SeqCst) >= amount {
        ASKED.notify_all(); // Between the check and the act the other one may come.
        BALANCE.fetch_sub(amount, SeqCst);
    }
}

fn main() {
    let a = thread::spawn(|| withdraw(80));
    let b = thread::spawn(|| withdraw(80));
    a.join().unwrap();
    b.join().unwrap();
    assert!(BALANCE.load(SeqCst) >= 0);
}
