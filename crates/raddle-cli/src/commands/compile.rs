//! `raddle cc` and `raddle c++`: compilers that make memory accesses and atomics visible.

use std::ffi::OsString;
use std::path::Path;

use crate::compile;
use crate::compile::compiler::Driver;
use crate::error::Error;

/// Whether a command line asks for a compiler: by the name of a command, or by the name that raddle was
/// started under, for build systems that want a compiler of one word. With the compiler's own words.
pub fn asked_for(arguments: &[OsString]) -> Option<(Driver, &[OsString])> {
    let (this, words) = arguments.split_first()?;
    match Path::new(this).file_name()?.to_str() {
        Some("raddle-cc") => return Some((Driver::C, words)),
        Some("raddle-c++") => return Some((Driver::Cxx, words)),
        _ => {}
    }
    let (command, words) = words.split_first()?;
    match command.to_str() {
        Some("cc") => Some((Driver::C, words)),
        Some("c++") => Some((Driver::Cxx, words)),
        _ => None,
    }
}

pub fn run(driver: Driver, words: &[OsString]) -> Result<u8, Error> {
    Ok(compile::run(driver, words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_command_or_by_the_own_name() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            asked_for(&words).map(|(driver, words)| (driver, words.len()))
        };
        assert_eq!(asked("raddle cc --help"), Some((Driver::C, 1)));
        assert_eq!(asked("raddle c++"), Some((Driver::Cxx, 0)));
        assert_eq!(asked("/opt/bin/raddle-cc cc"), Some((Driver::C, 1)));
        assert_eq!(asked("raddle-c++ -c -- x.c"), Some((Driver::Cxx, 3)));
        assert_eq!(asked("raddle test -- cc"), None);
        assert_eq!(asked("raddle"), None);
    }
}
