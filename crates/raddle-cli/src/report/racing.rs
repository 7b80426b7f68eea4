//! The places that were seen to race, as a person finds them: by function and line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Summary;
use crate::campaign::races::{self, Place};
use crate::inspect::builds::Builds;
use crate::inspect::elf::Program;
use crate::inspect::libraries;

/// A place in the program's files.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RacingPlace {
    /// The name of the program's or the library's file.
    file: String,
    /// The address in the file, behind the access, as the schedule file has it.
    address: String,
    /// The function, where it is known.
    function: Option<String>,
    /// The file and the line of the source, where they are known.
    source: Option<String>,
}

impl RacingPlace {
    /// For a line of text.
    pub fn text(&self) -> String {
        let RacingPlace { file, address, .. } = self;
        match (&self.function, &self.source) {
            (Some(function), Some(source)) => format!("{function} ({source})"),
            (Some(function), None) => format!("{function} ({file} {address})"),
            (None, Some(source)) => source.clone(),
            (None, None) => format!("{file} {address}"),
        }
    }
}

/// The places of a campaign, by file and address. Reads the symbols of the files that have some, so it is
/// for those who want to see them.
pub fn places(summary: &Summary<'_>) -> Vec<RacingPlace> {
    let racing = &summary.campaign.racing;
    if racing.is_empty() {
        return Vec::new();
    }
    let files = files(&summary.plan.target.program);
    let builds = Builds::default();
    racing
        .iter()
        .map(|Place { file, address }| {
            let build = files.get(file).and_then(|path| builds.at(path));
            // The address is the one behind the access.
            let place = build.map(|build| builds.places(build, address.saturating_sub(1)));
            let place = place.and_then(|places| places.into_iter().next()).unwrap_or_default();
            RacingPlace {
                file: file.clone(),
                address: format!("{address:#x}"),
                function: place.function,
                source: place.file.map(|file| match place.line {
                    Some(line) => format!("{file}:{line}"),
                    None => file,
                }),
            }
        })
        .collect()
}

/// The files of a program by the names that places have. A library that is loaded later is not among them.
fn files(program: &Program) -> BTreeMap<String, PathBuf> {
    let loader = program.interpreter.as_deref();
    let loaded = loader.and_then(|loader| libraries::loaded(&program.path, loader, None).ok()).unwrap_or_default();
    let libraries = loaded.into_iter().filter_map(|library| library.path);
    let all = libraries.chain([program.path.clone()]);
    all.filter_map(|path| {
        let path = real(&path);
        Some((races::file_name(&path)?, path))
    })
    .collect()
}

/// The file that the kernel would name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_known() {
        let place = |function: Option<&str>, source: Option<&str>| RacingPlace {
            file: "bank".into(),
            address: "0x11d5".into(),
            function: function.map(str::to_string),
            source: source.map(str::to_string),
        };
        assert_eq!(place(Some("deposit"), Some("bank.c:31")).text(), "deposit (bank.c:31)");
        assert_eq!(place(Some("deposit"), None).text(), "deposit (bank 0x11d5)");
        assert_eq!(place(None, Some("bank.c:31")).text(), "bank.c:31");
        assert_eq!(place(None, None).text(), "bank 0x11d5");
    }
}
