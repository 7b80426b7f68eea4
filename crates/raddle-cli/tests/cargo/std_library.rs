//! Races, and what the standard library orders: seen with `--std`.

use std::path::Path;
use std::process::Command;

use super::project::{manifest, Project};
use super::support::outcome;

/// What the standard library orders would not be seen.
#[test]
fn races_are_no_failures_without_an_instrumented_standard_library() {
    let library = "#[test]\nfn joins() {\n    std::thread::spawn(|| ()).join().unwrap();\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("races", "")), ("src/lib.rs", library)]);
    let (status, text) = project.run(&["test", "--fail-on", "race"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("cargo raddle --std"), "{text}");
}

/// One race, and what the standard library orders: each hands plain memory from thread to thread.
const ORDERED: &str = r#"
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;

static mut PLAIN: u32 = 0;
fn add() {
    unsafe { PLAIN += 1 };
}
#[test]
fn races() {
    let other = thread::spawn(add);
    add();
    other.join().unwrap();
}
#[test]
fn channel() {
    let (sender, receiver) = mpsc::channel();
    let (bounded, answers) = mpsc::sync_channel(1);
    let other = thread::spawn(move || {
        for message in receiver {
            let message: Box<u32> = message;
            bounded.send(vec![*message; 3]).unwrap();
        }
    });
    for i in 0..3 {
        sender.send(Box::new(i)).unwrap();
    }
    drop(sender);
    assert_eq!(answers.iter().map(|answer| answer[2]).sum::<u32>(), 3);
    other.join().unwrap();
}
#[test]
fn park() {
    static mut SHARED: u32 = 0;
    // No order but that of unpark and park.
    static READY: AtomicBool = AtomicBool::new(false);
    let main = thread::current();
    let other = thread::spawn(move || {
        unsafe { SHARED = 7 };
        READY.store(true, Relaxed);
        main.unpark();
    });
    thread::park();
    if READY.load(Relaxed) {
        assert_eq!(unsafe { *&raw const SHARED }, 7);
    }
    other.join().unwrap();
}
#[test]
fn mutex_and_condvar() {
    let both = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let theirs = Arc::clone(&both);
    let other = thread::spawn(move || {
        theirs.0.lock().unwrap().push(1);
        theirs.1.notify_one();
    });
    let mut list = both.0.lock().unwrap();
    while list.is_empty() {
        list = both.1.wait(list).unwrap();
    }
    list.push(2);
    drop(list);
    other.join().unwrap();
    assert_eq!(*both.0.lock().unwrap(), [1, 2]);
}
"#;

/// Whether the toolchain has the sources of the standard library (`rustup component add rust-src`).
pub fn has_std_sources() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc").stdout;
    Path::new(String::from_utf8_lossy(&sysroot).trim()).join("lib/rustlib/src/rust/library/std").is_dir()
}

#[test]
fn an_instrumented_standard_library_orders_what_it_should() {
    let project = Project::new(&[("Cargo.toml", &manifest("ordered", "")), ("src/lib.rs", ORDERED)]);
    let mut command = project.command(&["test", "--std", "--fail-on", "race", "--seed", "1", "--runs", "200"]);
    // The standard library has dependencies, which cargo fetches where it has not built one before.
    let (status, text) = outcome(command.env_remove("CARGO_NET_OFFLINE"));
    if !has_std_sources() {
        assert_eq!(status, 2, "{text}");
        assert!(text.contains("--std rebuilds the standard library, but its sources are not installed"), "{text}");
        assert!(text.contains("`rustup component add rust-src` installs them"), "{text}");
        return;
    }
    assert_eq!(status, 101, "{text}");
    for part in [
        "test channel ... ok (200 runs, ",
        "test mutex_and_condvar ... ok (200 runs, ",
        "test park ... ok (200 runs, ",
        "test races ... FAILED (",
        "data race: `ordered::PLAIN`: ",
        "in ordered::add (lib.rs:",
        "test result: FAILED. 3 passed; 1 failed; 0 not concurrent; 0 ignored; 0 filtered out",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
