// fail: threads of a Rust program wait for a mutex, a channel and to be unparked, not for a futex
// expect: deadlock
// says: lock on mutex | receive on a channel | park | rust_waits::hoards ( | rust_waits::receives (
// never: futex-wait
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

fn hoards(account: &Mutex<u32>) {
    let _kept = account.lock().unwrap();
    thread::yield_now();
    thread::park();
}

fn receives(receiver: &Receiver<u32>) {
    receiver.recv().unwrap();
}

fn main() {
    let account = Arc::new(Mutex::new(1));
    let (sender, receiver) = channel();
    let mine = Arc::clone(&account);
    let hoarder = thread::spawn(move || hoards(&mine));
    let other = thread::spawn(move || receives(&receiver));
    thread::yield_now();
    let sum = *account.lock().unwrap();
    hoarder.thread().unpark();
    sender.send(sum).unwrap();
    hoarder.join().unwrap();
    other.join().unwrap();
}
