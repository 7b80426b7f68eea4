//! Options and selections among the arguments of a test program.

use std::ffi::{OsStr, OsString};

/// The user's arguments, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Options with their values.
    pub options: Vec<OsString>,
    /// The other arguments: which tests to run.
    pub selections: Vec<OsString>,
}

/// Takes arguments apart. `with_value` are the options whose value is the next argument; in Catch2
/// and libtest everything that is neither an option nor a value selects tests.
pub fn split(arguments: &[OsString], with_value: &[&str]) -> Arguments {
    let mut split = Arguments { options: Vec::new(), selections: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if !argument.as_encoded_bytes().starts_with(b"-") {
            split.selections.push(argument.clone());
            continue;
        }
        split.options.push(argument.clone());
        if with_value.iter().any(|option| argument == option) {
            split.options.extend(rest.next().cloned());
        }
    }
    split
}

/// Whether an option is among the arguments, alone or as `--option=value`.
pub fn has(arguments: &[OsString], option: &str) -> bool {
    arguments.iter().any(|argument| {
        let rest = argument.as_encoded_bytes().strip_prefix(option.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
    })
}

/// Arguments followed by others.
pub fn with<T: AsRef<OsStr>>(arguments: &[OsString], more: &[T]) -> Vec<OsString> {
    let more = more.iter().map(|argument| argument.as_ref().to_owned());
    arguments.iter().cloned().chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(arguments: &[&str]) -> Vec<OsString> {
        arguments.iter().map(OsString::from).collect()
    }

    #[test]
    fn values_are_no_selections() {
        let given = strings(&["[fast]", "-r", "xml", "--order=decl", "name", "-s"]);
        assert_eq!(
            split(&given, &["-r"]),
            Arguments {
                options: strings(&["-r", "xml", "--order=decl", "-s"]),
                selections: strings(&["[fast]", "name"]),
            }
        );
        assert_eq!(split(&strings(&["-r"]), &["-r"]).options, strings(&["-r"]));
    }

    #[test]
    fn options_with_and_without_value() {
        let given = strings(&["--test-threads=3", "--exact"]);
        assert!(has(&given, "--test-threads") && has(&given, "--exact"));
        assert!(!has(&given, "--test"));
    }
}
