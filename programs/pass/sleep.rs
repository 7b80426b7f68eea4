// pass: thread::sleep: never too short, also when several threads sleep for different times; polling with sleep ends
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

static STOP: AtomicBool = AtomicBool::new(false);

fn main() {
    let poller = thread::spawn(|| {
        while !STOP.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let sleepers: Vec<_> = (1..=2)
        .map(|milliseconds| {
            thread::spawn(move || {
                let time = Duration::from_millis(milliseconds);
                let start = Instant::now();
                thread::sleep(time);
                assert!(start.elapsed() >= time);
            })
        })
        .collect();
    for sleeper in sleepers {
        sleeper.join().unwrap();
    }
    let before = SystemTime::now();
    thread::sleep(Duration::ZERO);
    assert!(SystemTime::now() >= before);
    STOP.store(true, SeqCst);
    poller.join().unwrap();
}
