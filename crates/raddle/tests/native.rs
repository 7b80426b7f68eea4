//! Without raddle a check is a call, and a test of raddle is a test.

use std::cell::Cell;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

use raddle::Check;

#[test]
fn the_body_runs_once() {
    let calls = Cell::new(0);
    raddle::check(|| calls.set(calls.get() + 1));
    assert_eq!(calls.get(), 1);
    Check::new().name("n").runs(50).policy("random").seed(1).max_steps(9).run(|| calls.set(calls.get() + 1));
    assert_eq!(calls.get(), 2);
}

#[test]
fn a_check_can_be_run_again() {
    let calls = Cell::new(0);
    let check = Check::new().runs(5);
    check.run(|| calls.set(calls.get() + 1));
    check.run(|| calls.set(calls.get() + 1));
    assert_eq!(calls.get(), 2);
}

#[test]
fn bodies_borrow_and_use_threads() {
    let total = Mutex::new(0);
    raddle::check(|| {
        thread::scope(|scope| {
            scope.spawn(|| *total.lock().unwrap() += 1);
            scope.spawn(|| *total.lock().unwrap() += 1);
        });
    });
    assert_eq!(*total.lock().unwrap(), 2);
}

#[test]
#[should_panic = "the body's own message"]
fn panics_are_the_bodys() {
    raddle::check(|| panic!("the body's own message"));
}

#[test]
fn payloads_come_out_as_they_are() {
    let payload = panic::catch_unwind(|| raddle::check(|| panic::panic_any(7_u8))).unwrap_err();
    assert_eq!(payload.downcast_ref::<u8>(), Some(&7));
}

#[test]
fn errors_are_failures() {
    raddle::check(|| "7".parse::<u8>().map(drop));
    let payload = panic::catch_unwind(|| raddle::check(|| Err::<(), _>("late"))).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "the test returned an error: \"late\"");
}

#[test]
#[should_panic = "runs of the check is `0`: expected a number from 1 to"]
fn zero_runs_are_an_error() {
    Check::new().runs(0).run(|| ());
}

/// The forms of the attribute. That they compile, and are tests, is most of what is to be seen.
mod attribute {
    use super::*;

    #[raddle::test]
    fn plain() {}

    #[raddle::test()]
    fn no_options() {}

    #[raddle::test(runs = 10_000, policy = "pct:d=3", seed = 7, max_steps = 1_000_000)]
    fn all_options() {}

    #[raddle::test]
    fn an_error_type() -> Result<(), std::num::ParseIntError> {
        assert_eq!("7".parse::<u8>()?, 7);
        Ok(())
    }

    #[raddle::test]
    fn a_boxed_error() -> Result<(), Box<dyn std::error::Error>> {
        "7".parse::<u8>()?;
        Ok(())
    }

    #[raddle::test]
    fn an_opaque_type() -> impl raddle::Outcome {}

    #[raddle::test]
    #[should_panic(expected = "the test returned an error: ParseIntError")]
    fn an_error() -> Result<(), std::num::ParseIntError> {
        "seven".parse::<u8>()?;
        Ok(())
    }

    #[raddle::test]
    #[should_panic = "as expected"]
    fn panics() {
        panic!("as expected");
    }

    #[raddle::test]
    #[should_panic = "never"]
    fn diverges() -> ! {
        panic!("never")
    }

    #[raddle::test]
    #[ignore = "it would fail"]
    fn ignored() {
        panic!("it was not ignored");
    }

    #[raddle::test]
    #[cfg(any())]
    fn not_there() {
        compile_error!("it is there");
    }

    #[raddle::test]
    fn r#try() {}

    mod renamed {
        use ::raddle as comb;

        #[raddle::test(crate = comb)]
        fn by_a_name() {}

        #[raddle::test(crate = crate::attribute::renamed::comb, runs = 3)]
        fn by_a_path() {}
    }

    static CALLS: AtomicUsize = AtomicUsize::new(0);

    #[raddle::test(runs = 3)]
    pub(super) fn runs_once() {
        assert_eq!(CALLS.fetch_add(1, Ordering::Relaxed), 0);
    }
}
