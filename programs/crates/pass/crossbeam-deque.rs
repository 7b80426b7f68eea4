// pass: crossbeam::deque: workers take from their own queue, from the global one and from each other; each job once
// uncontrolled: uncontended locks are not schedule points

use crossbeam::deque::{Injector, Steal, Stealer, Worker};
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const JOBS: usize = 8;

fn find(
    local: &Worker<usize>,
    global: &Injector<usize>,
    others: &[Stealer<usize>],
) -> Option<usize> {
    local.pop().or_else(|| {
        iter::repeat_with(|| {
            global
                .steal_batch_and_pop(local)
                .or_else(|| others.iter().map(Stealer::steal).collect())
        })
        .find(|steal| !steal.is_retry()) // Retry means that another thread was quicker.
        .and_then(Steal::success)
    })
}

fn main() {
    let global = Injector::new();
    (0..JOBS).for_each(|job| global.push(job));
    let locals: Vec<_> = (0..3).map(|_| Worker::new_fifo()).collect();
    let stealers: Vec<_> = locals.iter().map(Worker::stealer).collect();
    let done: [AtomicUsize; JOBS] = Default::default();
    let left = AtomicUsize::new(JOBS);

    thread::scope(|scope| {
        for local in locals {
            let (global, stealers, done, left) = (&global, &stealers, &done, &left);
            scope.spawn(move || {
                // An empty round proves nothing: a job may be on its way between two queues.
                while left.load(SeqCst) > 0 {
                    if let Some(job) = find(&local, global, stealers) {
                        done[job].fetch_add(1, SeqCst);
                        left.fetch_sub(1, SeqCst);
                    }
                    thread::yield_now();
                }
            });
        }
    });
    assert!(done.iter().all(|count| count.load(SeqCst) == 1));
}
