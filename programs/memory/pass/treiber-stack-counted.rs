// pass: a pool of buffers, kept as Treiber's stack; buffers come back all the time, and a version beside the top tells old from new
// race-free
// source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::thread;

struct Buffer {
    number: u32,
    next: AtomicU32,
    holder: UnsafeCell<u32>, // Plain: a buffer belongs to the one who took it.
}
// SAFETY: so is the holder.
unsafe impl Sync for Buffer {}

impl Buffer {
    const fn new(number: u32) -> Self {
        Buffer { number, next: AtomicU32::new(number + 1), holder: UnsafeCell::new(0) }
    }
}

static BUFFERS: [Buffer; 3] = [Buffer::new(0), Buffer::new(1), Buffer::new(2)];
static TOP: AtomicU64 = AtomicU64::new(0); // The version in the upper half, the buffer's number in the lower.

fn newer(old: u64, buffer: u32) -> u64 {
    ((old >> 32) + 1) << 32 | u64::from(buffer)
}

fn take() -> Option<&'static Buffer> {
    let mut old = TOP.load(SeqCst);
    loop {
        let buffer = BUFFERS.get(old as u32 as usize)?;
        match TOP.compare_exchange_weak(old, newer(old, buffer.next.load(SeqCst)), SeqCst, SeqCst) {
            Ok(_) => return Some(buffer),
            Err(seen) => old = seen,
        }
    }
}

fn give(buffer: &Buffer) {
    let mut old = TOP.load(SeqCst);
    loop {
        buffer.next.store(old as u32, SeqCst);
        match TOP.compare_exchange_weak(old, newer(old, buffer.number), SeqCst, SeqCst) {
            Ok(_) => return,
            Err(seen) => old = seen,
        }
    }
}

fn work(me: u32) {
    let mine = [take(), take()];
    for buffer in mine.into_iter().flatten() {
        assert_eq!(unsafe { buffer.holder.get().replace(me) }, 0);
    }
    for buffer in mine.into_iter().flatten() {
        assert_eq!(unsafe { buffer.holder.get().replace(0) }, me);
        give(buffer);
    }
}

fn main() {
    let first = thread::spawn(|| work(1));
    let second = thread::spawn(|| work(2));
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!((0..4).filter_map(|_| take()).count(), 3);
}
