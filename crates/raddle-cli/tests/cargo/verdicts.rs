//! The verdict on each test, and what it is worth.

use super::project::{manifest, shop, Project};

#[test]
fn tests_are_explored_one_by_one() {
    let explore = |jobs| {
        let text = shop().good(&["test", "-p", "ledger", "--seed", "1", "--runs", "25", "--jobs", jobs]);
        let lines: Vec<_> =
            text.lines().filter(|line| line.starts_with("test ") && !line.contains("result:")).collect();
        (lines.join("\n"), text)
    };
    let (lines, text) = explore("1");
    for line in [
        "test tests::alone ... not concurrent (10 runs)",
        "test tests::finds_what_cargo_sets ... not concurrent (10 runs)",
        "test tests::slow ... ignored",
        "running 6 tests",
        "note: doctests of ledger are not explored; `cargo test --doc` runs them",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    for concurrent in ["adds_up", "panics", "returns"] {
        assert!(lines.contains(&format!("test tests::{concurrent} ... ok (25 runs, ")), "{lines}");
    }
    let result = "test result: ok. 3 passed; 0 failed; 2 not concurrent; 1 ignored; 0 filtered out; finished in ";
    assert!(text.contains(result), "{text}");
    assert_eq!(explore("3").0, lines);
}

#[test]
fn a_pass_needs_something_under_control() {
    let (status, text) = shop().run(&["test", "-p", "ledger", "alone", "--runs", "5"]);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test tests::alone ... not concurrent (5 runs)"), "{text}");
    assert!(text.contains("nothing was under control"), "{text}");
}

#[test]
fn a_test_that_was_always_cut_has_not_passed() {
    let shop = shop();
    let junit = shop.path().join("cut.xml");
    let files = ["--junit", junit.to_str().expect("text")];
    let arguments = ["test", "-p", "ledger", "tests::a", "--runs", "12", "--seed", "1", "--max-steps", "3"];
    let (status, text) = shop.run(&[&arguments[..], &files].concat());
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test result: cut. "), "{text}");
    assert!(text.contains("test tests::adds_up ... cut (12 runs, all cut at the step limit)"), "{text}");
    assert!(
        text.contains("0 passed; 0 failed; 1 not concurrent; 0 ignored; 4 filtered out; 1 cut; finished"),
        "{text}"
    );
    assert!(text.contains("note: 1 test never finished"), "{text}");
    let xml = std::fs::read_to_string(junit).expect("a file");
    assert!(xml.contains("<skipped message=\"cut: every run was cut"), "{xml}");
}

const LATE: &str = r#"
#[cfg(test)]
mod tests {
    #[test]
    fn quick() {
        std::thread::spawn(|| 1).join().unwrap();
    }
    #[test]
    fn slow() {
        std::thread::spawn(|| loop { std::hint::black_box(0); }).join().unwrap();
    }
}
"#;

#[test]
fn a_test_without_a_run_has_not_passed() {
    let late = Project::new(&[("Cargo.toml", &manifest("late", "")), ("src/lib.rs", LATE)]);
    let options = ["test", "--runs", "1000000", "--time", "0.5", "--run-timeout", "60"];
    let (status, text) = late.run(&[&options[..], &["--junit", "it.xml", "--json", "it.json"]].concat());
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test tests::slow ... not explored (0 runs: time ran out before"), "{text}");
    assert!(text.contains("test result: not explored. 1 passed; 0 failed;"), "{text}");
    let read = |name: &str| std::fs::read_to_string(late.path().join(name)).expect("a file");
    assert!(read("it.xml").contains("<skipped message=\"not explored: "), "{}", read("it.xml"));
    assert!(read("it.json").contains("\"verdict\": \"not_explored\""), "{}", read("it.json"));
}

/// Two threads that each read a counter and write it, in atomics alone.
#[test]
fn a_race_between_atomics_is_found() {
    let library = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\n\
                   #[test]\nfn counts() {\n    static N: AtomicU32 = AtomicU32::new(0);\n    \
                   let add = || N.store(N.load(SeqCst) + 1, SeqCst);\n    \
                   let thread = std::thread::spawn(add);\n    add();\n    thread.join().unwrap();\n    \
                   assert_eq!(N.load(SeqCst), 2);\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("race", "")), ("src/lib.rs", library)]);
    let (status, text) = project.run(&["test", "--seed", "1", "--runs", "200"]);
    assert_eq!(status, 101, "{text}");
    assert!(text.contains("test counts ... FAILED") && text.contains("replay it: raddle replay"), "{text}");
}

/// The locks of an instrumented crate are points; what the compiled standard library does alone is not.
#[test]
fn what_is_hidden_is_said_and_nothing_else() {
    let library = "use std::sync::{Mutex, RwLock};\nuse std::thread;\n\
                   static LOCK: Mutex<u32> = Mutex::new(0);\nstatic MANY: RwLock<u32> = RwLock::new(0);\n\
                   fn add() { for _ in 0..3 { *LOCK.lock().unwrap() += 1; *MANY.write().unwrap() += 1; } }\n\
                   #[test]\nfn locks() {\n    let threads = [thread::spawn(add), thread::spawn(add)];\n    \
                   add();\n    assert!(*MANY.read().unwrap() > 0);\n    \
                   threads.into_iter().for_each(|thread| thread.join().unwrap());\n}\n\
                   #[test]\nfn parks() {\n    let main = thread::current();\n    \
                   let other = thread::spawn(move || main.unpark());\n    thread::park();\n    \
                   other.join().unwrap();\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("hidden", "")), ("src/lib.rs", library)]);
    let uncontrolled = |more: &[&str]| {
        let json = project.path().join("results.json");
        let common = ["test", "--seed", "1", "--runs", "200", "--json", json.to_str().expect("text")];
        project.good(&[&common[..], more].concat());
        let value: serde_json::Value = serde_json::from_slice(&std::fs::read(json).expect("a file")).expect("JSON");
        ["locks", "parks"].map(|name| {
            let tests = value["tests"].as_array().expect("a list");
            let test = tests.iter().find(|test| test["test"] == name).expect("the test");
            assert!(test["distinct_schedules"].as_u64() > Some(1), "{test}");
            test["uncontrolled"].to_string()
        })
    };
    let [locks, parks] = uncontrolled(&[]);
    assert_eq!(locks, "[]");
    assert!(parks.contains("atomics inside the precompiled standard library are not schedule points"), "{parks}");
    // Without points at atomics, they are hidden as in any program.
    let [locks, _] = uncontrolled(&["--points", "sync"]);
    assert_eq!(locks, "[\"uncontended locks are not schedule points\"]");
}
