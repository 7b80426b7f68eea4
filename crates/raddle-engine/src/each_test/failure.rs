//! What a program that failed says of it: the first assertion in its output that did not hold, with its place.
//!
//! Each framework is read in its own file. A program is not asked which framework it has: its output shows that, also
//! where a script has started it.

use super::{boost, c_assertion, catch2, doctest, googletest, libtest, python};

/// Lines of an assertion's text that are kept.
const LINES: usize = 12;

/// Characters of a message.
const MESSAGE: usize = 400;

/// How a program ended that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this status.
    Exit(i32),
    /// By `abort`.
    Abort,
    /// By another signal, which says more than what was printed before.
    Signal,
}

/// A stream of a program's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
}

/// A failed assertion, in the words of the framework.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assertion {
    /// The test that it belongs to, where the framework says so.
    pub test: Option<String>,
    /// The thread that panicked, in Rust.
    pub thread: Option<String>,
    /// The source file, as the framework prints it.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The column in it, in Rust.
    pub column: Option<u32>,
    /// What was expected and what was seen.
    pub text: Vec<String>,
    /// Where it was read.
    pub stream: Stream,
    /// The number of its line there, from 0.
    pub at: usize,
    /// How many others failed in the same run.
    pub more: usize,
}

impl Assertion {
    /// At this place, said in the line of this number.
    pub(super) fn new(location: Option<Location>, at: usize) -> Assertion {
        let Location { file, line, column } = location.unwrap_or_default();
        let file = Some(file).filter(|file| !file.is_empty());
        Assertion { file, line, column, at, ..Assertion::default() }
    }

    /// Takes lines of a text, up to one that ends it.
    pub(super) fn says<'a>(mut self, lines: impl IntoIterator<Item = &'a str>) -> Assertion {
        self.text = lines.into_iter().take(LINES).map(|line| line.trim_end().to_string()).collect();
        while self.text.last().is_some_and(String::is_empty) {
            self.text.pop();
        }
        self
    }

    /// `bank.cc:31`, without folders, which differ between machines; what it says where it has no place.
    pub fn place(&self) -> String {
        match self.location() {
            Some(place) => place.rsplit('/').next().unwrap_or(&place).to_string(),
            None => {
                let test = self.test.iter().map(String::as_str);
                test.chain(self.text.first().map(String::as_str)).collect::<Vec<_>>().join(": ")
            }
        }
    }

    /// All of it in one line.
    pub fn message(&self) -> String {
        let location = self.location();
        let mut parts = Vec::new();
        match (&self.thread, location) {
            (Some(thread), Some(place)) => parts.push(format!("thread '{thread}' panicked at {place}")),
            (_, place) => parts.extend(place),
        }
        parts.extend(self.test.clone());
        parts.push(self.one_line());
        let mut message = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        if let Some((cut, _)) = message.char_indices().nth(MESSAGE) {
            message.truncate(cut);
            message.push('…');
        }
        match self.more {
            0 => message,
            1 => format!("{message} (and one more)"),
            more => format!("{message} (and {more} more)"),
        }
    }

    fn location(&self) -> Option<String> {
        let mut text = self.file.clone()?;
        for number in self.line.into_iter().chain(self.column) {
            text += &format!(":{number}");
        }
        Some(text)
    }

    fn one_line(&self) -> String {
        let mut all = String::new();
        for line in self.text.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            if !all.is_empty() {
                all += if all.ends_with([':', ',', ';']) { " " } else { "; " };
            }
            all += line;
        }
        all
    }
}

/// A place in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Location {
    pub file: String,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Location {
    /// Reads `file:line`, `file:line:column` or `file(line)`.
    pub fn parse(text: &str) -> Option<Location> {
        if let Some((file, line)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
            return Some(Location { file: file.to_string(), line: Some(line.parse().ok()?), column: None });
        }
        let (rest, last) = text.rsplit_once(':')?;
        let last = last.parse().ok()?;
        let (file, line, column) = match rest.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
            Some((file, Ok(line))) => (file, line, Some(last)),
            _ => (rest, last, None),
        };
        (!file.is_empty()).then(|| Location { file: file.to_string(), line: Some(line), column })
    }
}

