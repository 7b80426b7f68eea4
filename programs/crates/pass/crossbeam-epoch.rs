// pass: crossbeam::epoch: a lock-free stack frees its nodes only when no thread can still see them
// uncontrolled: uncontended locks are not schedule points

use crossbeam::epoch::{self, Atomic, Owned};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;

struct Node {
    value: usize,
    next: Atomic<Node>,
}

#[derive(Default)]
struct Stack(Atomic<Node>);

impl Stack {
    fn push(&self, value: usize) {
        let guard = epoch::pin();
        let mut node = Owned::new(Node {
            value,
            next: Atomic::null(),
        });
        loop {
            let head = self.0.load(Relaxed, &guard);
            node.next.store(head, Relaxed);
            match self
                .0
                .compare_exchange(head, node, Release, Relaxed, &guard)
            {
                Ok(_) => return,
                Err(error) => node = error.new,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let guard = epoch::pin();
        loop {
            let head = self.0.load(Acquire, &guard);
            let node = unsafe { head.as_ref() }?;
            thread::yield_now(); // Another thread may pop this node now; the guard keeps it alive.
            let next = node.next.load(Relaxed, &guard);
            if self
                .0
                .compare_exchange(head, next, AcqRel, Relaxed, &guard)
                .is_ok()
            {
                let value = node.value;
                // Only the thread that unlinked the node gets here, so it is destroyed once.
                unsafe { guard.defer_destroy(head) };
                return Some(value);
            }
        }
    }
}

fn main() {
    let stack = Stack::default();
    (0..4).for_each(|value| stack.push(value));
    thread::scope(|scope| {
        for me in 4..7 {
            let stack = &stack;
            scope.spawn(move || {
                stack.push(me);
                // Never empty here: there are more values than pops.
                stack.pop().unwrap();
                let value = stack.pop().unwrap();
                stack.push(value);
            });
        }
    });
    let mut left: Vec<usize> = std::iter::from_fn(|| stack.pop()).collect();
    left.sort();
    left.dedup();
    // Seven were pushed, three are gone, and no value was popped twice.
    assert_eq!(left.len(), 4);
}
