//! GoogleTest: `--gtest_list_tests` and `--gtest_filter`
//! (<https://google.github.io/googletest/advanced.html#running-test-programs-advanced-options>).

use std::ffi::OsString;
use std::path::Path;

use super::arguments::{has, with};
use super::failure::{Assertion, Location};
use super::listing::{listing, Expect};
use super::{EachTestError, TestCase};

pub(super) fn list(program: &Path, arguments: &[OsString]) -> Result<Vec<TestCase>, EachTestError> {
    const LIST: &str = "--gtest_list_tests";
    let output = listing(program, &with(arguments, &[LIST]), LIST, Expect::Success)?;
    let with_disabled = has(arguments, "--gtest_also_run_disabled_tests");
    let names = parse(&output).into_iter().filter(|name| with_disabled || !is_disabled(name));
    // Of two filters the last one counts, so the user's may stay.
    let case = |name: String| TestCase { arguments: with(arguments, &[format!("--gtest_filter={name}")]), name };
    Ok(names.map(case).collect())
}

/// Reads suites (`Suite.`) and, indented below them, their tests. Both may have a comment: `# TypeParam
/// = int`, `# GetParam() = 5`. Whatever else `main` prints is no suite.
fn parse(output: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut suite = None;
    for line in output.lines() {
        let text = line.split("  # ").next().unwrap_or(line).trim_end();
        match text.strip_prefix("  ") {
            Some(test) if is_name(test) => names.extend(suite.map(|suite| format!("{suite}.{test}"))),
            _ => suite = text.strip_suffix('.').filter(|suite| is_name(suite)),
        }
    }
    names
}

/// Names are C++ identifiers, with slashes between the parts of a parametrised one.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '/')
}

fn is_disabled(name: &str) -> bool {
    name.split(['.', '/']).any(|part| part.starts_with("DISABLED_"))
}

/// Reads the failures of assertions: `bank.cc:31: Failure`, the text below it, between the lines of the tests.
pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    let mut test = None;
    let mut found: Vec<Assertion> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("[ RUN      ] ") {
            test = Some(name.to_string());
        } else if let Some(name) = line.strip_prefix("[  FAILED  ] ") {
            // With --gtest_brief=1 this is the only line of a test.
            let name = name.split([' ', ',']).next().unwrap_or(name);
            let unnamed = found.iter_mut().filter(|assertion| assertion.test.is_none());
            unnamed.for_each(|assertion| assertion.test = Some(name.to_string()));
        } else if let Some(place) = line.strip_suffix(": Failure") {
            let ends = |line: &&&str| is_mark(line) || line.is_empty() || line.starts_with("Google Test trace:");
            let text = lines[at + 1..].iter().take_while(|line| !ends(line) && !line.ends_with(": Failure"));
            let said = Assertion::new(Location::parse(place), at).says(text.copied());
            found.push(Assertion { test: test.clone(), ..said });
        }
    }
    found.retain(|assertion| assertion.test.is_some());
    found
}

/// Whether a line is one of the framework's own: `[  FAILED  ] Bank.Deposit`.
fn is_mark(line: &str) -> bool {
    line.starts_with('[') && line.as_bytes().get(11..13) == Some(b"] ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "[ RUN      ] Bank.Deposit
bt.cc:10: Failure
Expected equality of these values:
  total(1)
    Which is: 3
  2
a deposit was lost
[  FAILED  ] Bank.Deposit (0 ms)
[ RUN      ] Bank.Fine
[       OK ] Bank.Fine (0 ms)
[ RUN      ] All/P.Odd/0
bt.cc:16: Failure
Failed
Google Test trace:
bt.cc:16: in helper
unknown file: Failure
C++ exception with description \"x\" thrown in the test body.
[  FAILED  ] All/P.Odd/0, where GetParam() = 1 (0 ms)
";

    #[test]
    fn failures_have_their_test_and_their_text() {
        let messages = |text: &str| -> Vec<_> {
            failures(&text.lines().collect::<Vec<_>>()).iter().map(Assertion::message).collect()
        };
        let expected = [
            "bt.cc:10: Bank.Deposit: Expected equality of these values: total(1); Which is: 3; 2; a deposit was lost",
            "bt.cc:16: All/P.Odd/0: Failed",
            "All/P.Odd/0: C++ exception with description \"x\" thrown in the test body.",
        ];
        assert_eq!(messages(FAILED), expected);
        let brief: String =
            FAILED.lines().filter(|line| !line.starts_with("[ RUN")).map(|l| format!("{l}\n")).collect();
        assert_eq!(messages(&brief), expected);
        assert_eq!(messages("request.cc:3: Failure\nto connect\n"), [""; 0]);
    }

    #[test]
    fn suites_parameters_and_noise() {
        let output = "Running main() from ./googletest/src/gtest_main.cc\n\
            Plain.\n  One\n  DISABLED_Two\n\
            DISABLED_Suite.\n  Three\n\
            Typed/0.  # TypeParam = std::pair<int, char>\n  Case\n\
            Inst/Param.\n  Works/0  # GetParam() = \"a  # b\"\n  Works/x_1  # GetParam() = 7\n\
            Loading something...\n  this is not a test\n";
        let names = parse(output);
        assert_eq!(
            names,
            [
                "Plain.One",
                "Plain.DISABLED_Two",
                "DISABLED_Suite.Three",
                "Typed/0.Case",
                "Inst/Param.Works/0",
                "Inst/Param.Works/x_1",
            ]
        );
        let disabled: Vec<_> = names.iter().filter(|name| is_disabled(name)).collect();
        assert_eq!(disabled, ["Plain.DISABLED_Two", "DISABLED_Suite.Three"]);
    }
}
