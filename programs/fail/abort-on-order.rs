// fail: the consumer aborts when it comes before the producer
// expect: signal
// uncontrolled: uncontended locks are not schedule points

use std::process;
use std::sync::OnceLock;
use std::thread;

static SETTINGS: OnceLock<&str> = OnceLock::new();

fn main() {
    let consumer = thread::spawn(|| {
        // Nearly always main is faster than a thread can start.
        if SETTINGS.get().is_none() {
            process::abort();
        }
    });
    thread::yield_now();
    SETTINGS.set("ready").unwrap();
    consumer.join().unwrap();
}
