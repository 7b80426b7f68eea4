// pass: OnceLock: threads race to initialise, all see the one value that won
// uncontrolled: uncontended locks are not schedule points

use std::sync::OnceLock;
use std::thread;

static NAME: OnceLock<String> = OnceLock::new();
static WINNER: OnceLock<usize> = OnceLock::new();

fn user(me: usize) -> (&'static str, usize, bool) {
    let name = NAME.get_or_init(|| {
        thread::yield_now(); // The others come while it is half done, and wait on the futex.
        format!("made by {me}")
    });
    // set, unlike get_or_init, tells whether the caller's value was the one.
    let won = WINNER.set(me).is_ok();
    (name, *WINNER.get().unwrap(), won)
}

fn main() {
    let threads: Vec<_> = (0..3).map(|me| thread::spawn(move || user(me))).collect();
    let results: Vec<_> = threads
        .into_iter()
        .map(|handle| handle.join().unwrap())
        .collect();
    for (me, (name, winner, won)) in results.iter().enumerate() {
        assert_eq!(*name, NAME.get().unwrap());
        assert_eq!(winner, WINNER.get().unwrap());
        assert_eq!(*won, me == *winner);
    }
}
