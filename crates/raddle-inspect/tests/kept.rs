//! What the caches are for: the second look at a program's threads must not read its files again.
//!
//! The bytes that a process has read are counted for the whole process, so this test has one of its own.

#[allow(dead_code)]
#[path = "processes/support.rs"]
mod support;

use raddle_inspect::stack::Unwinder;

use support::{c, BLOCKED};

/// The bytes that this process has read so far.
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").expect("is there");
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("is there");
    line.parse().expect("a number")
}

#[test]
fn later_looks_read_no_files_again() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let running = built.start().settled(4);
    let mut unwinder = Unwinder::new();
    let mut look = || {
        let before = bytes_read();
        let stacks = unwinder.stacks(running.pid(), &running.tids());
        assert!(stacks.iter().all(Result::is_ok));
        bytes_read() - before
    };
    let first = look();
    for _ in 0..5 {
        let later = look();
        // The memory map is read each time, and is small.
        assert!(later < first / 4, "first {first} bytes, later {later}");
    }
}
