//! Suppression files: known races that are not to be reported.
//!
//! The files are those of ThreadSanitizer
//! (<https://github.com/google/sanitizers/wiki/ThreadSanitizerSuppressions>), so that a project's
//! own file can be used as it is. A line is `type:pattern`. Blanks around a line do not count, and a
//! line that begins with `#` is a comment. A pattern matches any part of a name; `*` stands for any
//! text, `^` at the beginning and `$` hold on to the ends of the name. What comes after a `$` does
//! not count.
//!
//! `race` is compared with the function, file and module of every frame of a race's stacks, and with
//! the name of the variable; `race_top` with the innermost frame of each stack only. The order is
//! ThreadSanitizer's, too: stack by stack, frame by frame; function, file, module; and the lines in
//! their order. It decides which pattern is counted when several match.
//!
//! Where this deviates:
//! - `$` finds the end of a name wherever the text before it occurs: `Lock$` matches `LockLock`.
//!   ThreadSanitizer looks only at the first occurrence, and does not find that.
//! - A pattern with neither text nor a star is an error. ThreadSanitizer takes it, and then an empty
//!   one suppresses everything, and `$` alone nothing.
//! - The types that speak of other reports than races are read and set aside, see
//!   [`Suppressions::ignored`].
//! - ThreadSanitizer also compares a global variable's module, and has a few patterns of its own for
//!   old standard libraries. Neither is done here.

/// The types of ThreadSanitizer that have no meaning here.
const OTHER_TYPES: &[&str] = &["mutex", "thread", "signal", "deadlock", "called_from_lib"];

/// What is not to be reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppressions {
    races: Vec<Pattern>,
    tops: Vec<Pattern>,
    /// The lines that were understood but mean nothing here, with their numbers, counted from 1.
    pub ignored: Vec<(usize, String)>,
}

/// A line of a suppression file that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuppressionError {
    /// A line without a type.
    #[error("line {line}: `{text}` is not a suppression; write type:pattern, such as race:{text}")]
    NoType {
        /// Its number, counted from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A type that ThreadSanitizer does not have.
    #[error(
        "line {line}: there is no suppression type `{name}`; the types are race, race_top, and, which are \
         read but have no effect, {}", OTHER_TYPES.join(", ")
    )]
    UnknownType {
        /// Its number, counted from 1.
        line: usize,
        /// The type.
        name: String,
    },
    /// A type with nothing after it.
    #[error("line {line}: the pattern is empty; to suppress every race, write {name}:*")]
    EmptyPattern {
        /// Its number, counted from 1.
        line: usize,
        /// The type.
        name: String,
    },
}

/// The names of one frame of a stack, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameNames<'a> {
    /// The function, demangled.
    pub function: Option<&'a str>,
    /// The source file.
    pub file: Option<&'a str>,
    /// The program or library that the code is in.
    pub module: Option<&'a str>,
}

impl Suppressions {
    /// Reads a suppression file.
    pub fn parse(text: &str) -> Result<Self, SuppressionError> {
        let mut suppressions = Suppressions::default();
        for (index, line) in text.lines().enumerate() {
            suppressions.add(index + 1, line.trim_matches([' ', '\t', '\r']))?;
        }
        Ok(suppressions)
    }

