// pass: println! from threads: whole lines in any order, and a block of lines under one lock of stdout
// uncontrolled: uncontended locks are not schedule points

use std::io::{self, Write};
use std::thread;

fn main() {
    thread::scope(|scope| {
        for me in 0..3 {
            scope.spawn(move || {
                for line in 0..2 {
                    println!("thread {me} line {line}");
                }
                let mut out = io::stdout().lock();
                // println! inside is fine: the lock is reentrant.
                writeln!(out, "thread {me} begins").unwrap();
                thread::yield_now();
                println!("thread {me} ends");
            });
        }
    });
    eprintln!("all done");
}
