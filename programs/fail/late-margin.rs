// fail: a message takes 15 ms, and recv_timeout gives it 20 ms
// expect: assert
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(15));
        // The receiver may have given up.
        let _ = sender.send(42);
    });
    assert_eq!(receiver.recv_timeout(Duration::from_millis(20)), Ok(42));
    worker.join().unwrap();
}
