// fail: two workers see the last job, both go for it, and one waits for ever: the channel is not closed
// expect: deadlock
// uncontrolled: uncontended locks are not schedule points

use crossbeam::channel;
use std::sync::Condvar;
use std::thread;

fn main() {
    let (sender, receiver) = channel::unbounded();
    (0..3).for_each(|job| sender.send(job).unwrap());
    let progress = Condvar::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !receiver.is_empty() {
                    // A system call, so a schedule point; the channel itself makes none while it holds messages.
                    progress.notify_all();
                    // What was there a moment ago may be gone, and main still holds the sender.
                    let _: u32 = receiver.recv().unwrap();
                }
            });
        }
    });
    drop(sender);
}
