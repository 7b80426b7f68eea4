//! doctest: tests are selected by their number, since its filters know no escapes and names may
//! repeat (<https://github.com/doctest/doctest/blob/master/doc/markdown/commandline.md>).

use std::ffi::OsString;
use std::path::Path;

use super::arguments::with;
use super::listing::{listing, Expect};
use super::{EachTestError, TestCase};

pub(super) fn list(program: &Path, arguments: &[OsString]) -> Result<Vec<TestCase>, EachTestError> {
    // The prefix works in programs that keep the short names for options of their own.
    let options = ["--dt-list-test-cases", "--dt-no-colors"];
    let output = listing(program, &with(arguments, &options), &options.join(" "), Expect::Success)?;
    let case = |(number, name): (usize, &str)| TestCase {
        name: name.to_owned(),
        // Numbers count what the user's filters let through, so the filters must stay.
        arguments: with(arguments, &[format!("--dt-first={number}"), format!("--dt-last={number}")]),
    };
    Ok((1..).zip(parse(&output)).map(case).collect())
}

/// The names stand one a line between two rules.
fn parse(output: &str) -> impl Iterator<Item = &str> {
    let is_rule = |line: &&str| line.len() > 20 && line.bytes().all(|byte| byte == b'=');
    let names = output.lines().skip_while(move |line| !is_rule(line)).skip(1);
    names.take_while(move |line| !is_rule(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_between_rules() {
        let rule = "=".repeat(79);
        let output = format!("[doctest] listing all test case names\n{rule}\na\nb, *\n{rule}\n[doctest] 2\n");
        assert_eq!(parse(&output).collect::<Vec<_>>(), ["a", "b, *"]);
        assert_eq!(parse("").count(), 0);
    }
}
