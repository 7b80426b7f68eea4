// fail: Chase and Lev's work-stealing deque whose thief claims the place first and reads the job afterwards
// expect: assert
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::thread;

const JOBS: usize = 3;
const SIZE: isize = 2;

static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(0);
static RING: [AtomicUsize; SIZE as usize] = [const { AtomicUsize::new(0) }; SIZE as usize];
static DONE: [AtomicUsize; JOBS] = [const { AtomicUsize::new(0) }; JOBS];

fn place(index: isize) -> &'static AtomicUsize {
    &RING[(index % SIZE) as usize]
}

fn push(job: usize) -> bool {
    let bottom = BOTTOM.load(SeqCst);
    if bottom - TOP.load(SeqCst) >= SIZE {
        return false;
    }
    place(bottom).store(job, SeqCst);
    BOTTOM.store(bottom + 1, SeqCst);
    true
}

fn pop() -> Option<usize> {
    let bottom = BOTTOM.load(SeqCst) - 1;
    BOTTOM.store(bottom, SeqCst);
    let top = TOP.load(SeqCst);
    if top > bottom {
        BOTTOM.store(bottom + 1, SeqCst);
        return None;
    }
    let job = place(bottom).load(SeqCst);
    if top < bottom {
        return Some(job);
    }
    let won = TOP.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
    BOTTOM.store(bottom + 1, SeqCst);
    won.then_some(job)
}

// The owner has pushed 0 and 1. The thief advances top to 1. The place of 0 is free now, and the owner pushes 2 into it.
// The thief reads 2, which the owner takes as well, and nobody ever sees 0.
fn steal() -> Option<usize> {
    let top = TOP.load(SeqCst);
    if top >= BOTTOM.load(SeqCst) || TOP.compare_exchange(top, top + 1, SeqCst, SeqCst).is_err() {
        return None;
    }
    Some(place(top).load(SeqCst))
}

fn run(job: usize) {
    DONE[job].fetch_add(1, SeqCst);
}

fn main() {
    let thief = thread::spawn(|| steal().into_iter().for_each(run));
    for job in 0..JOBS {
        if !push(job) {
            run(job);
        }
    }
    (0..SIZE).filter_map(|_| pop()).for_each(run);
    thief.join().unwrap();
    assert!(DONE.iter().all(|done| done.load(SeqCst) == 1));
}
