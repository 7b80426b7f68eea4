// bug: an auditor that finds no transaction committed yet adds up what is prepared, and meets one that is half made
// kind: assert
// depth: 2
// pct-depth: 2
// threads: 3
// source: stride (ASE'17), section VI: main must create many threads before any of them reaches a certain point
// finds: stride, urw; pct and random while there are few threads
// points: atomic
// args: 2 0
// variants: 2 = 2 0 [threads 3]; 20 = 20 30 [threads 21, depth 19]; 50 = 50 30 [threads 51, depth 46]; 100 = 100 30 [threads 101, depth 91]
// row: stride:twostage_2, stride:twostage_100
// Transactions enter a journal in two stages. A tenth of the threads, the last ones, are auditors. As soon as one
// transaction is committed, they go by the checkpoint. Arguments: threads; steps of a transaction before its first stage.
// Depth: an auditor must wait for a first stage, and each transaction must be kept from its second one.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

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
fn work_out(amount: i64, steps: usize) -> i64 {
    let rest = AtomicI64::new(amount + steps as i64);
    for _ in 0..steps {
        rest.fetch_sub(1, SeqCst);
    }
    rest.into_inner()
}

fn transact(journal: &Mutex<Journal>, amount: i64, steps: usize) {
    let amount = work_out(amount, steps);
    let number = journal.lock().unwrap().prepare(amount);
    journal.lock().unwrap().commit(number);
}

fn audit(journal: &Mutex<Journal>) {
    let sum = journal.lock().unwrap().sum();
    assert_eq!(sum, 0, "money got lost");
}

fn main() {
    let argument = |index: usize, standard: usize| {
        std::env::args().nth(index).map_or(standard, |word| word.parse().expect("a number"))
    };
    let (count, steps) = (argument(1, 2).max(2), argument(2, 0));
    let auditors = (count / 10).max(1);
    let journal = Arc::new(Mutex::new(Journal::default()));

    let threads: Vec<_> = (0..count)
        .map(|number| {
            let journal = journal.clone();
            let audits = number >= count - auditors;
            thread::spawn(move || if audits { audit(&journal) } else { transact(&journal, 10 + number as i64, steps) })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(journal.lock().unwrap().committed, count - auditors);
}
