// bug: an auditor that finds no transaction committed yet adds up what is prepared, and meets one that is half made
// kind: assert
// depth: 2
// threads: 3
// source: stride (ASE'17), section VI: main must create many threads before any of them reaches a certain point
// finds: stride, urw; pct and random while there are few threads
// points: atomic
// args: 2
// variants: 2 = 2 [threads 3]; 20 = 20 [threads 21]; 50 = 50 [threads 51]; 100 = 100 [threads 101]
// row: stride:twostage_2, stride:twostage_100
// Transactions enter a journal in two stages. A tenth of the threads, the last ones, are auditors. As soon as one
// transaction is committed, they go by the checkpoint. Argument: threads.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

const STEPS: i64 = 30;

#[derive(Default)]
struct Journal {
    /// What each transaction moves from one account to another: both are there after the second stage.
    prepared: Vec<(i64, Option<i64>)>,
    committed: usize,
    /// The sum at the last commit.
    checkpoint: i64,
}

impl Journal {
    fn prepare(&mut self, amount: i64) -> usize {
        self.prepared.push((amount, None));
        self.prepared.len() - 1
    }

    fn commit(&mut self, number: usize) {
        let entry = &mut self.prepared[number];
        entry.1 = Some(-entry.0);
        self.committed += 1;
        self.checkpoint = 0;
    }

    /// Must be zero: nothing gets lost between accounts.
    fn sum(&self) -> i64 {
        if self.committed > 0 {
            return self.checkpoint;
        }
        // Only the correct program leaves out what is half made.
        let counted = self.prepared.iter().filter(|entry| !cfg!(fixed) || entry.1.is_some());
        counted.map(|entry| entry.0 + entry.1.unwrap_or(0)).sum()
    }
}

/// What a transaction does before the journal hears of it: steps that concern nobody else.
fn work_out(amount: i64) -> i64 {
    let total = AtomicI64::new(0);
    for _ in 0..STEPS {
        total.fetch_add(amount, SeqCst);
    }
    total.into_inner() / STEPS
}

fn transact(journal: &Mutex<Journal>, amount: i64) {
    let amount = work_out(amount);
    let number = journal.lock().unwrap().prepare(amount);
    journal.lock().unwrap().commit(number);
}

fn audit(journal: &Mutex<Journal>) {
    let sum = journal.lock().unwrap().sum();
    assert_eq!(sum, 0, "money got lost");
}

fn main() {
    let count: usize = std::env::args().nth(1).map_or(2, |word| word.parse().expect("a number"));
    let auditors = (count / 10).max(1);
    let journal = Arc::new(Mutex::new(Journal::default()));

    let threads: Vec<_> = (0..count)
        .map(|number| {
            let journal = journal.clone();
            let audits = number >= count - auditors;
            thread::spawn(move || if audits { audit(&journal) } else { transact(&journal, 10 + number as i64) })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(journal.lock().unwrap().committed, count - auditors);
}
