//! doctest: tests are selected by their number, since its filters know no escapes and names may
//! repeat (<https://github.com/doctest/doctest/blob/master/doc/markdown/commandline.md>).

use std::ffi::OsString;
use std::path::Path;

use super::arguments::with;
use super::failure::{Assertion, Location};
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

/// Reads the failures of assertions: `bank.cc:31: ERROR: CHECK( … ) is NOT correct!`, below the name of the test.
pub(super) fn failures(lines: &[&str]) -> Vec<Assertion> {
    if !lines.iter().any(|line| line.starts_with("[doctest] ")) {
        return Vec::new();
    }
    let mut test = None;
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix("TEST CASE:  ") {
            let subcases = lines[at + 1..].iter().map_while(|line| line.strip_prefix("  "));
            test = Some(std::iter::once(name).chain(subcases.map(str::trim)).collect::<Vec<_>>().join(" / "));
        }
        let said = [": ERROR: ", ": FATAL ERROR: "].iter().find_map(|mark| line.split_once(mark));
        let Some((location, (_, text))) = said.and_then(|said| Some((Location::parse(said.0)?, said))) else {
            continue;
        };
        let more = lines[at + 1..].iter().take_while(|line| !line.is_empty());
        let said = Assertion::new(Some(location), at).says(std::iter::once(text).chain(more.copied()));
        found.push(Assertion { test: test.clone(), ..said });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_their_test_and_their_text() {
        let output = "[doctest] doctest version is \"2.4.9\"
===============================================================================
bank.cc:13:
TEST CASE:  withdraw
  all of it

bank.cc:13: FATAL ERROR: REQUIRE( total(2) == 2 ) is NOT correct!
  values: REQUIRE( 4 == 2 )
  logged: withdrawing

===============================================================================
bank.cc:14:
TEST SUITE: s
TEST CASE:  throws

bank.cc:14: ERROR: test case THREW exception: lost
";
        let found = failures(&output.lines().collect::<Vec<_>>());
        assert_eq!(
            found.iter().map(Assertion::message).collect::<Vec<_>>(),
            [
                "bank.cc:13: withdraw / all of it: REQUIRE( total(2) == 2 ) is NOT correct!; values: REQUIRE( 4 == 2 ); \
                 logged: withdrawing",
                "bank.cc:14: throws: test case THREW exception: lost"
            ]
        );
        assert_eq!(failures(&["bank.c:3: ERROR: no such account"]), []);
    }

    #[test]
    fn names_stand_between_rules() {
        let rule = "=".repeat(79);
        let output = format!("[doctest] listing all test case names\n{rule}\na\nb, *\n{rule}\n[doctest] 2\n");
        assert_eq!(parse(&output).collect::<Vec<_>>(), ["a", "b, *"]);
        assert_eq!(parse("").count(), 0);
    }
}
