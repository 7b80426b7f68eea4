// fail: the flag is checked without the lock, so the notification can fall between the check and the wait
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let ready = AtomicBool::new(false);
    let (mutex, changed, idle) = (Mutex::new(()), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, SeqCst);
            changed.notify_one();
        });
        if !ready.load(SeqCst) {
            // The other thread's whole life fits in here. (Without this call the next schedule point would be the
            // wait itself, and a futex wait notices a notification that came since it read the value.)
            idle.notify_one();
            let guard = mutex.lock().unwrap();
            drop(changed.wait(guard).unwrap());
        }
    });
}
