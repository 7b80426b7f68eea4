// fail: two threads agree badly on who speaks first, and each waits for the other's message
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Condvar;
use std::thread;

static LISTENING: AtomicBool = AtomicBool::new(false);
static CHOSEN: Condvar = Condvar::new();

// Each side holds the sender of its peer, so neither ever sees a closed channel.
fn talk(to_peer: Sender<&str>, from_peer: Receiver<&str>) {
    if LISTENING.load(SeqCst) {
        to_peer.send("hello").unwrap();
        assert_eq!(from_peer.recv().unwrap(), "welcome");
    } else {
        CHOSEN.notify_all(); // Both may be here and find that nobody listens yet.
        LISTENING.store(true, SeqCst);
        assert_eq!(from_peer.recv().unwrap(), "hello");
        to_peer.send("welcome").unwrap();
    }
}

fn main() {
    let (to_a, for_a) = mpsc::channel();
    let (to_b, for_b) = mpsc::channel();
    let a = thread::spawn(move || talk(to_b, for_a));
    let b = thread::spawn(move || talk(to_a, for_b));
    a.join().unwrap();
    b.join().unwrap();
}
