// pass: crossbeam::epoch: a lock-free stack frees its nodes only when no thread can still see them
// uncontrolled: uncontended locks are not schedule points

use crossbeam::epoch::{self, Atomic, Owned};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;

struct Node {
    value: ManuallyDrop<String>,
    next: Atomic<Node>,
}

#[derive(Default)]
struct Stack(Atomic<Node>);

impl Stack {
    fn push(&self, value: String) {
        let guard = epoch::pin();
        let mut node = Owned::new(Node { value: ManuallyDrop::new(value), next: Atomic::null() });
        loop {
            let head = self.0.load(Relaxed, &guard);
            node.next.store(head, Relaxed);
            match self.0.compare_exchange(head, node, Release, Relaxed, &guard) {
                Ok(_) => return,
                Err(error) => node = error.new,
            }
        }
    }

    fn pop(&self) -> Option<String> {
        let guard = epoch::pin();
        loop {
            let head = self.0.load(Acquire, &guard);
            let node = unsafe { head.as_ref() }?;
            let next = node.next.load(Relaxed, &guard);
            thread::yield_now(); // Another thread may pop this node now; the guard keeps it alive.
            if self.0.compare_exchange(head, next, AcqRel, Relaxed, &guard).is_ok() {
                unsafe {
                    guard.defer_destroy(head);
                    return Some(ManuallyDrop::into_inner(ptr::read(&node.value)));
                }
            }
        }
    }
}

fn main() {
    let stack = Stack::default();
    (0..4).for_each(|i| stack.push(format!("first {i}")));
    let mut popped: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|me| {
                let stack = &stack;
                scope.spawn(move || {
                    stack.push(format!("thread {me}"));
                    (0..2).map(|_| stack.pop().unwrap()).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    });
    popped.extend(stack.pop());
    popped.sort();
    popped.dedup();
    // Four and three were pushed, each came out once.
    assert_eq!(popped.len(), 7);
    assert!(stack.pop().is_none());
}
