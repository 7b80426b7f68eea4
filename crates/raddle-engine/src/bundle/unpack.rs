//! Opening a bundle.
//!
//! A bundle may come from anywhere, so nothing in it is believed: only files that the manifest
//! lists are written, only below the temporary folder, only regular files, and only so many bytes.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, OsString};
use std::fs;
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};
use flate2::read::GzDecoder;
use raddle_schedule::Schedule;
use tempfile::TempDir;

use super::manifest::{File, Manifest, Role, FOLDER, NAME, VERSION};
use super::pack::is_below;
use super::Opened;
use raddle_inspect::build_id::{build_id, content_hash};
use raddle_inspect::elf::is_executable;

/// More than any program with its libraries has.
const MOST_FILES: usize = 4096;
/// Programs with debug information are large, but not as large as this.
const MOST_BYTES: u64 = 16 << 30;
const LONGEST_MANIFEST: u64 = 16 << 20;
/// No system opens a file with a longer name.
const LONGEST_NAME: u64 = 4096;

pub(super) fn open(path: &Path) -> Result<Option<Opened>> {
    let mut file = fs::File::open(path).context("it cannot be read")?;
    let mut magic = [0; 2];
    let is_compressed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    file.rewind()?;
    let file = BufReader::new(file);
    match is_compressed {
        true => read(GzDecoder::new(file)),
        false => read(file),
    }
}

fn read(input: impl Read) -> Result<Option<Opened>> {
    let mut archive = tar::Archive::new(input);
    // A file that is no archive, or another one, is no bundle; that is not an error.
    let Ok(entries) = archive.entries() else {
        return Ok(None);
    };
    // What stands before an entry to describe it would be read whole, however much it is when it is uncompressed.
    let mut entries = entries.raw(true);
    let Some(Ok(first)) = entries.next() else {
        return Ok(None);
    };
    if first.path_bytes() != format!("{FOLDER}/{NAME}").as_bytes() {
        return Ok(None);
    }
    let manifest = manifest(first)?;
    let loads_itself = !runs_with_our_c_library(&manifest);

    let directory = tempfile::Builder::new().prefix("raddle-bundle-").tempdir()?;
    check_place(directory.path())?;
    let mut expected: HashMap<_, _> =
        manifest.files.iter().map(|file| (format!("{FOLDER}/{}", file.file), file)).collect();
    let mut long_name = None;
    for entry in entries {
        let mut entry = entry.context("the archive is damaged")?;
        if entry.header().entry_type().is_gnu_longname() {
            long_name = Some(name_of_next(&mut entry)?);
            continue;
        }
        let name = long_name.take().unwrap_or_else(|| String::from_utf8_lossy(&entry.path_bytes()).into_owned());
        let file = expected.remove(&name).with_context(|| format!("{name} is not in its manifest, or there twice"))?;
        ensure!(entry.header().entry_type().is_file(), "{name} is not a regular file");
        // Also for what is not unpacked: it is read to get to the next entry.
        ensure!(entry.size() == file.size, "{name} has {} bytes, its manifest says {}", entry.size(), file.size);
        if !loads_itself && matches!(file.role, Role::Loader | Role::CLibrary) {
            continue;
        }
        unpack(&mut entry, file, directory.path())?;
    }
    if let Some(name) = expected.keys().min() {
        bail!("{name} is missing: the archive is cut short");
    }
    finish(manifest, directory, loads_itself).map(Some)
}

/// The name of the next entry, where it is too long for a header.
fn name_of_next(entry: &mut impl Read) -> Result<String> {
    let mut name = Vec::new();
    entry.take(LONGEST_NAME + 1).read_to_end(&mut name).context("the archive is damaged")?;
    ensure!(name.len() as u64 <= LONGEST_NAME, "a name in it is too long");
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

fn manifest(entry: impl Read) -> Result<Manifest> {
    let mut text = Vec::new();
    entry.take(LONGEST_MANIFEST).read_to_end(&mut text).context("the archive is damaged")?;
    let manifest: Manifest = serde_json::from_slice(&text).context("its manifest is damaged")?;
    ensure!(
        manifest.version <= VERSION,
        "it has the format {}, and this raddle knows formats up to {VERSION}; use raddle {} or later",
        manifest.version,
        manifest.raddle
    );
    ensure!(manifest.files.len() <= MOST_FILES, "it has {} files", manifest.files.len());
    let bytes = manifest.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.size));
    ensure!(bytes.is_some_and(|bytes| bytes <= MOST_BYTES), "it is larger than 16 GiB");
    for file in &manifest.files {
        ensure!(is_below(Path::new(&file.file)), "{:?} would be written elsewhere", file.file);
    }
    Ok(manifest)
}

