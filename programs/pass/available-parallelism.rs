// pass: as many workers as there are processors, at least one and at most four, share a list of jobs
// uncontrolled: uncontended locks are not schedule points

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

fn main() {
    // Under control this may well be one: a serial run is kept on one core. It must not be an error.
    let processors = thread::available_parallelism().unwrap().get();
    let workers = processors.clamp(1, 4);
    const JOBS: usize = 8;
    let next = AtomicUsize::new(0);
    let done: [AtomicUsize; JOBS] = Default::default();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| loop {
                let job = next.fetch_add(1, SeqCst);
                if job >= JOBS {
                    break;
                }
                done[job].fetch_add(1, SeqCst);
                thread::yield_now();
            });
        }
    });
    assert!(done.iter().all(|count| count.load(SeqCst) == 1));
}