/// A framework's way of saying that assertions failed, each in its own lines.
type Reader = fn(&[&str]) -> Vec<Assertion>;

/// The assertion that made a run fail, as far as its output tells.
pub fn read(stdout: &[u8], stderr: &[u8], ended: Ended) -> Option<Assertion> {
    let streams = [(Stream::Stdout, plain(stdout)), (Stream::Stderr, plain(stderr))];
    let lines: Vec<(Stream, Vec<&str>)> =
        streams.iter().map(|(stream, text)| (*stream, text.lines().collect())).collect();
    let rust = || libtest::failure(&lines[0].1, &lines[1].1);
    let first = |readers: &[Reader]| {
        readers.iter().find_map(|reader| lines.iter().find_map(|(stream, lines)| first_of(reader(lines), *stream)))
    };
    match ended {
        Ended::Exit(libtest::FAILED) => rust().or_else(|| first(FRAMEWORKS)),
        Ended::Exit(_) => first(FRAMEWORKS),
        Ended::Abort => rust().or_else(|| first(&[c_assertion::failures])),
        Ended::Signal => None,
    }
}

const FRAMEWORKS: &[Reader] =
    &[googletest::failures, catch2::failures, doctest::failures, boost::failures, python::failures];

fn first_of(assertions: Vec<Assertion>, stream: Stream) -> Option<Assertion> {
    let more = assertions.len().checked_sub(1)?;
    assertions.into_iter().next().map(|first| Assertion { stream, more, ..first })
}

/// An output as text, without the sequences that set colours.
fn plain(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').get(1..).unwrap_or_default());
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_all_kinds() {
        let place = |text| Location::parse(text).map(|at| (at.file, at.line, at.column));
        assert_eq!(place("a/b.cc:10"), Some(("a/b.cc".into(), Some(10), None)));
        assert_eq!(place("src/a.rs:3:5"), Some(("src/a.rs".into(), Some(3), Some(5))));
        assert_eq!(place("b.cpp(12)"), Some(("b.cpp".into(), Some(12), None)));
        assert_eq!((place("unknown file"), place(":3"), place("b.cc:")), (None, None, None));
    }

    #[test]
    fn a_message_is_one_line_and_its_place_has_no_folders() {
        let location = Location::parse("/home/ada/bank/test.cc:10");
        let mut assertion = Assertion::new(location, 0).says(["Expected:", "  1", "  2", ""]);
        assertion.test = Some("Bank.Deposit".into());
        assert_eq!(assertion.message(), "/home/ada/bank/test.cc:10: Bank.Deposit: Expected: 1; 2");
        assert_eq!(assertion.place(), "test.cc:10");
        assertion.more = 2;
        assert!(assertion.message().ends_with("; 2 (and 2 more)"));
        assertion.file = None;
        assert_eq!(assertion.place(), "Bank.Deposit: Expected:");
    }

    #[test]
    fn colours_are_not_read() {
        assert_eq!(plain(b"a\x1b[1;31;49merror\x1b[0m b\x1b["), "aerror b");
    }

    #[test]
    fn a_crash_is_not_an_earlier_assertion() {
        let out = b"[ RUN      ] A.B\nt.cc:3: Failure\nValue of: x\n[  FAILED  ] A.B (0 ms)\n";
        assert_eq!(read(out, b"", Ended::Signal), None);
        assert_eq!(read(out, b"", Ended::Exit(1)).map(|said| said.place()), Some("t.cc:3".to_string()));
        assert_eq!(read(b"", out, Ended::Exit(1)).map(|said| said.stream), Some(Stream::Stderr));
        assert_eq!(read(b"nothing", b"of interest", Ended::Exit(1)), None);
    }
}
