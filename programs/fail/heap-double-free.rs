// fail: two owners of a raw pointer both believe that they are the last one (unsafe)
// expect: misuse
use std::sync::{Arc, Mutex};
use std::thread;

struct Raw(*mut [u64; 8]);
unsafe impl Send for Raw {}

fn main() {
    let pointer = Box::into_raw(Box::new([7u64; 8]));
    let owners = Arc::new(Mutex::new(2));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (raw, owners) = (Raw(pointer), Arc::clone(&owners));
            thread::spawn(move || {
                let raw = raw;
                *owners.lock().unwrap() -= 1;
                // The bug: the other one may have let go in between.
                thread::yield_now();
                if *owners.lock().unwrap() == 0 {
                    drop(unsafe { Box::from_raw(raw.0) });
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
