// bug: the owner reads top before it lowers bottom; when thieves have taken all jobs in between, it takes one of them again
// kind: assert
// depth: 2
// threads: 4
// source: NeedlePoint (PLDI'12), table 1: WSQ-2; PCT (ASPLOS'10), table 2 and section 5.3
// finds: pct; random hardly, because the thieves are done before the owner pops
// points: atomic
// args: 3 104
// variants: 3 = 3 104 [threads 4]; 1 = 1 144 [threads 2]; 2-4 = 2 4 [threads 3]; 2-16 = 2 16 [threads 3]; 2-64 = 2 64 [threads 3]
// row: needlepoint:WSQ-2
// Chase and Lev's deque. The owner pushes and pops; each thief makes two attempts. Arguments: thieves, jobs.

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;

const SIZE: isize = 8;
const ATTEMPTS: usize = 2;

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    ring: [AtomicUsize; SIZE as usize],
}

impl Deque {
    fn new() -> Deque {
        Deque { top: AtomicIsize::new(0), bottom: AtomicIsize::new(0), ring: [const { AtomicUsize::new(0) }; SIZE as usize] }
    }

    fn place(&self, index: isize) -> &AtomicUsize {
        &self.ring[(index % SIZE) as usize]
    }

    /// False when it is full.
    fn push(&self, job: usize) -> bool {
        let bottom = self.bottom.load(SeqCst);
        if bottom - self.top.load(SeqCst) >= SIZE {
            return false;
        }
        self.place(bottom).store(job, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
        true
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst) - 1;
        let early = self.top.load(SeqCst);
        self.bottom.store(bottom, SeqCst);
        let top = if cfg!(fixed) { self.top.load(SeqCst) } else { early };
        if top > bottom {
            self.bottom.store(bottom + 1, SeqCst);
            return None;
        }
        let job = self.place(bottom).load(SeqCst);
        if top < bottom {
            return Some(job);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        self.bottom.store(bottom + 1, SeqCst);
        won.then_some(job)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        if top >= self.bottom.load(SeqCst) {
            return None;
        }
        let job = self.place(top).load(SeqCst);
        self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok().then_some(job)
    }
}

struct Jobs {
    deque: Deque,
    done: Vec<AtomicUsize>,
}

impl Jobs {
    fn run(&self, job: usize) {
        assert_eq!(self.done[job].fetch_add(1, SeqCst), 0, "job {job} is done a second time");
    }
}

fn argument(index: usize, standard: usize) -> usize {
    std::env::args().nth(index).map_or(standard, |word| word.parse().expect("a number"))
}

fn main() {
    let (thieves, count) = (argument(1, 3), argument(2, 104));
    let jobs = Arc::new(Jobs { deque: Deque::new(), done: (0..count).map(|_| AtomicUsize::new(0)).collect() });

    let threads: Vec<_> = (0..thieves)
        .map(|_| {
            let jobs = jobs.clone();
            thread::spawn(move || (0..ATTEMPTS).filter_map(|_| jobs.deque.steal()).for_each(|job| jobs.run(job)))
        })
        .collect();
    let mut next = 0;
    while next < count {
        while next < count && jobs.deque.push(next) {
            next += 1;
        }
        while let Some(job) = jobs.deque.pop() {
            jobs.run(job);
        }
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(jobs.done.iter().all(|done| done.load(SeqCst) == 1), "a job was not done");
}
