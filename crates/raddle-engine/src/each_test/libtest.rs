//! Rust's own test harness: `--list --format terse` and `--exact`
//! (<https://doc.rust-lang.org/rustc/tests/index.html#cli-arguments>).

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use super::arguments::{has, split, with, Arguments};
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

#[cfg(test)]
mod tests {
    use super::*;

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
