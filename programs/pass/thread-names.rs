// pass: named threads: each has its own name (the kernel keeps 15 bytes of it, Rust all) and its own stack size
// uncontrolled: uncontended locks are not schedule points

use std::thread;

fn main() {
    assert_eq!(thread::current().name(), Some("main"));
    let threads: Vec<_> = ["reader", "a-rather-long-name"]
        .into_iter()
        .map(|name| {
            let body = move || {
                assert_eq!(thread::current().name(), Some(name));
                thread::yield_now();
                assert_eq!(thread::current().name(), Some(name)); // Still, after others had their turn.
            };
            thread::Builder::new()
                .name(name.into())
                .stack_size(128 << 10)
                .spawn(body)
                .unwrap()
        })
        .collect();
    assert_eq!(threads[0].thread().name(), Some("reader"));
    for handle in threads {
        handle.join().unwrap();
    }
    let unnamed = thread::spawn(|| assert_eq!(thread::current().name(), None));
    unnamed.join().unwrap();
}
