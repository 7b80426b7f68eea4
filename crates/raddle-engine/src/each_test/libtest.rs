//! Rust's own test harness: `--list --format terse` and `--exact`
//! (<https://doc.rust-lang.org/rustc/tests/index.html#cli-arguments>).

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use super::arguments::{has, split, with, Arguments};
use super::failure::{Assertion, Location, Stream};
use super::listing::{listing, Expect};
use super::{EachTestError, TestCase};

/// The options whose value is the next argument.
const WITH_VALUE: &[&str] = &["--test-threads", "--skip", "--logfile", "--color", "--format", "--shuffle-seed", "-Z"];

pub(super) fn list(program: &Path, arguments: &[OsString]) -> Result<Vec<TestCase>, EachTestError> {
    let listed = names(program, arguments, &["--list", "--format", "terse"])?;
    let asks_for_ignored = has(arguments, "--ignored") || has(arguments, "--include-ignored");
    // The list has the ignored tests in it, unmarked.
    let ignored: HashSet<_> = match asks_for_ignored {
        true => HashSet::new(),
        false => names(program, arguments, &["--list", "--format", "terse", "--ignored"])?.into_iter().collect(),
    };
    let options = options(arguments);
    let case = |name: String| TestCase { arguments: with(&options, &[&name]), name };
    Ok(listed.into_iter().filter(|name| !ignored.contains(name)).map(case).collect())
}

fn names(program: &Path, arguments: &[OsString], options: &[&str]) -> Result<Vec<String>, EachTestError> {
    let output = listing(program, &with(arguments, options), &options.join(" "), Expect::Success)?;
    Ok(parse(&output))
}

/// Lines such as `bank::tests::transfer: test`; benchmarks are no tests.
fn parse(output: &str) -> Vec<String> {
    output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

/// The options for running one test by its exact name: without the user's own selections, which
/// would be added up, without the harness's own parallelism, and without its capturing of output,
/// which takes the message of a failure away from us. None may be given twice.
fn options(arguments: &[OsString]) -> Vec<OsString> {
    let Arguments { mut options, .. } = split(arguments, WITH_VALUE);
    for option in ["--exact", "--test-threads=1", "--nocapture"] {
        let name = option.split('=').next().unwrap_or(option);
        let is_given = has(&options, name) || (name == "--nocapture" && has(&options, "--no-capture"));
        if !is_given {
            options.push(option.into());
        }
    }
    options
}

/// The status of a test program with failures, and of a program whose main thread panicked.
pub(super) const FAILED: i32 = 101;

/// What a panic says.
const PANICKED: &str = " panicked at ";

/// In a panic that only passes on what another thread has met.
const CONSEQUENCES: &[&str] = &[
    "Any { .. }",
    "PoisonError",
    "SendError",
    "RecvError",
    "a scoped thread panicked",
    "panic in a function that cannot unwind",
    "panic in a destructor during cleanup",
];

/// The panic that made a program fail, or what the harness says of a test that should have panicked.
pub(super) fn failure(stdout: &[&str], stderr: &[&str]) -> Option<Assertion> {
    let failed = failed_tests(stdout);
    let captured = panics(stdout).into_iter().map(|panic| Assertion { stream: Stream::Stdout, ..panic });
    let all: Vec<_> = panics(stderr).into_iter().chain(captured).collect();
    let is_of = |panic: &Assertion, name: &str| panic.thread.as_deref() == Some(name);
    let of_test = || all.iter().position(|panic| failed.iter().any(|test| is_of(panic, test)));
    let of_main = || all.iter().rposition(|panic| is_of(panic, "main"));
    let more = failed.len().saturating_sub(1);
    let said = failed.iter().find_map(|test| {
        let place = all.iter().find(|panic| is_of(panic, test));
        unexpected(stdout, test, place)
    });
    let said = said.or_else(|| {
        let deadly = of_test().or_else(of_main);
        deadly.map(|at| all[cause(&all, at)].clone())
    });
    let said = said.or_else(|| failed.first().and_then(|test| returned(stdout, stderr, test)));
    said.or_else(|| all.last().map(|_| all[cause(&all, all.len() - 1)].clone())).map(|said| Assertion { more, ..said })
}

/// What a program prints whose harness runs one test without capturing: the lines that are not the harness's.
pub fn without_harness(stdout: &[&str]) -> Vec<String> {
    let ends = stdout.iter().rposition(|line| line.starts_with("test result: ")).unwrap_or(stdout.len());
    let list = stdout.iter().position(|line| *line == "failures:").unwrap_or(ends).min(ends);
    let mut own: Vec<String> = Vec::new();
    for line in &stdout[..list] {
        let line = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")).map_or(*line, |(_, rest)| rest);
        let is_harness = ["ok", "FAILED"].contains(&line) || is_header(line);
        let is_first = own.is_empty();
        if !is_harness && (!is_first || !line.is_empty()) {
            own.push(line.to_string());
        }
    }
    while own.last().is_some_and(String::is_empty) {
        own.pop();
    }
    own
}

/// Whether an output is that of a harness.
pub(crate) fn is_of_harness(stdout: &[&str]) -> bool {
    let begins = stdout.iter().find(|line| !line.is_empty()).is_some_and(|line| is_header(line));
    begins || stdout.iter().rev().take(5).any(|line| line.starts_with("test result: "))
}

/// `running 3 tests`.
fn is_header(line: &str) -> bool {
    let count = line.strip_prefix("running ").and_then(|rest| rest.split_once(" test"));
    count.is_some_and(|(count, _)| count.parse::<u64>().is_ok())
}

/// The tests in the harness's last list of failures.
fn failed_tests<'a>(stdout: &[&'a str]) -> Vec<&'a str> {
    let Some(list) = stdout.iter().rposition(|line| *line == "failures:") else { return Vec::new() };
    stdout[list + 1..].iter().map_while(|line| line.strip_prefix("    ")).collect()
}

