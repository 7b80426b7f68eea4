// fail: a client asks three times at intervals of 10 ms for what is there after 25 ms, and then gives up
// expect: exit
// uncontrolled: uncontended locks are not schedule points

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static READY: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let service = thread::spawn(|| {
        thread::sleep(Duration::from_millis(25));
        READY.store(true, SeqCst);
    });
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(10));
        if READY.load(SeqCst) {
            service.join().unwrap();
            return ExitCode::SUCCESS;
        }
    }
    ExitCode::FAILURE
}
