// pass: thread::spawn and join: values come back, closures own what they use, is_finished polls
// uncontrolled: uncontended locks are not schedule points

use std::thread;

fn main() {
    let words = vec!["warp".to_string(), "weft".to_string(), "raddle".to_string()];
    let handles: Vec<_> = words
        .into_iter()
        .map(|word| thread::spawn(move || word.len()))
        .collect();
    assert_ne!(handles[0].thread().id(), handles[1].thread().id());
    let lengths: Vec<usize> = handles
        .into_iter()
        .map(|handle| handle.join().unwrap())
        .collect();
    assert_eq!(lengths, [4, 4, 6]);

    // A thread that starts and joins another one.
    let outer = thread::spawn(|| thread::spawn(|| 42).join().unwrap());
    assert_eq!(outer.join().unwrap(), 42);

    let handle = thread::spawn(|| "done");
    while !handle.is_finished() {
        thread::yield_now();
    }
    assert_eq!(handle.join().unwrap(), "done");
}