/// The panic that another one only passes on.
fn cause(all: &[Assertion], at: usize) -> usize {
    let passes_on = |panic: &Assertion| CONSEQUENCES.iter().any(|text| panic.message().contains(text));
    match passes_on(&all[at]) {
        true => all[..at].iter().rposition(|panic| !passes_on(panic)).unwrap_or(at),
        false => at,
    }
}

/// The panics in an output.
pub fn panics(lines: &[&str]) -> Vec<Assertion> {
    lines.iter().enumerate().filter_map(|(at, line)| panic(lines, line, at)).collect()
}

/// `thread 'main' (4711) panicked at src/main.rs:3:5:`, and the text below it.
fn panic(lines: &[&str], line: &str, at: usize) -> Option<Assertion> {
    let (who, place) = line.strip_prefix("thread '")?.split_once(PANICKED)?;
    let thread = Some(who.rsplit_once('\'').map_or(who, |(name, _)| name).to_string());
    // Before Rust 1.73: `'text', src/main.rs:3:5`.
    if let Some((text, place)) = place.strip_prefix('\'').and_then(|rest| rest.rsplit_once("', ")) {
        return Some(Assertion {
            thread,
            stream: Stream::Stderr,
            ..Assertion::new(Location::parse(place), at).says([text])
        });
    }
    let location = Location::parse(place.trim_end_matches(':'));
    let ends = |line: &str| {
        line.is_empty() || line.starts_with("note: ") || line == "stack backtrace:" || line.contains(PANICKED)
    };
    let text = lines[at + 1..].iter().copied().take_while(|line| !ends(line));
    Some(Assertion { thread, stream: Stream::Stderr, ..Assertion::new(location, at).says(text) })
}

/// What the harness printed for a test, and where that begins.
fn section<'a, 'b>(stdout: &'a [&'b str], test: &str) -> Option<(usize, &'a [&'b str])> {
    let header = format!("---- {test} stdout ----");
    let begin = stdout.iter().position(|line| *line == header)? + 1;
    let ends = |line: &&str| line.starts_with("---- ") || *line == "failures:";
    let length = stdout[begin..].iter().position(ends).unwrap_or(stdout.len() - begin);
    Some((begin, &stdout[begin..begin + length]))
}

/// A test with `should_panic` did not panic, or with another text than was expected.
fn unexpected(stdout: &[&str], test: &str, panic: Option<&Assertion>) -> Option<Assertion> {
    let (begin, lines) = section(stdout, test)?;
    let notes = ["note: test did not panic as expected", "note: panic did not contain expected string"];
    let at = lines.iter().position(|line| notes.iter().any(|note| line.starts_with(note)))?;
    let own = lines[at].rsplit_once(" at ").and_then(|(_, place)| Location::parse(place));
    // The place is told apart from the text.
    let place = if own.is_some() { lines[at].rfind(" at ").unwrap_or(0) } else { lines[at].len() };
    let more = lines[at + 1..].iter().copied().take_while(|line| !line.is_empty());
    let text = std::iter::once(lines[at][..place].trim_start_matches("note: ")).chain(more);
    let said = match panic {
        Some(Assertion { file, line, column, .. }) if own.is_none() => {
            Assertion { file: file.clone(), line: *line, column: *column, ..Assertion::new(None, begin + at) }
        }
        _ => Assertion::new(own, begin + at),
    };
    Some(Assertion { test: Some(test.to_string()), ..said.says(text) })
}

