//! The crate under a runtime. It is one that calls bodies and controls nothing; raddle's own is tested elsewhere.
//!
//! The tests in `inside` are ignored. The others start this program again to run one of them.

mod support;

use support::{notes, run, Folder, Outcome};

/// Runs a test of `inside` with the runtime.
fn inside(name: &str, variables: &[(&str, &str)]) -> Outcome {
    let folder = Folder::new();
    let program = std::env::current_exe().expect("this program");
    let name = format!("inside::{name}");
    run(&program, &["--ignored", "--exact", &name, "--test-threads=1"], Some(&folder.runtime()), variables)
}

#[track_caller]
fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in:\n{text}");
}

#[test]
fn this_program_has_the_note() {
    assert!(notes(&std::env::current_exe().expect("this program")) > 0);
}

#[test]
fn bodies_run_again_and_again() {
    let outcome = inside("passes", &[]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.stdout);
    assert_contains(
        &outcome.stderr,
        "fake: name=- runs=0 policy=- seed=0 has_seed=0 max_steps=0\nfake: 3 runs passed\n",
    );
}

#[test]
fn attributes_and_the_environment_arrive() {
    let outcome = inside("all_options", &[]);
    let told = "fake: name=controlled::inside::all_options runs=10 policy=pct:d=3 seed=0 has_seed=1 max_steps=1000\n";
    assert_contains(&outcome.stderr, told);
    assert_contains(&outcome.stderr, "fake: 10 runs passed\n");

    let variables = [("RADDLE_RUNS", "20"), ("RADDLE_POLICY", "random"), ("RADDLE_SEED", "8")];
    let outcome = inside("all_options", &variables);
    assert_contains(&outcome.stderr, " runs=20 policy=random seed=8 has_seed=1 max_steps=1000\nfake: 20 runs passed\n");

    let outcome = inside("all_options", &[("RADDLE_RUNS", "many")]);
    assert_eq!(outcome.status, Some(101));
    assert_contains(&outcome.stdout, "RADDLE_RUNS is `many`: expected a number from 1 to");
    assert!(!outcome.stderr.contains("fake:"), "{}", outcome.stderr);
}

#[test]
fn a_panic_is_a_report() {
    let outcome = inside("panics_in_the_third_run", &[("RUST_BACKTRACE", "1")]);
    assert_eq!(outcome.status, Some(101));
    let out = &outcome.stdout;
    assert_contains(out, "fake: failed in run 3 of 5\n  the test panicked at ");
    assert_contains(out, "controlled.rs:");
    assert_contains(out, ": third\n  replay it: raddle replay FILE\n");
    // The panic is printed when it happens, and its report does not look like another one.
    assert_eq!(out.matches("panicked at").count(), 2, "{out}");
    assert_eq!(out.matches("stack backtrace:").count(), 1, "{out}");
}

#[test]
fn an_error_is_a_report() {
    let outcome = inside("returns_an_error", &[]);
    assert_eq!(outcome.status, Some(101));
    assert_contains(&outcome.stdout, "fake: failed in run 1 of 3\n  the test returned an error: ParseIntError");
    assert!(!outcome.stdout.contains("panicked"), "{}", outcome.stdout);
}

#[test]
fn wrong_settings_are_a_report() {
    let outcome = inside("passes", &[("RADDLE_POLICY", "wrong")]);
    assert_eq!(outcome.status, Some(101));
    assert_contains(&outcome.stdout, "fake: unknown policy `wrong`\n");
}

#[test]
fn the_report_is_the_panics_message() {
    assert_eq!(inside("is_expected_to_panic", &[]).status, Some(0));
    assert_eq!(inside("catches_the_report", &[]).status, Some(0));
}

#[test]
fn hooks_of_the_user_are_called() {
    let outcome = inside("has_a_hook", &[]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.stdout);
}

#[test]
fn panics_of_other_threads_are_printed() {
    let outcome = inside("joins_a_panic", &[]);
    assert_eq!(outcome.status, Some(101), "it fails after the check");
    assert_eq!(outcome.stdout.matches("theirs").count(), 3, "{}", outcome.stdout);
    assert_contains(&outcome.stderr, "fake: 3 runs passed\n");
}

mod inside {
    use std::cell::Cell;
    use std::panic;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use raddle::Check;

    #[test]
    #[ignore = "needs a runtime"]
    fn passes() {
        let calls = Cell::new(0);
        raddle::check(|| calls.set(calls.get() + 1));
        assert_eq!(calls.get(), 3);
    }

    #[raddle::test(runs = 10, policy = "pct:d=3", seed = 0, max_steps = 1000)]
    #[ignore = "needs a runtime"]
    fn all_options() {}

    #[test]
    #[ignore = "needs a runtime"]
    fn panics_in_the_third_run() {
        let calls = Cell::new(0);
        Check::new().runs(5).run(|| {
            calls.set(calls.get() + 1);
            assert!(calls.get() != 3, "third");
        });
    }

    #[raddle::test]
    #[ignore = "needs a runtime"]
    fn returns_an_error() -> Result<(), std::num::ParseIntError> {
        "seven".parse::<u8>().map(drop)
    }

    #[raddle::test(runs = 2)]
    #[should_panic(expected = "inside.rs was not expected")]
    #[ignore = "needs a runtime"]
    fn is_expected_to_panic() {
        panic!("inside.rs was not expected");
    }

    #[test]
    #[ignore = "needs a runtime"]
    fn catches_the_report() {
        let payload = panic::catch_unwind(|| raddle::check(|| panic::panic_any(7))).unwrap_err();
        let report = payload.downcast_ref::<String>().expect("a string");
        assert!(report.starts_with("fake: failed in run 1 of 3\n  the test panicked at "), "{report}");
        assert!(report.ends_with(": Box<dyn Any>\n  replay it: raddle replay FILE"), "{report}");
        // The next check is another one.
        raddle::check(|| ());
    }

    #[test]
    #[ignore = "needs a runtime"]
    fn has_a_hook() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let count = |_: &panic::PanicHookInfo<'_>| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        };
        let default = panic::take_hook();
        panic::set_hook(Box::new(count));
        // Below the crate's hook, which is set by the first check, and then in its place.
        let first = panic::catch_unwind(|| raddle::check(|| panic!("first"))).unwrap_err();
        panic::set_hook(Box::new(count));
        let second = panic::catch_unwind(|| raddle::check(|| panic!("second"))).unwrap_err();
        panic::set_hook(default);
        assert_eq!(CALLS.load(Ordering::Relaxed), 2);
        let text = |payload: Box<dyn std::any::Any + Send>| *payload.downcast::<String>().expect("a string");
        assert!(text(first).contains("controlled.rs:"));
        assert!(text(second).contains("  the test panicked: second\n"));
    }

    #[test]
    #[ignore = "needs a runtime"]
    fn joins_a_panic() {
        raddle::check(|| assert!(thread::spawn(|| panic!("theirs")).join().is_err()));
        panic!("so that the output is shown");
    }
}
