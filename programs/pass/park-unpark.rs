// pass: thread::park and unpark: the token is kept when unpark comes first, and is only one however often it comes
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static TURN: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let sleeper = thread::spawn(|| {
        // park may return for no reason, so the flag decides.
        while !READY.load(SeqCst) {
            thread::park();
        }
    });
    READY.store(true, SeqCst);
    sleeper.thread().unpark();
    sleeper.join().unwrap();

    // Before its own park: the token waits for it.
    thread::current().unpark();
    thread::current().unpark();
    thread::park();

    // Two threads hand a turn to and fro.
    let main_thread = thread::current();
    let partner = thread::spawn(move || {
        for turn in 0..3 {
            while TURN.load(SeqCst) != 2 * turn + 1 {
                thread::park();
            }
            TURN.fetch_add(1, SeqCst);
            main_thread.unpark();
        }
    });
    for turn in 0..3 {
        TURN.fetch_add(1, SeqCst);
        partner.thread().unpark();
        while TURN.load(SeqCst) != 2 * turn + 2 {
            thread::park();
        }
    }
    partner.join().unwrap();
}
