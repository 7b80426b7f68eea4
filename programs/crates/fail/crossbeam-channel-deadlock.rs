// fail: a worker that puts follow-up work into the bounded queue that it alone empties
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use crossbeam::channel;
use std::thread;

fn main() {
    let (sender, receiver) = channel::bounded(2);
    let worker_sender = sender.clone();
    let worker = thread::spawn(move || {
        for _ in 0..6 {
            let job: u32 = receiver.recv().unwrap();
            if job % 2 == 0 {
                // When main has filled the queue meanwhile, nobody is left to make room.
                thread::yield_now();
                worker_sender.send(job + 1).unwrap();
            }
        }
    });
    for job in [0, 2, 4] {
        sender.send(job).unwrap();
        thread::yield_now();
    }
    worker.join().unwrap();
}
