//! The options and the words of `cargo test`: tests are chosen by them, and failures told in them.

use std::path::Path;

use super::project::{manifest, shop, Project};
use super::support::outcome;

#[test]
fn tests_are_chosen_as_with_cargo_test() {
    let shop = shop();
    let listed = |before: &[&str], after: &[&str]| {
        let text = shop.good(&[&["test", "-p", "ledger"], before, &["--", "--list"], after].concat());
        let names = text.lines().filter_map(|line| line.strip_suffix(": test")?.strip_prefix("tests::"));
        names.map(str::to_string).collect::<Vec<_>>()
    };
    let all = ["adds_up", "alone", "finds_what_cargo_sets", "panics", "returns", "slow"];
    assert_eq!(listed(&[], &[]), all);
    assert_eq!(listed(&["a"], &["--skip", "panic", "--skip", "cargo"]), ["adds_up", "alone"]);
    assert_eq!(listed(&["tests::a"], &["--exact"]), Vec::<String>::new());
    assert_eq!(listed(&[], &["--exact", "tests::alone", "tests::slow"]), ["alone", "slow"]);
    assert_eq!(listed(&[], &["--ignored"]), ["slow"]);
    assert_eq!(listed(&["--features", "strict", "strict"], &[]), ["strict"]);

    let explore =
        |arguments: &[&str]| shop.good(&[&["test", "-p", "ledger", "--seed", "1", "--runs", "12"], arguments].concat());
    let text = explore(&["adds", "slow", "--", "--include-ignored"]);
    assert!(text.contains("running 2 tests") && text.contains("test tests::slow ... ok (12 runs, "), "{text}");
    assert!(text.contains("2 passed; 0 failed; 0 not concurrent; 0 ignored; 4 filtered out"), "{text}");
    let text = explore(&["no-such-name"]);
    assert!(text.contains("running 0 tests") && text.contains("6 filtered out"), "{text}");
}

/// Tests that fail in the ways of Rust's test harness, and one that prints.
const HARNESS: &str = r#"
use std::sync::{Arc, Mutex};
use std::thread;
fn both() -> u32 {
    let sum = Arc::new(Mutex::new(0));
    let add = |sum: Arc<Mutex<u32>>| {
        let old = *sum.lock().unwrap();
        *sum.lock().unwrap() = old + 1;
    };
    let threads: Vec<_> = (0..2).map(|_| Arc::clone(&sum)).map(|sum| thread::spawn(move || add(sum))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let sum = *sum.lock().unwrap();
    sum
}
#[test]
fn counts() {
    println!("counting");
    assert_eq!(both(), 2, "one was lost");
}
#[test]
#[should_panic(expected = "broke")]
fn breaks() {
    if both() != 2 {
        panic!("broke");
    }
}
#[test]
fn returns() -> Result<(), String> {
    if both() == 2 { Ok(()) } else { Err("no money".into()) }
}
#[test]
fn mutexes() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (c, d) = (Arc::clone(&a), Arc::clone(&b));
    let left = move || {
        let c = c.lock().unwrap();
        *c + *d.lock().unwrap()
    };
    let left = thread::Builder::new().name("left".into()).spawn(left).unwrap();
    {
        let b = b.lock().unwrap();
        let _ = *b + *a.lock().unwrap();
    }
    left.join().unwrap();
}
#[test]
fn prints() {
    thread::spawn(|| ()).join().unwrap();
    println!("all is well");
    eprintln!("and said so");
}
"#;

#[test]
fn failures_are_told_as_the_harness_tells_them() {
    let project = Project::new(&[("Cargo.toml", &manifest("bank", "")), ("src/lib.rs", HARNESS)]);
    let run = |arguments: &[&str], backtrace: Option<&str>| {
        let mut command = project.command(&[&["test", "--seed", "1"], arguments].concat());
        command.env_remove("RUST_BACKTRACE").envs(backtrace.map(|value| ("RUST_BACKTRACE", value)));
        outcome(&mut command)
    };
    let (status, text) = run(&[], None);
    assert_eq!(status, 101, "{text}");
    for part in [
        "assertion failure: thread 'counts' panicked at src/lib.rs:18:5: assertion `left == right` failed: one was lost; \
         left: 1; right: 2",
        "         bank::counts (",
        "blocked  end of the test",
        "    counting\n",
        "assertion failure: src/lib.rs:22:4: breaks: test did not panic as expected",
        "assertion failure: returns: Error: \"no money\"",
        "deadlock: t1 waits for t2, t2 waits for t1",
        "last locked by t2 (left)",
        "last locked by t1 (mutexes)",
        "test prints ... ok (",
    ] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    for part in ["RUST_BACKTRACE", "stack backtrace:", "futex", "all is well", "exit status"] {
        assert!(!text.contains(part), "{part:?} is there: {text}");
    }
    let (_, text) = run(&["counts"], Some("1"));
    assert!(text.contains("    stack backtrace:\n") && text.contains("bank::counts\n"), "{text}");
    let (status, text) = run(&["prints", "--", "--nocapture"], None);
    assert!(status == 0 && text.contains("\nall is well\nand said so\ntest prints ... ok ("), "{text}");
    let (_, text) = run(&["prints", "--", "--show-output"], None);
    assert!(text.contains("\nsuccesses:\n\n---- prints stdout ----\nall is well\nand said so\n"), "{text}");
}

#[test]
fn tests_of_the_crate_raddle_run_as_checks() {
    let raddle = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates").join("raddle");
    let dependencies =
        format!("[dependencies]\nraddle = {{ path = {raddle:?} }}\n[profile.test]\npanic = \"unwind\"\n");
    let library = "#[raddle::test(runs = 5000)]\nfn hands_over() {\n    let (sender, receiver) = std::sync::mpsc::channel();\n    \
                   let thread = std::thread::spawn(move || sender.send(1).unwrap());\n    \
                   assert_eq!(receiver.recv(), Ok(1));\n    thread.join().unwrap();\n}\n\
                   #[raddle::test]\nfn alone() {}\n#[test]\nfn plain() {}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("checks", &dependencies)), ("src/lib.rs", library)]);
    // With seed 3, the sender unparks a receiver that does not park after all, before a run that is made twice.
    project.good(&["test", "--seed", "3"]);
    let text = project.good(&["test", "--seed", "1"]);
    assert!(text.contains("test hands_over ... ok (5,000 runs, "), "{text}");
    assert!(text.contains("test alone ... not concurrent (10 runs)"), "{text}");
    assert!(text.contains("test plain ... not concurrent (10 runs)"), "{text}");
}
