// fail: Chase and Lev's work-stealing deque whose owner takes the last job without asking
// expect: assert
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::thread;

const JOBS: usize = 3;
const SIZE: isize = 4;

static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(0);
static RING: [AtomicUsize; SIZE as usize] = [const { AtomicUsize::new(0) }; SIZE as usize];
static DONE: [AtomicUsize; JOBS] = [const { AtomicUsize::new(0) }; JOBS];

fn place(index: isize) -> &'static AtomicUsize {
    &RING[(index % SIZE) as usize]
}

fn push(job: usize) {
    let bottom = BOTTOM.load(SeqCst);
    place(bottom).store(job, SeqCst);
    BOTTOM.store(bottom + 1, SeqCst);
}

// With one job left, the thief reads top 0, bottom 1 and the job. The owner lowers bottom, reads top 0, and takes the job, because it
// is there. Then the thief's exchange succeeds, and it has the job too.
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
    TOP.store(top + 1, SeqCst);
    BOTTOM.store(bottom + 1, SeqCst);
    Some(job)
}

fn steal() -> Option<usize> {
    let top = TOP.load(SeqCst);
    if top >= BOTTOM.load(SeqCst) {
        return None;
    }
    let job = place(top).load(SeqCst);
    TOP.compare_exchange(top, top + 1, SeqCst, SeqCst).ok().map(|_| job)
}

fn run(job: usize) {
    DONE[job].fetch_add(1, SeqCst);
}

fn main() {
    let thief = thread::spawn(|| (0..2).filter_map(|_| steal()).for_each(run));
    (0..JOBS).for_each(push);
    (0..JOBS).filter_map(|_| pop()).for_each(run);
    thief.join().unwrap();
    assert!(DONE.iter().all(|done| done.load(SeqCst) == 1));
}