/// A test returned an error.
fn returned(stdout: &[&str], stderr: &[&str], test: &str) -> Option<Assertion> {
    let is_error = |line: &&str| line.starts_with("Error: ");
    let captured = section(stdout, test).and_then(|(begin, lines)| {
        let at = lines.iter().position(is_error)?;
        Some(Assertion::new(None, begin + at).says([lines[at]]))
    });
    let printed = || {
        let at = stderr.iter().position(is_error)?;
        Some(Assertion { stream: Stream::Stderr, ..Assertion::new(None, at).says([stderr[at]]) })
    };
    captured.or_else(printed).map(|said| Assertion { test: Some(test.to_string()), ..said })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(stdout: &str, stderr: &str) -> String {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        let (stdout, stderr) = (stdout.to_string().leak(), stderr.to_string().leak());
        failure(&lines(stdout), &lines(stderr)).map(|said| said.message()).unwrap_or_default()
    }

    const PANICS: &str = "
thread 'tests::should' (7) panicked at src/lib.rs:28:27:
as it should
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

thread 'teller' (3495) panicked at src/lib.rs:23:73:
teller saw 1

thread 'tests::in_a_thread' (3494) panicked at src/lib.rs:23:124:
called `Result::unwrap()` on an `Err` value: Any { .. }
";

    fn failures(tests: &[&str]) -> String {
        tests.iter().fold("\nfailures:\n".to_string(), |text, test| format!("{text}    {test}\n"))
    }

    #[test]
    fn the_panic_of_the_test_that_failed_or_of_the_thread_that_it_waited_for() {
        let teller = "thread 'teller' panicked at src/lib.rs:23:73: teller saw 1";
        assert_eq!(message(&failures(&["tests::in_a_thread"]), PANICS), teller);
        assert_eq!(message(&format!("{PANICS}{}", failures(&["tests::in_a_thread"])), ""), teller);
        assert_eq!(
            message(&failures(&["tests::should", "b"]), PANICS),
            "thread 'tests::should' panicked at src/lib.rs:28:27: as it should (and one more)"
        );
    }

    #[test]
    fn a_plain_program_ends_with_its_main_thread() {
        let text = "thread 'a' panicked at a.rs:1:1:\ncaught\nthread 'main' panicked at m.rs:9:5:\n\
                    assertion `left == right` failed\n  left: 1\n right: 2\nnote: run with\n";
        let expected = "thread 'main' panicked at m.rs:9:5: assertion `left == right` failed; left: 1; right: 2";
        assert_eq!(message("", text), expected);
        assert_eq!(
            message("", "thread 'main' panicked at 'boom', a.rs:3:5\n"),
            "thread 'main' panicked at a.rs:3:5: boom"
        );
        assert_eq!(message("", "no panic"), "");
    }

    #[test]
    fn a_test_that_should_have_panicked() {
        let list = failures(&["a::b"]);
        let section = format!("---- a::b stdout ----\nnote: test did not panic as expected at src/lib.rs:4:8\n{list}");
        assert_eq!(message(&section, PANICS), "src/lib.rs:4:8: a::b: test did not panic as expected");
        let section = format!(
            "---- a::b stdout ----\nnote: panic did not contain expected string\n      panic message: \"x\"\n{list}"
        );
        let panic = "thread 'a::b' panicked at src/lib.rs:9:1:\nx\n";
        assert_eq!(
            message(&section, panic),
            "src/lib.rs:9:1: a::b: panic did not contain expected string; panic message: \"x\""
        );
    }

    #[test]
    fn the_lines_of_the_harness_are_not_the_tests() {
        let text =
            "\nrunning 1 test\ntest tests::a ... adding\nand more\nFAILED\n\nfailures:\n\nfailures:\n    tests::a\n\n\
                    test result: FAILED. 0 passed; 1 failed\n\n";
        assert_eq!(without_harness(&text.lines().collect::<Vec<_>>()), ["adding", "and more"]);
        let text = "\nrunning 1 test\ntest tests::a ... ok\n\ntest result: ok. 1 passed\n";
        assert_eq!(without_harness(&text.lines().collect::<Vec<_>>()), [""; 0]);
    }

    #[test]
    fn a_test_that_returned_an_error() {
        let list = failures(&["a"]);
        let expected = "a: Error: \"no money\"";
        assert_eq!(message(&list, "Error: \"no money\"\n"), expected);
        assert_eq!(message(&format!("---- a stdout ----\nError: \"no money\"\n{list}"), PANICS), expected);
    }

    #[test]
    fn tests_but_no_benchmarks() {
        assert_eq!(parse("a::one: test\nbench_it: benchmark\ntwo: test\n"), ["a::one", "two"]);
    }

    #[test]
    fn no_option_is_given_twice() {
        let given = |arguments: &[&str]| options(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(given(&[]), ["--exact", "--test-threads=1", "--nocapture"]);
        assert_eq!(
            given(&["bank", "--test-threads", "2", "--no-capture", "--skip", "slow"]),
            ["--test-threads", "2", "--no-capture", "--skip", "slow", "--exact"]
        );
    }
}