    fn add(&mut self, line: usize, text: &str) -> Result<(), SuppressionError> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let Some((name, pattern)) = text.split_once(':') else {
            return Err(SuppressionError::NoType { line, text: text.into() });
        };
        let patterns = match name {
            "race" => &mut self.races,
            "race_top" => &mut self.tops,
            _ if OTHER_TYPES.contains(&name) => {
                self.ignored.push((line, text.into()));
                return Ok(());
            }
            _ => return Err(SuppressionError::UnknownType { line, name: name.into() }),
        };
        let pattern = Pattern::new(pattern);
        if pattern.parts == [""] {
            return Err(SuppressionError::EmptyPattern { line, name: name.into() });
        }
        patterns.push(pattern);
        Ok(())
    }

    /// Whether a race with these stacks, the innermost frame first, is not to be reported: the
    /// pattern that says so.
    pub fn suppresses(&self, stacks: &[&[FrameNames<'_>]]) -> Option<&str> {
        stacks.iter().find_map(|stack| {
            let all = stack.iter().find_map(|frame| matching_frame(&self.races, frame));
            all.or_else(|| matching_frame(&self.tops, stack.first()?))
        })
    }

    /// Whether a race on this variable is not to be reported: the pattern that says so.
    pub fn suppresses_variable(&self, name: &str) -> Option<&str> {
        matching(&self.races, name)
    }
}

fn matching_frame<'a>(patterns: &'a [Pattern], frame: &FrameNames<'_>) -> Option<&'a str> {
    [frame.function, frame.file, frame.module].into_iter().flatten().find_map(|name| matching(patterns, name))
}

fn matching<'a>(patterns: &'a [Pattern], name: &str) -> Option<&'a str> {
    patterns.iter().find(|pattern| pattern.matches(name)).map(|pattern| pattern.text.as_str())
}

