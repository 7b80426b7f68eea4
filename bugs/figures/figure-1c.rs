// bug: two accounts are locked in both orders by transfers in both directions, which wait for each other
// kind: deadlock
// depth: 2
// threads: 2
// source: PCT (ASPLOS'10), figure 1(c)
// finds: pct, random
// points: atomic
// args: 2 0
// variants: 2-0 = 2 0 [threads 2]; 4-10 = 4 10 [threads 4]; 8-40 = 8 40 [threads 8]
// row: pct:Figure 1(c)
// Arguments: threads, the main one included; steps that each of them makes before.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    number: usize,
    balance: Mutex<i64>,
}

fn transfer(from: &Account, to: &Account, amount: i64) {
    // The correct program has one order for all.
    let (first, second) = if cfg!(fixed) && to.number < from.number { (to, from) } else { (from, to) };
    let mut one = first.balance.lock().unwrap();
    let mut two = second.balance.lock().unwrap();
    let (source, target) = if first.number == from.number { (&mut *one, &mut *two) } else { (&mut *two, &mut *one) };
    *source -= amount;
    *target += amount;
}

/// Steps that concern nobody else.
fn steps(count: usize) {
    let own = AtomicUsize::new(0);
    for _ in 0..count {
        own.fetch_add(1, SeqCst);
    }
    assert_eq!(own.load(SeqCst), count);
}

fn argument(index: usize, standard: usize) -> usize {
    std::env::args().nth(index).map_or(standard, |word| word.parse().expect("a number"))
}

fn main() {
    let (threads, before) = (argument(1, 2).max(2), argument(2, 0));
    let account = |number| Account { number, balance: Mutex::new(100) };
    let accounts = Arc::new([account(0), account(1)]);

    let mut others: Vec<_> = (0..threads - 2).map(|_| thread::spawn(move || steps(before))).collect();
    let theirs = accounts.clone();
    others.push(thread::spawn(move || {
        steps(before);
        transfer(&theirs[1], &theirs[0], 30);
    }));
    steps(before);
    transfer(&accounts[0], &accounts[1], 50);
    for other in others {
        other.join().unwrap();
    }
    assert_eq!(*accounts[0].balance.lock().unwrap(), 80);
    assert_eq!(*accounts[1].balance.lock().unwrap(), 120);
}
