// fail: while an entry refers to itself, whoever follows it recursively runs out of stack, and the standard library aborts
// expect: signal
// uncontrolled: uncontended locks are not schedule points

use std::hint::black_box;
use std::sync::Mutex;
use std::thread;

static TARGET: Mutex<[usize; 2]> = Mutex::new([1, 1]);

fn depth(target: &[usize; 2], at: usize) -> usize {
    let frame = black_box([at; 64]);
    if target[at] == at && at == 1 {
        return 0;
    }
    depth(target, target[at]) + frame[63] - at + 1
}

fn main() {
    let editor = thread::spawn(|| {
        TARGET.lock().unwrap()[0] = 0; // To be filled in.
        thread::yield_now();
        TARGET.lock().unwrap()[0] = 1;
    });
    let follower = thread::spawn(|| {
        for i in 0..200_000 {
            black_box(i); // Some work, after which the editor is nearly always done.
        }
        let target = *TARGET.lock().unwrap();
        assert_eq!(depth(&target, 0), 1);
    });
    editor.join().unwrap();
    follower.join().unwrap();
}
