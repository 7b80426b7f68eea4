//! The places that were seen to race, as a person finds them: by function and line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use raddle_report::RacingPlace;

use super::Summary;
use crate::plan::place::{self, Place};
use raddle_inspect::builds::Builds;
use raddle_inspect::elf::Program;
use raddle_inspect::libraries;

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
        Some((place::file_name(&path)?, path))
    })
    .collect()
}

/// The file that the kernel would name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
