//! Python: the traceback that an uncaught exception, unittest or pytest prints
//! (<https://docs.python.org/3/library/traceback.html>).

use super::failure::{Assertion, Location};

/// What a traceback begins with.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Exceptions of other threads are printed, too, and do not end the program.
const IN_THREAD: &str = "Exception in thread ";

pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    let found = (0..lines.len()).filter(|at| lines[*at] == TRACEBACK);
    let tracebacks: Vec<_> = found.filter_map(|at| traceback(lines, at)).collect();
    if !tracebacks.is_empty() {
        return tracebacks;
    }
    lines.iter().enumerate().filter_map(|(at, line)| of_pytest(lines, line, at)).collect()
}

fn traceback(lines: &[&str], start: usize) -> Option<Assertion> {
    if start.checked_sub(1).is_some_and(|before| lines[before].starts_with(IN_THREAD)) {
        return None;
    }
    let body = &lines[start + 1..];
    let end = body.iter().position(|line| !line.starts_with(' '))?;
    let mut frames = body[..end].iter().rev().filter_map(|line| frame(line));
    // The frames of the framework are inside those of the test.
    let location = frames.find(|at| !at.file.contains("/unittest/"));
    let text = body[end..].iter().take_while(|line| !line.is_empty());
    let header = lines[..start].iter().rev().take(3).find_map(|line| of_unittest(line));
    Some(Assertion { test: header, ..Assertion::new(location, start).says(text.copied()) })
}

/// `  File "bank.py", line 4, in test_a`.
fn frame(line: &str) -> Option<Location> {
    let (file, rest) = line.strip_prefix("  File \"")?.split_once("\", line ")?;
    let digits = rest.split(',').next()?;
    Some(Location { file: file.to_string(), line: Some(digits.parse().ok()?), column: None })
}

/// `FAIL: test_a (bank.Tests.test_a)`.
fn of_unittest(line: &str) -> Option<String> {
    let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
    rest.split(' ').next().map(str::to_string)
}

/// `bank.py:4: AssertionError`, behind lines that begin with `E`.
fn of_pytest(lines: &[&str], line: &str, at: usize) -> Option<Assertion> {
    let (place, _) = line.split_once(": ").filter(|(_, error)| !error.contains(' '))?;
    let location = Location::parse(place).filter(|location| location.file.ends_with(".py"))?;
    let before = lines[..at].iter().rev().skip_while(|line| line.is_empty());
    let mut said: Vec<_> = before.map_while(|line| line.strip_prefix("E ")).collect();
    said.reverse();
    let names = lines[..at].iter().rev().find(|line| line.starts_with("___"));
    let test = names.map(|line| line.trim_matches(['_', ' ']).to_string());
    (!said.is_empty()).then(|| Assertion { test, ..Assertion::new(Some(location), at).says(said) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        failures(&text.lines().collect::<Vec<_>>()).iter().map(Assertion::message).collect()
    }

    #[test]
    fn of_unittest() {
        let text = "=====\nFAIL: test_a (bank.Tests.test_a)\n-----\nTraceback (most recent call last):\n  \
                    File \"/x/bank.py\", line 4, in test_a\n    self.assertEqual(1, 2)\n  \
                    File \"/usr/lib/python3/unittest/case.py\", line 9, in fail\n    raise\n\
                    AssertionError: 1 != 2 : why\n\nRan 2 tests\n";
        assert_eq!(messages(text), ["/x/bank.py:4: test_a: AssertionError: 1 != 2 : why"]);
    }

    #[test]
    fn of_a_plain_program_but_not_of_its_threads() {
        let text = "Exception in thread Thread-1:\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n\
                    KeyError\nTraceback (most recent call last):\n  File \"a.py\", line 7, in <module>\n\
                    AssertionError: boom\n";
        assert_eq!(messages(text), ["a.py:7: AssertionError: boom"]);
    }

    #[test]
    fn of_pytest() {
        let text = "____ test_a ____\n\n    def test_a():\n>       assert total() == 2\n\
                    E       assert 1 == 2\nE        +  where 1 = total()\n\ntest_bank.py:4: AssertionError\n";
        assert_eq!(messages(text), ["test_bank.py:4: test_a: assert 1 == 2; +  where 1 = total()"]);
    }
}
