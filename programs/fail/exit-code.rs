// fail: two workers claim jobs with a load and a store; a job done twice ends the program with status 3
// expect: exit
// uncontrolled: uncontended locks are not schedule points

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Condvar;
use std::thread;

static NEXT: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);
static PROGRESS: Condvar = Condvar::new();

fn worker() {
    loop {
        let job = NEXT.load(SeqCst);
        PROGRESS.notify_all(); // Both may have seen the same number.
        if job >= 3 {
            return;
        }
        NEXT.store(job + 1, SeqCst);
        DONE.fetch_add(1, SeqCst);
    }
}

fn main() -> ExitCode {
    let other = thread::spawn(worker);
    worker();
    other.join().unwrap();
    ExitCode::from(if DONE.load(SeqCst) == 3 { 0 } else { 3 })
}
