//! What a run depends on besides its schedule: variables and files. A schedule file keeps names and hashes of them, so
//! that a replay can say what is different. A failure that does not happen then is not gone.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use raddle_schedule::{checksum, fingerprint, Schedule};

use super::environment::{self, Variables};
use super::stdin::Stdin;
use super::Plan;

/// Files above this size are not read.
const LARGEST: u64 = 64 << 20;

/// All variables with hashes of their values, by name.
pub fn variables(variables: &Variables) -> Vec<(Vec<u8>, u64)> {
    let mut all: Vec<_> = variables
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), fingerprint(name.as_bytes(), value.as_bytes())))
        .collect();
    all.sort();
    all
}

/// The files that a plan names, with hashes of their contents: arguments of the command, standard input, and what the
/// runs are judged by.
pub fn files(plan: &Plan) -> Vec<(Vec<u8>, u64)> {
    let target = &plan.target;
    let words = target.command.iter().skip(1).map(|word| word.as_bytes());
    let arguments = words.flat_map(|word| std::iter::once(word).chain(word.splitn(2, |&byte| byte == b'=').nth(1)));
    // With a directory of its own, a run finds its relative paths elsewhere.
    let arguments = arguments.filter(|word| !target.own_directory || word.starts_with(b"/"));
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let stdin = match &target.stdin {
        Stdin::File(path) => Some(path.as_path()),
        _ => None,
    };
    let expected = plan.expect.output.as_ref().map(|(path, _)| path.as_path());
    let benign = plan.benign.as_ref().and_then(|benign| benign.path.as_deref());
    let others = [stdin, expected, benign].into_iter().flatten().map(|path| absolute(path).into_os_string().into_vec());
    let mut files: Vec<_> = arguments
        .map(<[u8]>::to_vec)
        .chain(others)
        .filter_map(|name| Some((hash(&file(&name, &target.directory))?, name)))
        .map(|(hash, name)| (name, hash))
        .collect();
    files.sort();
    files.dedup();
    files
}

fn file(name: &[u8], directory: &Path) -> PathBuf {
    directory.join(OsStr::from_bytes(name))
}

/// A hash of what is in a file; `None`: it is no file, or too large.
fn hash(path: &Path) -> Option<u64> {
    let metadata = path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?;
    // The size tells apart what cannot be read.
    Some(std::fs::read(path).map_or(metadata.len(), |bytes| checksum(&bytes)))
}

/// The variables that are not as they were recorded, in words. Those that a schedule file has the values of are.
pub fn different_variables(here: &Variables, recorded: &Schedule) -> Vec<String> {
    let Some(then) = &recorded.variables else { return Vec::new() };
    let compared = |name: &[u8]| {
        let name_text = OsStr::from_bytes(name);
        let set = recorded.environment.iter().any(|(set, _)| set == name);
        !set && !environment::matters(name_text) && !environment::of_a_session(name_text)
    };
    let now = variables(here);
    let value =
        |all: &[(Vec<u8>, u64)], name: &[u8]| all.iter().find(|(other, _)| other == name).map(|(_, hash)| *hash);
    let mut names: Vec<_> = then.iter().chain(&now).map(|(name, _)| name).filter(|name| compared(name)).collect();
    names.sort();
    names.dedup();
    let difference = |name: &&Vec<u8>| {
        let shown = String::from_utf8_lossy(name);
        match (value(then, name), value(&now, name)) {
            (Some(then), Some(now)) if then == now => None,
            (Some(_), Some(_)) => Some(format!("the variable {shown} has a different value here")),
            (Some(_), None) => Some(format!("the variable {shown} is not set here")),
            (None, _) => Some(format!("the variable {shown} was not set when the failure was recorded")),
        }
    };
    names.iter().filter_map(difference).collect()
}

/// The files that are not as they were recorded, in words. Of a bundle, only what it has brought along is compared.
pub fn different_files(directory: &Path, recorded: &Schedule, is_bundle: bool) -> Vec<String> {
    let compared = recorded.files.iter().filter(|(name, _)| !(is_bundle && name.starts_with(b"/")));
    let difference = |(name, then): &(Vec<u8>, u64)| {
        let shown = String::from_utf8_lossy(name);
        match hash(&file(name, directory)) {
            Some(now) if now == *then => None,
            Some(_) => Some(format!("the file {shown} has changed since the recording")),
            None => Some(format!("the file {shown} no longer exists")),
        }
    };
    compared.filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn environment(variables: &[(&str, &str)]) -> Variables {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn what_differs_is_named_without_its_value() {
        let then =
            environment(&[("MODE", "fast"), ("TOKEN", "secret"), ("LANG", "C"), ("TERM", "xterm"), ("KEPT", "1")]);
        let recorded = Schedule {
            variables: Some(variables(&then)),
            environment: vec![(b"KEPT".to_vec(), b"1".to_vec())],
            ..Schedule::default()
        };
        let different = |here: &[(&str, &str)]| different_variables(&environment(here), &recorded);
        assert_eq!(different(&[("MODE", "fast"), ("TOKEN", "secret"), ("KEPT", "2")]), Vec::<String>::new());
        assert_eq!(
            different(&[("TOKEN", "other"), ("MORE", "1")]),
            [
                "the variable MODE is not set here",
                "the variable MORE was not set when the failure was recorded",
                "the variable TOKEN has a different value here",
            ]
        );
        // Older files do not say.
        assert!(different_variables(&then, &Schedule::default()).is_empty());
    }

    #[test]
    fn files_are_compared_by_what_is_in_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        write("input", "1 2 3");
        write("settings", "a=b");
        let mut plan = sample::plan();
        plan.target.directory = folder.path().to_path_buf();
        plan.target.command = ["./bank", "input", "--settings=settings", "no-file"].map(Into::into).into();
        let files = files(&plan);
        assert_eq!(files.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>(), [&b"input"[..], b"settings"]);
        let recorded = Schedule { files, ..Schedule::default() };
        let different = || different_files(folder.path(), &recorded, false);
        assert!(different().is_empty());
        write("input", "1 2 4");
        std::fs::remove_file(folder.path().join("settings")).expect("removed");
        assert_eq!(
            different(),
            ["the file input has changed since the recording", "the file settings no longer exists"]
        );
    }
}