/// A pattern, taken apart at its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// As it was written.
    text: String,
    /// What has to occur, one after the other, with anything between them.
    parts: Vec<String>,
    /// Whether the first part has to be at the beginning.
    at_start: bool,
    /// Whether the last part has to be at the end.
    at_end: bool,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (body, at_start) = match text.strip_prefix('^') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (body, at_end) = match body.split_once('$') {
            Some((before, _)) => (before, true),
            None => (body, false),
        };
        Pattern { text: text.into(), parts: body.split('*').map(str::to_owned).collect(), at_start, at_end }
    }

    /// The leftmost place for each part leaves the most room for those after it, so one pass
    /// decides; only the last part of a pattern with `$` has its place given.
    fn matches(&self, name: &str) -> bool {
        // A name that is not known is matched by nothing, not even by `*`.
        if name.is_empty() {
            return false;
        }
        let (mut rest, mut parts) = (name, &self.parts[..]);
        if let ([first, others @ ..], true) = (parts, self.at_start) {
            let Some(after) = rest.strip_prefix(first.as_str()) else {
                return false;
            };
            (rest, parts) = (after, others);
            if parts.is_empty() {
                return !self.at_end || rest.is_empty();
            }
        }
        if let ([others @ .., last], true) = (parts, self.at_end) {
            let Some(before) = rest.strip_suffix(last.as_str()) else {
                return false;
            };
            (rest, parts) = (before, others);
        }
        for part in parts {
            let Some(at) = rest.find(part.as_str()) else {
                return false;
            };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame<'a>(function: &'a str, file: &'a str, module: &'a str) -> FrameNames<'a> {
        FrameNames { function: Some(function), file: Some(file), module: Some(module) }
    }

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).matches(name)
    }

    #[test]
    fn a_pattern_matches_any_part_of_a_name() {
        assert!(matches("foo", "foo"));
        assert!(matches("foo", "xfoox"));
        assert!(!matches("foo", "fo"));
        assert!(!matches("foo", "Foo"));
        assert!(!matches("foo", ""));
        assert!(!matches("*", ""));
        assert!(matches("*", "x"));
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(matches("a*b*c", "xaxbxcx"));
        assert!(matches("a*b", "ab"));
        assert!(!matches("a*b*c", "acb"));
        assert!(matches("std::*::lock", "std::mutex::lock()"));
        assert!(matches("a**b", "ab"));
        assert!(!matches("aa*aa", "aaa"), "parts do not overlap");
    }

    #[test]
    fn anchors_hold_on_to_the_ends() {
        assert!(matches("^foo", "foobar"));
        assert!(!matches("^foo", "xfoo"));
        assert!(matches("foo$", "xfoo"));
        assert!(!matches("foo$", "foox"));
        assert!(matches("^foo$", "foo"));
        assert!(!matches("^foo$", "foofoo"));
        assert!(matches("^foo*bar$", "foo bar"));
        assert!(!matches("^foo*obar$", "foobar"), "parts do not overlap");
        assert!(matches("^*foo", "xfoo"));
        assert!(matches("foo*$", "foox"));
        assert!(matches("*$", "x"));
    }

    #[test]
    fn an_end_is_found_at_any_occurrence() {
        assert!(matches("foo$", "foofoo"));
        assert!(matches("a*b$", "abxb"));
    }

    #[test]
    fn anchors_elsewhere() {
        assert!(matches("foo$bar", "xfoo"), "what comes after the end does not count");
        assert!(matches("a^b", "a^b"), "only the first character is a beginning");
        assert!(!matches("*^b", "b"));
    }

    #[test]
    fn race_looks_at_every_frame_and_every_name() {
        let stack = [frame("inner", "/src/a.c", "/bin/prog"), frame("outer", "/src/b.c", "/lib/libz.so.1")];
        let other = [frame("main", "/src/main.c", "/bin/prog")];
        let suppressed = |text: &str| {
            let suppressions = Suppressions::parse(text).unwrap();
            suppressions.suppresses(&[&other, &stack]).map(str::to_owned)
        };
        assert_eq!(suppressed("race:outer").as_deref(), Some("outer"));
        assert_eq!(suppressed("race:b.c$").as_deref(), Some("b.c$"));
        assert_eq!(suppressed("race:libz.so").as_deref(), Some("libz.so"));
        assert_eq!(suppressed("race:none"), None);
        assert_eq!(suppressed("race_top:outer"), None);
        assert_eq!(suppressed("race_top:^inner$").as_deref(), Some("^inner$"));
        assert_eq!(suppressed("race_top:a.c\nrace:outer").as_deref(), Some("outer"), "all frames come first");
        assert_eq!(suppressed(""), None);
    }

    #[test]
    fn unknown_names_match_nothing() {
        let suppressions = Suppressions::parse("race:*\nrace_top:*").unwrap();
        assert_eq!(suppressions.suppresses(&[&[FrameNames::default()], &[]]), None);
        assert_eq!(suppressions.suppresses(&[]), None);
    }

    #[test]
    fn variables_are_for_race_only() {
        let suppressions = Suppressions::parse("race:^counter$\nrace_top:total").unwrap();
        assert_eq!(suppressions.suppresses_variable("counter"), Some("^counter$"));
        assert_eq!(suppressions.suppresses_variable("counters"), None);
        assert_eq!(suppressions.suppresses_variable("total"), None);
    }

    #[test]
    fn blanks_and_comments() {
        let suppressions = Suppressions::parse("# known\n\n \t race:a b \t\r\n  # more\nrace:#x\nrace: y").unwrap();
        let patterns: Vec<_> = suppressions.races.iter().map(|pattern| pattern.text.as_str()).collect();
        assert_eq!(patterns, ["a b", "#x", " y"], "as in ThreadSanitizer, a blank after the colon is part of it");
    }

    #[test]
    fn types_of_other_reports_are_set_aside() {
        let text = "race:a\nmutex:b\n\nthread:\nsignal:c\ndeadlock:d\ncalled_from_lib:libe.so";
        let suppressions = Suppressions::parse(text).unwrap();
        let ignored: Vec<_> = suppressions.ignored.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(
            ignored,
            [(2, "mutex:b"), (4, "thread:"), (5, "signal:c"), (6, "deadlock:d"), (7, "called_from_lib:libe.so")]
        );
        assert_eq!(suppressions.suppresses_variable("b"), None);
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| Suppressions::parse(text).unwrap_err().to_string();
        assert_eq!(message("race:a\nfoo"), "line 2: `foo` is not a suppression; write type:pattern, such as race:foo");
        assert_eq!(
            message("\n\nleak:a"),
            "line 3: there is no suppression type `leak`; the types are race, race_top, and, which are read \
             but have no effect, mutex, thread, signal, deadlock, called_from_lib"
        );
        assert_eq!(message("race:"), "line 1: the pattern is empty; to suppress every race, write race:*");
        assert!(message("race_top:^$").contains("write race_top:*"));
        assert!(message("Race:a").contains("no suppression type `Race`"));
        assert!(message("std::mutex").contains("no suppression type `std`"));
    }
}
