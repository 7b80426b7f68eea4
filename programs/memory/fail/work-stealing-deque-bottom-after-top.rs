// fail: Chase and Lev's work-stealing deque whose owner looks at top before it lowers bottom
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

// With jobs 0 and 1 left, the owner reads top 0. The thief still sees bottom 2 and steals both. The owner lowers bottom to 1,
// believes that job 1 is not the last one, and takes it too.
fn pop() -> Option<usize> {
    let bottom = BOTTOM.load(SeqCst) - 1;
    let top = TOP.load(SeqCst);
    BOTTOM.store(bottom, SeqCst);
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
