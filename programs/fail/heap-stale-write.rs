// fail: a thread writes through a raw pointer to a vector that has grown and moved in the meantime (unsafe)
// expect: misuse
use std::sync::{Arc, Mutex};
use std::thread;

struct Raw(*mut u64);
unsafe impl Send for Raw {}

fn main() {
    let numbers = Arc::new(Mutex::new(vec![0u64; 4]));
    let first = Raw(numbers.lock().unwrap().as_mut_ptr());
    let writer = thread::spawn(move || {
        let first = first;
        thread::yield_now();
        // The bug: the vector may be elsewhere by now.
        unsafe { first.0.add(2).write(1) };
    });
    let grower = thread::spawn({
        let numbers = Arc::clone(&numbers);
        move || numbers.lock().unwrap().resize(1000, 0)
    });
    writer.join().unwrap();
    grower.join().unwrap();
}
