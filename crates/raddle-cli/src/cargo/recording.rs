//! How cargo would start a program: its arguments, its directory and its environment.
//!
//! Cargo sets more than two dozen variables for a test, among them those that build scripts ask for, and more with each
//! version. Instead of setting them again, cargo is given a runner that writes down what it is started with.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::build::OURS;
use super::error::CargoError;
use raddle_report::exit_code;

/// The first word of the runner's command line.
pub const WORD: &str = "explore";

/// The variable that names the folder for recordings.
pub const VARIABLE: &str = "RADDLE_CARGO_RECORD";

/// How a program would be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
}

/// As a runner: writes down what it was started with. The words are the program and its arguments.
pub fn record(words: &[OsString]) -> u8 {
    match write(words) {
        Ok(()) => exit_code::OK,
        Err(error) => {
            eprintln!("error: cannot record how cargo starts programs: {error}");
            exit_code::INTERNAL
        }
    }
}

fn write(words: &[OsString]) -> io::Result<()> {
    let folder = std::env::var_os(VARIABLE).ok_or_else(|| io::Error::other(format!("{VARIABLE} is not set")))?;
    let directory = std::env::current_dir()?;
    let mut bytes = Vec::new();
    let mut field = |value: &OsStr| {
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    };
    field(directory.as_os_str());
    field(OsStr::new(&words.len().to_string()));
    words.iter().for_each(|word| field(word));
    for (name, value) in std::env::vars_os() {
        field(&name);
        field(&value);
    }
    for number in 0.. {
        let file = OpenOptions::new().write(true).create_new(true).open(file(Path::new(&folder), number));
        match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return file?.write_all(&bytes),
        }
    }
    Ok(())
}

/// All that cargo would have started, in its order.
pub fn read(folder: &Path) -> Result<Vec<Recording>, CargoError> {
    let mut recordings = Vec::new();
    while let Ok(bytes) = std::fs::read(file(folder, recordings.len())) {
        let recording = parse(&bytes).ok_or_else(|| CargoError::NotUnderstood {
            what: "the recording of a start",
            reason: "it is damaged".to_string(),
        })?;
        recordings.push(recording);
    }
    Ok(recordings)
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(number.to_string())
}

fn parse(bytes: &[u8]) -> Option<Recording> {
    let mut fields = bytes.strip_suffix(b"\0")?.split(|&byte| byte == 0).map(|f| OsString::from_vec(f.to_vec()));
    let directory = PathBuf::from(fields.next()?);
    let count: usize = fields.next()?.to_str()?.parse().ok()?;
    let mut words: Vec<_> = fields.by_ref().take(count).collect();
    if words.is_empty() {
        return None;
    }
    let program = directory.join(words.remove(0));
    let mut environment = Vec::new();
    while let Some(name) = fields.next() {
        environment.push((name, fields.next()?));
    }
    Some(Recording { program, arguments: words, directory, environment })
}

impl Recording {
    /// What cargo adds to the user's environment. Names and values that are no text cannot be stored in a schedule.
    pub fn additions(&self) -> Vec<(String, String)> {
        let is_added = |(name, value): &&(OsString, OsString)| {
            !OURS.iter().any(|ours| name == ours) && std::env::var_os(name).as_ref() != Some(value)
        };
        let text = |(name, value): &(OsString, OsString)| Some((name.to_str()?.into(), value.to_str()?.into()));
        self.environment.iter().filter(is_added).filter_map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_comes_back() {
        let recording =
            parse(b"/home/ada/bank\x002\0target/a\0--flag\0CARGO_PKG_NAME\0bank\0EMPTY\0\0").expect("whole");
        assert_eq!(recording.program, Path::new("/home/ada/bank/target/a"));
        assert_eq!(recording.arguments, ["--flag"]);
        let pairs = [("CARGO_PKG_NAME", "bank"), ("EMPTY", "")].map(|(n, v)| (n.to_string(), v.to_string()));
        assert_eq!(recording.additions(), pairs);
        assert_eq!(parse(b"/home\x001\0"), None);
    }
}
