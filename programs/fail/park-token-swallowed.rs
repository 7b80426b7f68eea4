// fail: an unpark meant for main's own park is used up by the park inside a channel's recv
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::mpsc;
use std::thread;

fn main() {
    let main_thread = thread::current();
    let (sender, receiver) = mpsc::channel();
    let helper = thread::spawn(move || sender.send(1).unwrap());
    let waker = thread::spawn(move || {
        let busy: u64 = (0..300_000u64).fold(0, |sum, i| sum ^ std::hint::black_box(i));
        std::hint::black_box(busy); // Long enough that natively it comes after the message.
        main_thread.unpark();
    });
    // recv parks this thread while it waits. A thread has only one token, and recv does not give it back.
    assert_eq!(receiver.recv(), Ok(1));
    thread::park(); // No flag, no loop: as if the token could only have been meant for this place.
    helper.join().unwrap();
    waker.join().unwrap();
}
