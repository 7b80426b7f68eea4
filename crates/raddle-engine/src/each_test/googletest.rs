//! GoogleTest: `--gtest_list_tests` and `--gtest_filter`
//! (<https://google.github.io/googletest/advanced.html#running-test-programs-advanced-options>).

use std::ffi::OsString;
use std::path::Path;

use super::arguments::{has, with};
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

#[cfg(test)]
mod tests {
    use super::*;

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