/// The loader takes colons and spaces for separators, and nothing runs from a `noexec` file system.
fn check_place(directory: &Path) -> Result<()> {
    let is_separator = |byte: &u8| b": ;$".contains(byte);
    ensure!(
        !directory.as_os_str().as_bytes().iter().any(is_separator),
        "the loader cannot find libraries below {}, because of a colon, semicolon, dollar or space \
         in its name; set TMPDIR to another folder",
        directory.display()
    );
    Ok(())
}

fn unpack(entry: &mut impl Read, file: &File, directory: &Path) -> Result<()> {
    let path = directory.join(&file.file);
    let what = || format!("{} cannot be unpacked", file.file);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(what)?;
    }
    let mut output = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if file.role.is_code() { 0o700 } else { 0o600 })
        .open(&path)
        .with_context(what)?;
    let count = io::copy(&mut entry.take(file.size), &mut output).with_context(what)?;
    ensure!(count == file.size, "{} is cut short", file.file);
    drop(output);
    let hash = content_hash(&path).with_context(what)?;
    ensure!(hash == file.hash, "{} is damaged: its hash is {hash}, not {}", file.file, file.hash);
    Ok(())
}

fn finish(manifest: Manifest, directory: TempDir, loads_itself: bool) -> Result<Opened> {
    let at = |role| manifest.one(role).map(|file| directory.path().join(&file.file));
    let program = at(Role::Program).context("there is no program in it")?;
    let schedule = at(Role::Schedule).context("there is no schedule in it")?;
    let interpreter = at(Role::Loader).filter(|_| loads_itself);
    let runtime = at(Role::Runtime);
    ensure!(
        is_executable(&program),
        "programs below {} cannot be executed; set TMPDIR to a folder on a file system without noexec",
        directory.path().display()
    );
    let library_path = directory.path().join("lib");
    fs::create_dir_all(&library_path)?;
    let work = directory.path().join("work");
    fs::create_dir_all(&work)?;

    let bytes = fs::read(&schedule)?;
    let mut adapted = raddle_schedule::parse(&bytes).context("its schedule is damaged")?;
    adapt(&mut adapted, &manifest, directory.path(), interpreter.is_none());
    fs::write(&schedule, raddle_schedule::write(&adapted))?;
    Ok(Opened { schedule, program, library_path, interpreter, runtime, manifest, directory })
}

/// Makes a schedule fit the place where it was unpacked.
fn adapt(schedule: &mut Schedule, manifest: &Manifest, directory: &Path, by_our_loader: bool) {
    if let Some(file) = manifest.one(Role::Stdin) {
        schedule.stdin = raddle_schedule::Stdin::Beside(file.file.clone().into_bytes());
    }
    if let Some(file) = manifest.one(Role::ExpectedOutput) {
        schedule.expect.output = Some(bytes(directory.join(&file.file)));
    }
    if !Path::new(OsStr::from_bytes(&schedule.directory)).is_dir() {
        schedule.directory = bytes(directory.join("work"));
    }
    let search = by_our_loader.then(|| bytes(directory.join("lib")));
    set(schedule, "LD_LIBRARY_PATH", search);
    let preloaded = manifest.files.iter().filter(|file| file.role == Role::Preload);
    let preloaded: Vec<_> = preloaded.map(|file| bytes(directory.join(&file.file))).collect();
    set(schedule, "LD_PRELOAD", Some(preloaded.join(&b':')).filter(|paths| !paths.is_empty()));
}

fn bytes(path: PathBuf) -> Vec<u8> {
    OsString::from(path).into_vec()
}

fn set(schedule: &mut Schedule, name: &str, value: Option<Vec<u8>>) {
    schedule.environment.retain(|(other, _)| other != name.as_bytes());
    schedule.environment.extend(value.map(|value| (name.as_bytes().to_vec(), value)));
    schedule.environment.sort();
}

/// Whether this machine's loader and C library can run what was built for those of the bundle.
fn runs_with_our_c_library(manifest: &Manifest) -> bool {
    let Ok(ours) = build_id(Path::new(&manifest.loader)) else {
        return false;
    };
    if manifest.one(Role::Loader).is_some_and(|loader| loader.identity == ours) {
        return true;
    }
    let theirs = manifest.glibc.as_deref().and_then(version);
    theirs.is_some_and(|theirs| version(&our_glibc()).is_some_and(|ours| ours >= theirs))
}

fn our_glibc() -> String {
    // SAFETY: returns a constant string.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_string_lossy().into_owned()
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Whether a loader has the option `--argv0` (glibc 2.33); without it a program is called by its path.
pub(super) fn knows_argv0(loader: &Path) -> bool {
    let help = Command::new(loader).arg("--help").stdin(Stdio::null()).output();
    help.is_ok_and(|help| {
        let text = [help.stdout, help.stderr].concat();
        text.windows(7).any(|part| part == b"--argv0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(version("2.4") < version("2.36"));
        assert_eq!(version("2.36"), version("2.36.9000"));
        assert_eq!(version("two"), None);
        assert!(version(&our_glibc()) > version("2.0"));
    }
}
