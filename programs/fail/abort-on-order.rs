// fail: the consumer aborts when it comes before the producer
// expect: signal
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::process;
use std::sync::OnceLock;
use std::thread;

static SETTINGS: OnceLock<&str> = OnceLock::new();

fn main() {
    let producer = thread::spawn(|| SETTINGS.set("ready").unwrap());
    let consumer = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i); // Some work, after which the settings are nearly always there.
        }
        if SETTINGS.get().is_none() {
            process::abort();
        }
    });
    producer.join().unwrap();
    consumer.join().unwrap();
}
