//! Boost.Test: `file(line): error: in "suite/case": text`
//! (<https://www.boost.org/doc/libs/release/libs/test/doc/html/boost_test/test_output.html>).

use super::failure::{Assertion, Location};

/// What follows the place of a failure.
const MARKS: &[&str] = &["): error: in \"", "): fatal error: in \""];

pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    lines.iter().enumerate().filter_map(|(at, line)| failure(line, at)).collect()
}

fn failure(line: &str, at: usize) -> Option<Assertion> {
    let (place, rest) = MARKS.iter().find_map(|mark| line.split_once(mark))?;
    let (test, text) = rest.split_once("\": ")?;
    // An exception has an unknown location of line 0.
    let location = Location::parse(&format!("{place})")).filter(|location| location.line != Some(0));
    Some(Assertion { test: Some(test.to_string()), ..Assertion::new(location, at).says([text]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_and_exceptions() {
        let found = failures(&[
            "Running 2 test cases...",
            "bank.cc(4): error: in \"s/deposit\": check a == 2 has failed [1 != 2]",
            "unknown location(0): fatal error: in \"s/thr\": std::runtime_error: x",
            "bank.cc(5): last checkpoint: \"thr\" test entry",
        ]);
        let messages: Vec<_> = found.iter().map(Assertion::message).collect();
        assert_eq!(
            messages,
            ["bank.cc:4: s/deposit: check a == 2 has failed [1 != 2]", "s/thr: std::runtime_error: x"]
        );
    }
}
