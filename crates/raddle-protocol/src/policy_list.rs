//! How a runtime tells the command line which policies it has.
//!
//! Lines of fields that are separated by tabs:
//!
//! ```text
//! raddle policies  2
//! policy     NAME  KIND     LEARNS  SUMMARY  SOURCE
//! parameter  NAME  DEFAULT  MIN  MAX  WHOLE  CHOICES  HELP
//! end
//! ```
//!
//! A parameter belongs to the policy above it; its choices are separated by `|`. Of two policies with one name
//! the first counts.

use core::fmt::{self, Write};

use raddle_core::policy::{Descriptor, MAX_PARAMETERS};

/// The variable that asks a runtime for its policies.
pub const VARIABLE: &str = "RADDLE_POLICIES";

/// The first line.
pub const HEADER: &str = "raddle policies\t2";

/// The last line.
pub const END: &str = "end";

/// The longest name of a policy or a parameter, in bytes: what fits into the shared block.
pub const LONGEST_NAME: usize = 31;

/// Whether a policy or a parameter can have this name: it must be a word on the command line and in
/// the schedule file.
pub const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || matches!(bytes[i], b'-' | b'_' | b'.')) {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty() && bytes.len() <= LONGEST_NAME
}

/// Stops the build of a crate whose policy could not be used.
pub const fn assert_valid(policy: &Descriptor) {
    assert!(is_name(policy.name), "a policy's name is 1 to 31 letters, digits, `-`, `_` and `.`");
    assert!(policy.parameters.len() <= MAX_PARAMETERS, "a policy has at most 16 parameters");
    let mut i = 0;
    while i < policy.parameters.len() {
        let parameter = &policy.parameters[i];
        assert!(is_name(parameter.name), "a parameter's name is 1 to 31 letters, digits, `-`, `_` and `.`");
        assert!(
            parameter.min <= parameter.default && parameter.default <= parameter.max,
            "a parameter's default is from its min to its max"
        );
        let mut choice = 0;
        while choice < parameter.choices.len() {
            assert!(is_name(parameter.choices[choice]), "a choice's name is like a parameter's");
            choice += 1;
        }
        i += 1;
    }
}

/// Writes the list.
pub fn write<'a>(out: &mut dyn Write, policies: impl Iterator<Item = &'a Descriptor>) -> fmt::Result {
    writeln!(out, "{HEADER}")?;
    for p in policies {
        write!(out, "policy\t{}\t{}\t{}", Field(p.name), p.kind.name(), p.learns.name())?;
        writeln!(out, "\t{}\t{}", Field(p.summary), Field(p.source))?;
        for p in p.parameters {
            write!(out, "parameter\t{}\t{}\t{}\t{}", Field(p.name), p.default, p.min, p.max)?;
            write!(out, "\t{}\t", p.whole)?;
            for (i, choice) in p.choices.iter().enumerate() {
                write!(out, "{}{}", if i == 0 { "" } else { "|" }, Field(choice))?;
            }
            writeln!(out, "\t{}", Field(p.help))?;
        }
    }
    writeln!(out, "{END}")
}

/// A text without what ends a field or a line.
struct Field<'a>(&'a str);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.split(char::is_control).enumerate() {
            if i > 0 {
                f.write_char(' ')?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::policies;

    #[test]
    fn lists_policies_with_their_parameters() {
        let mut text = String::new();
        write(&mut text, policies::ALL.iter()).expect("a string takes all");
        assert!(text.starts_with("raddle policies\t2\npolicy\trandom\tsampling\tnothing\t"), "{text}");
        assert!(text.contains("\nparameter\td\t3\t0\t64\ttrue\t\t"), "{text}");
        assert!(text.ends_with("\nend\n"), "{text}");
    }

    #[test]
    fn a_text_stays_in_its_field() {
        assert_eq!(Field("one\ttwo\nthree").to_string(), "one two three");
        assert_eq!(Field("").to_string(), "");
    }

    #[test]
    fn names_are_words() {
        assert!(is_name("pct") && is_name("surw-2.1_b") && is_name(&"n".repeat(LONGEST_NAME)));
        for name in ["", "two words", "a:b", "a=b", "a,b", "höhe", &"n".repeat(LONGEST_NAME + 1)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn the_policies_of_raddle_can_be_used() {
        policies::ALL.iter().for_each(assert_valid);
    }
}
