//! What a thread waits for that waits in a futex or by parking: the frames of the library above it tell.
//!
//! Rust's locks, channels and the rest of its library, parking_lot, crossbeam and parts of C++'s library know only
//! futexes, and a condition variable may be one of a channel. Of all frames between the futex and the program the
//! outermost one is what the program called.

use raddle_inspect::names;
use raddle_inspect::stack::Frame;
use serde::{Deserialize, Serialize};

/// A wait by the name of the function in which a thread waits.
struct Mark {
    /// A part of its name.
    function: &'static str,
    wait: Wait,
}

/// What a library's wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What the thread does, as an event is named.
    pub event: &'static str,
    /// What it does it to: `mutex`.
    pub object: &'static str,
    /// Which word says who holds it, if it is a lock without an owner.
    pub lock: Option<LockWord>,
}

/// The word of a lock: whoever took it last and has not given it back holds the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWord {
    /// How many words it lies before that of the futex: 0 or 1.
    pub words_before: usize,
}

const fn lock(function: &'static str, event: &'static str, object: &'static str, words_before: usize) -> Mark {
    Mark { function, wait: Wait { event, object, lock: Some(LockWord { words_before }) } }
}

const fn mark(function: &'static str, event: &'static str, object: &'static str) -> Mark {
    Mark { function, wait: Wait { event, object, lock: None } }
}

const MARKS: &[Mark] = &[
    lock("mutex::futex::Mutex::lock", "lock", "mutex", 0),
    lock("rwlock::futex::RwLock::read", "rdlock", "rwlock", 0),
    // Writers wait at a word of their own behind the state.
    lock("rwlock::futex::RwLock::write", "wrlock", "rwlock", 1),
    mark("condvar::futex::Condvar::wait", "cond-wait", "condition variable"),
    mark("sync::poison::condvar::Condvar::wait", "cond-wait", "condition variable"),
    mark("once::futex::Once::", "once", "once flag"),
    mark("std::sync::barrier::Barrier::wait", "barrier", "barrier"),
    mark("std::thread::park", "park", ""),
    mark("std::thread::functions::park", "park", ""),
    mark("thread_parking::", "park", ""),
    mark("std::thread::scoped::scope", "end of a scope's threads", ""),
    mark("Receiver<T>::recv", "receive", "channel"),
    mark("Channel<T>::recv", "receive", "channel"),
    mark("Sender<T>::send", "send", "channel"),
    mark("Channel<T>::send", "send", "channel"),
    mark("parking_lot::raw_mutex::RawMutex::lock_slow", "lock", "mutex"),
    mark("raw_rwlock::RawRwLock::lock_shared_slow", "rdlock", "rwlock"),
    mark("raw_rwlock::RawRwLock::lock_exclusive_slow", "wrlock", "rwlock"),
    mark("raw_rwlock::RawRwLock::lock_upgradable_slow", "upgradable lock", "rwlock"),
    mark("raw_rwlock::RawRwLock::upgrade_slow", "upgrade", "rwlock"),
    mark("parking_lot::condvar::Condvar::wait", "cond-wait", "condition variable"),
    mark("std::counting_semaphore<", "acquire", "semaphore"),
    mark("std::__semaphore_impl::", "acquire", "semaphore"),
    mark("std::latch::wait", "wait", "latch"),
    mark("std::barrier<", "wait", "barrier"),
    mark("std::__tree_barrier", "wait", "barrier"),
    mark("std::__future_base::", "wait", "future"),
    mark("std::future<", "wait", "future"),
    mark("std::shared_future<", "wait", "future"),
    mark("std::atomic<", "wait", "atomic"),
    mark("std::__atomic_base<", "wait", "atomic"),
    mark("std::__atomic_wait_address", "wait", "atomic"),
];

/// Functions of Rust's test harness that its main thread is in while a test runs.
const HARNESS: &[&str] = &["test::run_tests", "test::console::run_tests_console", "test::test_main"];

/// What a thread waits for whose innermost frames are these, up to the first of the program's own.
pub fn find(library: &[Frame]) -> Option<Wait> {
    let names = library.iter().rev().filter_map(|frame| frame.function.as_deref());
    names
        .flat_map(|name| {
            // Rust writes the types of a generic function differently in different places.
            let plain = without_types(name);
            MARKS.iter().filter(move |mark| name.contains(mark.function) || plain.contains(mark.function))
        })
        .next()
        .map(|mark| mark.wait)
}

/// `<Receiver<alloc::string::String>>::recv` becomes `Receiver<T>::recv`.
fn without_types(name: &str) -> String {
    let name = names::without_brackets(name);
    let (mut out, mut depth) = (String::with_capacity(name.len()), 0);
    for character in name.chars() {
        match character {
            '<' => {
                depth += 1;
                if depth == 1 && !out.is_empty() {
                    out.push_str("<T");
                }
            }
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 && !out.is_empty() {
                    out.push('>');
                }
            }
            _ if depth == 0 => out.push(character),
            _ => {}
        }
    }
    out.replace("::<T>", "<T>")
}

/// Whether a stack is that of a test harness, which waits for a test.
pub fn is_harness(stack: &[Frame]) -> bool {
    let names = stack.iter().filter_map(|frame| frame.function.as_deref());
    names.into_iter().any(|name| HARNESS.iter().any(|function| name.starts_with(function)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &[&str]) -> Vec<Frame> {
        let frame = |name: &&str| Frame {
            address: 0,
            function: Some((*name).to_string()),
            file: None,
            line: None,
            module: "bank".into(),
        };
        names.iter().map(frame).collect()
    }

    fn found(names: &[&str]) -> Option<(&'static str, &'static str)> {
        find(&stack(names)).map(|wait| (wait.event, wait.object))
    }

    #[test]
    fn the_outermost_frame_of_the_library_tells() {
        let lock = [
            "syscall",
            "std::sys::pal::unix::futex::futex_wait",
            "std::sys::sync::mutex::futex::Mutex::lock_contended",
        ];
        assert_eq!(found(&lock), Some(("lock", "mutex")));
        let channel = [
            "std::sys::sync::thread_parking::futex::Parker::park",
            "std::thread::park",
            "std::sync::mpmc::list::Channel<T>::recv::{{closure}}",
            "std::sync::mpmc::Receiver<alloc::vec::Vec<u8>>::recv",
            "std::sync::mpsc::Receiver<alloc::vec::Vec<u8>>::recv",
        ];
        assert_eq!(found(&channel), Some(("receive", "channel")));
        assert_eq!(found(&["<std::sync::mpsc::Receiver<u32>>::recv"]), Some(("receive", "channel")));
        assert_eq!(found(&["<std::sys::sync::mutex::futex::Mutex>::lock_contended"]), Some(("lock", "mutex")));
        assert_eq!(found(&["crossbeam_channel::channel::Receiver::<u32>::recv"]), Some(("receive", "channel")));
        assert_eq!(found(&["syscall"]), None);
    }

    #[test]
    fn the_harness_is_known_by_its_functions() {
        assert!(is_harness(&stack(&["syscall", "test::run_tests", "main"])));
        assert!(!is_harness(&stack(&["bank::test::run_tests", "main"])));
    }
}
