// fail: a pool of buffers, kept as Treiber's stack without a version: a top that came back is taken for one that never left
// expect: assert
// race-free
// source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

const NONE: usize = 3;

static TOP: AtomicUsize = AtomicUsize::new(0);
static NEXT: [AtomicUsize; 3] = [AtomicUsize::new(1), AtomicUsize::new(2), AtomicUsize::new(NONE)];
static HELD: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

// The first sees 0 on top, and 1 next. The second takes 0 and 1 and gives 0 back: 0 is on top again, but 2 is next.
// The first's exchange succeeds and puts 1 on top, which the second still holds and gives back later: it is in the pool twice.
fn take() -> Option<usize> {
    let mut old = TOP.load(SeqCst);
    while old != NONE {
        let next = NEXT[old].load(SeqCst);
        match TOP.compare_exchange(old, next, SeqCst, SeqCst) {
            Ok(_) => {
                assert!(!HELD[old].swap(true, SeqCst), "buffer {old} is taken twice");
                return Some(old);
            }
            Err(seen) => old = seen,
        }
    }
    None
}

fn give(buffer: usize) {
    HELD[buffer].store(false, SeqCst);
    let mut old = TOP.load(SeqCst);
    loop {
        NEXT[buffer].store(old, SeqCst);
        match TOP.compare_exchange(old, buffer, SeqCst, SeqCst) {
            Ok(_) => return,
            Err(seen) => old = seen,
        }
    }
}

fn work() {
    let mine = [take(), take()];
    for buffer in mine.into_iter().flatten() {
        give(buffer);
    }
}

fn main() {
    let other = thread::spawn(work);
    work();
    other.join().unwrap();
    assert_eq!((0..3).filter_map(|_| take()).count(), 3); // All of them are there, and none of them twice.
}
