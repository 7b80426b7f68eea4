//! Lines and words of a schedule file, and errors that name them.

use std::fmt;
use std::str::FromStr;

/// Where a schedule file is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What should have stood there.
    pub expected: String,
    /// What stood there.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, column, expected, found } = self;
        write!(f, "line {line}, column {column}: expected {expected}, found {found}")
    }
}

impl std::error::Error for ParseError {}

/// What every part of the parser returns.
pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// The lines of a file, with their numbers.
pub(super) struct File<'a> {
    text: &'a str,
    /// Bytes that have been read.
    at: usize,
    number: usize,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<File<'a>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(File { text, at: 0, number: 0 }),
            Err(error) => {
                let good = &bytes[..error.valid_up_to()];
                let start = good.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
                Err(ParseError {
                    line: 1 + good.iter().filter(|&&b| b == b'\n').count(),
                    column: 1 + String::from_utf8_lossy(&good[start..]).chars().count(),
                    expected: "text in UTF-8".to_string(),
                    found: format!("the byte {:#04x}", bytes[error.valid_up_to()]),
                })
            }
        }
    }

    pub(super) fn next_line(&mut self) -> Option<Line<'a>> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let text = rest.split('\n').next().unwrap_or(rest);
        let line = Line { text, at: 0, number: self.number + 1, offset: self.at };
        self.at = (self.at + text.len() + 1).min(self.text.len());
        self.number += 1;
        Some(line)
    }

    pub(super) fn line(&mut self, expected: &str) -> Result<Line<'a>> {
        self.next_line().ok_or_else(|| ParseError {
            line: self.number + 1,
            column: 1,
            expected: expected.to_string(),
            found: "the end of the file".to_string(),
        })
    }
}

/// One line, and how much of it has been read.
#[derive(Clone)]
pub(super) struct Line<'a> {
    text: &'a str,
    at: usize,
    number: usize,
    /// Where the line starts in the file.
    pub(super) offset: usize,
}

impl<'a> Line<'a> {
    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.text.len()
    }

    pub(super) fn end(&mut self) -> Result<()> {
        if self.at_end() {
            Ok(())
        } else {
            Err(self.error("the end of the line"))
        }
    }

    /// An error at the next word.
    pub(super) fn error(&mut self, expected: &str) -> ParseError {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let found = match rest.split([' ', '\t']).next() {
            None | Some("") => "the end of the line".to_string(),
            Some(word) => {
                let short: String = word.chars().take(40).collect();
                let dots = if short.len() < word.len() { "…" } else { "" };
                format!("`{}{dots}`", short.escape_debug())
            }
        };
        ParseError {
            line: self.number,
            column: 1 + self.text[..self.at].chars().count(),
            expected: expected.to_string(),
            found,
        }
    }

    /// The next characters up to a space.
    pub(super) fn word(&mut self, expected: &str) -> Result<&'a str> {
        if self.at_end() {
            return Err(self.error(expected));
        }
        let rest = &self.text[self.at..];
        let word = rest.split([' ', '\t']).next().unwrap_or(rest);
        self.at += word.len();
        Ok(word)
    }

    pub(super) fn exactly(&mut self, word: &str) -> Result<()> {
        let mut start = self.clone();
        let expected = format!("`{word}`");
        if self.word(&expected)? == word {
            Ok(())
        } else {
            Err(start.error(&expected))
        }
    }

    pub(super) fn number<T: FromStr>(&mut self, expected: &str) -> Result<T> {
        let mut start = self.clone();
        self.word(expected)?.parse().map_err(|_| start.error(expected))
    }

    pub(super) fn hexadecimal(&mut self, expected: &str) -> Result<u64> {
        let mut start = self.clone();
        let digits = self.word(expected)?.strip_prefix("0x");
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number.ok_or_else(|| start.error(&format!("{expected}, as 0x…")))
    }

    /// A value such as `steps=12`.
    pub(super) fn assigned<T: FromStr>(&mut self, name: &str) -> Result<T> {
        let mut start = self.clone();
        let expected = format!("`{name}=` and a number");
        let value = self.word(&expected)?.strip_prefix(name).and_then(|v| v.strip_prefix('='));
        value.and_then(|v| v.parse().ok()).ok_or_else(|| start.error(&expected))
    }

    pub(super) fn on_off(&mut self) -> Result<bool> {
        let mut start = self.clone();
        match self.word("`on` or `off`")? {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(start.error("`on` or `off`")),
        }
    }

    /// A quoted string that is text.
    pub(super) fn text(&mut self, expected: &str) -> Result<String> {
        let mut start = self.clone();
        String::from_utf8(self.string(expected)?).map_err(|_| start.error(&format!("{expected}, as text in UTF-8")))
    }

    pub(super) fn string(&mut self, expected: &str) -> Result<Vec<u8>> {
        self.skip_spaces();
        if !self.text[self.at..].starts_with('"') {
            return Err(self.error(expected));
        }
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else {
                return Err(self.error("a closing quote"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    if !self.text[self.at..].is_empty() && !self.text[self.at..].starts_with([' ', '\t']) {
                        return Err(self.error("a space after the closing quote"));
                    }
                    return Ok(bytes);
                }
                '\\' => {
                    let (byte, length) =
                        escape(rest).ok_or_else(|| self.error(r#"an escape: \\, \", \n, \r, \t or \xNN"#))?;
                    bytes.push(byte);
                    self.at += length;
                }
                c => {
                    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    self.at += c.len_utf8();
                }
            }
        }
    }
}

/// The byte that an escape stands for, and the escape's length.
fn escape(text: &str) -> Option<(u8, usize)> {
    let simple = match text.as_bytes().get(1)? {
        b'"' => b'"',
        b'\\' => b'\\',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'x' => {
            let digits = text.get(2..4)?;
            let valid = digits.bytes().all(|b| b.is_ascii_hexdigit());
            return Some((u8::from_str_radix(digits, 16).ok().filter(|_| valid)?, 4));
        }
        _ => return None,
    };
    Some((simple, 2))
}
