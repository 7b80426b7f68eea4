//! Catch2: names in a list of their own, selected by the language of test specifications
//! (<https://github.com/catchorg/Catch2/blob/devel/docs/command-line.md#specifying-which-tests-to-run>).

use std::ffi::OsString;
use std::path::Path;

use super::arguments::{split, with, Arguments};
use super::detect::Catch2;
use super::failure::{Assertion, Location};
use super::listing::{listing, Expect};
use super::{EachTestError, TestCase};

/// The options of both versions whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-r",
    "--reporter",
    "-o",
    "--out",
    "-n",
    "--name",
    "-x",
    "--abortx",
    "-w",
    "--warn",
    "-d",
    "--durations",
    "-D",
    "--min-duration",
    "-f",
    "--input-file",
    "-c",
    "--section",
    "-v",
    "--verbosity",
    "--order",
    "--rng-seed",
    "--use-colour",
    "--colour-mode",
    "--libidentify",
    "--wait-for-keypress",
    "--benchmark-samples",
    "--benchmark-resamples",
    "--benchmark-confidence-interval",
    "--benchmark-warmup-time",
    "--shard-count",
    "--shard-index",
];

pub(super) fn list(program: &Path, arguments: &[OsString], version: Catch2) -> Result<Vec<TestCase>, EachTestError> {
    let (options, expect): (&[&str], _) = match version {
        Catch2::Two => (&["--list-test-names-only"], Expect::AnyExit),
        Catch2::Three => (&["--list-tests", "--verbosity", "quiet"], Expect::Success),
    };
    let output = listing(program, &with(arguments, options), &options.join(" "), expect)?;
    // Several selections are added up, so the user's own must not stay.
    let Arguments { options, .. } = split(arguments, WITH_VALUE);
    let case = |name: String| TestCase { arguments: with(&options, &[specification(&name)]), name };
    Ok(parse(&output).map(case).collect())
}

/// One name a line; a name that starts with `#` is quoted.
fn parse(output: &str) -> impl Iterator<Item = String> + '_ {
    let unquoted = |line: &str| match line.strip_prefix("\"#").and_then(|rest| rest.strip_suffix('"')) {
        Some(rest) => format!("#{rest}"),
        None => line.to_owned(),
    };
    output.lines().filter(|line| !line.trim().is_empty()).map(unquoted)
}

/// The specification that selects a name.
///
/// Two kinds of names cannot be written exactly, and select what they match besides themselves: an
/// asterisk at either end is always a wildcard, and so is put in place of the `e` of `exclude:`,
/// which would select everything else.
fn specification(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 8);
    for (index, character) in name.chars().enumerate() {
        let is_special = matches!(character, '\\' | ',' | '[' | '"' | '~');
        if is_special || (index == 0 && character == '-') {
            text.push('\\');
        }
        text.push(character);
    }
    match text.strip_prefix("exclude:") {
        Some(rest) => format!("*xclude:{rest}"),
        None => text,
    }
}

/// Reads the failures of assertions, of the reporters `console` and `compact`: `bank.cc:31: FAILED:`, the text below
/// it, and above it the names of the test and its sections between two rules.
pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    let is_rule = |line: &str| line.len() > 70 && line.bytes().all(|byte| byte == b'-');
    let mut test = None;
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if is_rule(line) {
            let names: Vec<_> = lines[at + 1..].iter().take_while(|line| !line.is_empty() && !is_rule(line)).collect();
            // The second rule is followed by the place of the test.
            if lines.get(at + 1 + names.len()).is_some_and(|line| is_rule(line)) {
                test = Some(names.iter().map(|name| name.trim()).collect::<Vec<_>>().join(" / "));
            }
        } else if let Some(location) = line.strip_suffix(": FAILED:").and_then(Location::parse) {
            let text = lines[at + 1..].iter().take_while(|line| !line.is_empty());
            found.push(Assertion { test: test.clone(), ..Assertion::new(Some(location), at).says(text.copied()) });
        } else if let Some((place, text)) = line.split_once(": failed: ") {
            let location = Location::parse(place);
            found.extend(location.map(|location| Assertion::new(Some(location), at).says([text])));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_test_and_their_text() {
        let rule = "-".repeat(79);
        let output = format!(
            "{rule}\nwithdraw\n  all of it\n{rule}\nct.cc:12\n{}\n\nct.cc:12: FAILED:\n  REQUIRE( total(1) == 2 )\n\
             with expansion:\n  3 == 2\nwith message:\n  withdrawing\n\n\
             {rule}\nthrows\n{rule}\nct.cc:13\n{0}\n\nct.cc:13: FAILED:\n\
             due to unexpected exception with message:\n  lost\n\n",
            ".".repeat(79)
        );
        let messages = |output: &str| -> Vec<_> {
            failures(&output.lines().collect::<Vec<_>>()).iter().map(Assertion::message).collect()
        };
        assert_eq!(
            messages(&output),
            [
                "ct.cc:12: withdraw / all of it: REQUIRE( total(1) == 2 ); with expansion: 3 == 2; with message: \
                 withdrawing",
                "ct.cc:13: throws: due to unexpected exception with message: lost"
            ]
        );
        assert_eq!(messages("ct.cc:11: failed: total(1) == 2 for: 3 == 2"), ["ct.cc:11: total(1) == 2 for: 3 == 2"]);
    }

    #[test]
    fn names_are_one_a_line() {
        let names: Vec<_> = parse("plain\n\n\"# hash\"\na \"quoted\" word\n").collect();
        assert_eq!(names, ["plain", "# hash", "a \"quoted\" word"]);
    }

    #[test]
    fn what_means_something_is_escaped() {
        assert_eq!(specification("a, [b] \"c\" \\d ~e"), r#"a\, \[b] \"c\" \\d \~e"#);
        assert_eq!(specification("-dash - dash"), r"\-dash - dash");
        assert_eq!(specification("exclude:me"), "*xclude:me");
    }
}
