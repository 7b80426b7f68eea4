// pass: Chase and Lev's work-stealing deque in a ring of two: an owner and two thieves take each of five jobs exactly once
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::thread;

const JOBS: usize = 5;
const SIZE: isize = 2;

struct Plain(UnsafeCell<usize>);
// SAFETY: a job's count belongs to the one who took the job.
unsafe impl Sync for Plain {}

static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(0);
static RING: [AtomicUsize; SIZE as usize] = [const { AtomicUsize::new(0) }; SIZE as usize];
static DONE: [Plain; JOBS] = [const { Plain(UnsafeCell::new(0)) }; JOBS];

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
    BOTTOM.store(bottom, SeqCst); // From here on a thief leaves this job alone, unless it has seen the old bottom.
    let top = TOP.load(SeqCst);
    if top > bottom {
        BOTTOM.store(bottom + 1, SeqCst);
        return None;
    }
    let job = place(bottom).load(SeqCst);
    if top < bottom {
        return Some(job);
    }
    // The last one: a thief may be after it.
    let won = TOP.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
    BOTTOM.store(bottom + 1, SeqCst);
    won.then_some(job)
}

fn steal() -> Option<usize> {
    let top = TOP.load(SeqCst);
    if top >= BOTTOM.load(SeqCst) {
        return None;
    }
    let job = place(top).load(SeqCst); // Perhaps a newer one that went round; then top has moved, and the exchange fails.
    TOP.compare_exchange(top, top + 1, SeqCst, SeqCst).ok().map(|_| job)
}

fn run(job: usize) {
    unsafe { *DONE[job].0.get() += 1 };
}

fn main() {
    let thief = || (0..3).filter_map(|_| steal()).for_each(run);
    let thieves = [thread::spawn(thief), thread::spawn(thief)];
    for job in 0..JOBS {
        if !push(job) {
            run(job);
        }
        if job % 2 == 1 {
            pop().map(run);
        }
    }
    (0..SIZE).filter_map(|_| pop()).for_each(run);
    for thief in thieves {
        thief.join().unwrap();
    }
    assert!(DONE.iter().all(|done| unsafe { *done.0.get() } == 1));
}
