// pass: loops that end when the clock says so, without sleeping: time has to pass while threads look at it
// uncontrolled: uncontended locks are not schedule points

use std::thread;
use std::time::{Duration, Instant};

fn main() {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // A few microseconds: on a virtual clock each look moves it by a fixed quantum.
                let deadline = Instant::now() + Duration::from_micros(30);
                let mut last = Instant::now();
                while last < deadline {
                    thread::yield_now();
                    let now = Instant::now();
                    assert!(now >= last); // Never backwards, whoever looked in between.
                    last = now;
                }
            });
        }
    });
}
