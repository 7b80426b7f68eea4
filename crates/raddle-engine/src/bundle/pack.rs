//! Making a bundle.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use flate2::write::GzEncoder;
use flate2::Compression;
use raddle_schedule::{Schedule, Stdin};
use tempfile::NamedTempFile;

use super::manifest::{is_c_library, File, Manifest, Role, FOLDER, NAME, VERSION};
use crate::runtime;
use raddle_inspect::build_id::{build_id, content_hash};
use raddle_inspect::elf::{self, Program};
use raddle_inspect::libraries;

/// A file named on the command line that is larger than this is hardly an input of a test.
const LARGEST_INPUT: u64 = 256 << 20;

/// Packs the failure that a schedule file records.
pub(super) fn pack(path: &Path, output: &Path) -> Result<Manifest> {
    let bytes = fs::read(path).context("the schedule file cannot be read")?;
    let schedule = raddle_schedule::parse(&bytes).context("it is not a valid schedule file")?;
    let program = program(&schedule)?;
    let mut parts = Parts::default();
    parts.add(Role::Schedule, "schedule", path)?;
    // Under its own name, because the system names threads after the file.
    let name = program.path.file_name().and_then(OsStr::to_str).unwrap_or("program");
    parts.add(Role::Program, &format!("bin/{name}"), &program.path)?;
    parts.add_libraries(&program, &schedule)?;
    parts.add_runtime()?;
    parts.add_inputs(&schedule, path)?;

    let manifest = Manifest {
        version: VERSION,
        raddle: env!("CARGO_PKG_VERSION").into(),
        loader: program.interpreter.unwrap_or_default().to_string_lossy().into_owned(),
        glibc: parts.glibc(),
        files: parts.files,
        missing: parts.missing,
    };
    write(&manifest, &parts.sources, output)?;
    Ok(manifest)
}

/// The recorded program, which must still be the one that was recorded.
fn program(schedule: &Schedule) -> Result<Program> {
    let name = schedule.command.first().context("the schedule names no program")?;
    let name = OsStr::from_bytes(name);
    let path = match name.as_bytes().contains(&b'/') {
        true => directory(schedule).join(name),
        false => elf::find_in_path(name).with_context(|| format!("{} is not in PATH", Path::new(name).display()))?,
    };
    let program =
        elf::inspect(&path).map_err(|refusal| anyhow::anyhow!("the recorded program {}: {refusal}", path.display()))?;
    let ours = program.build_id.as_deref().unwrap_or_default();
    ensure!(
        ours == schedule.build_id,
        "{} has changed since the recording (build {ours}, recorded {}), so a bundle would not \
         replay; bundle failures before the program is built again",
        path.display(),
        schedule.build_id
    );
    Ok(program)
}

fn directory(schedule: &Schedule) -> &Path {
    Path::new(OsStr::from_bytes(&schedule.directory))
}

fn variable<'a>(schedule: &'a Schedule, name: &str) -> Option<&'a OsStr> {
    let found = schedule.environment.iter().find(|(other, _)| other == name.as_bytes());
    found.map(|(_, value)| OsStr::from_bytes(value))
}

/// The files of a bundle while it is put together.
#[derive(Default)]
struct Parts {
    files: Vec<File>,
    /// Where each of the files is read from.
    sources: Vec<PathBuf>,
    names: HashSet<String>,
    missing: Vec<String>,
}

impl Parts {
    fn add(&mut self, role: Role, name: &str, path: &Path) -> Result<()> {
        if !self.names.insert(name.to_owned()) {
            return Ok(());
        }
        let what = || format!("{} cannot be read", path.display());
        self.files.push(File {
            file: name.to_owned(),
            role,
            from: path.to_string_lossy().into_owned(),
            identity: build_id(path).with_context(what)?,
            hash: content_hash(path).with_context(what)?,
            size: fs::metadata(path).with_context(what)?.len(),
        });
        self.sources.push(path.to_path_buf());
        Ok(())
    }

    /// Adds a file that a replay can do without.
    fn add_if_possible(&mut self, role: Role, name: &str, path: &Path) {
        if let Err(error) = self.add(role, name, path) {
            self.missing.push(format!("{error:#}"));
        }
    }

    fn add_libraries(&mut self, program: &Program, schedule: &Schedule) -> Result<()> {
        let Some(loader) = &program.interpreter else {
            bail!("the program names no loader");
        };
        let loader_name = loader.file_name().unwrap_or(OsStr::new("loader")).to_string_lossy();
        self.add(Role::Loader, &format!("lib/{loader_name}"), loader)?;
        // Not set when recorded means empty: what is set now does not count.
        let search = variable(schedule, "LD_LIBRARY_PATH").unwrap_or_default();
        for library in libraries::loaded(&program.path, loader, Some(search))? {
            let role = if is_c_library(&library.name) { Role::CLibrary } else { Role::Library };
            match &library.path {
                Some(path) => self.add(role, &format!("lib/{}", library.name), path)?,
                None => self.missing.push(format!("{}, which the loader does not find", library.name)),
            }
        }
        let preloaded = variable(schedule, "LD_PRELOAD").unwrap_or_default();
        for path in preloaded.as_bytes().split(|byte| b": ".contains(byte)) {
            let path = Path::new(OsStr::from_bytes(path));
            if let Some(name) = path.file_name() {
                let name = format!("preload/{}", name.to_string_lossy());
                self.add_if_possible(Role::Preload, &name, &directory(schedule).join(path));
            }
        }
        Ok(())
    }

    fn add_runtime(&mut self) -> Result<()> {
        match runtime::find(None) {
            Ok(path) => self.add(Role::Runtime, "runtime.so", &path),
            Err(error) => {
                // A replay uses that machine's own runtime anyway, unless this one was special.
                self.missing.push(format!("the runtime: {error}"));
                Ok(())
            }
        }
    }

    fn add_inputs(&mut self, schedule: &Schedule, path: &Path) -> Result<()> {
        let directory = directory(schedule);
        match &schedule.stdin {
            Stdin::Null | Stdin::Bytes(_) => {}
            Stdin::File(file) => {
                self.add(Role::Stdin, "stdin", &directory.join(OsStr::from_bytes(file)))?;
            }
            Stdin::Beside(file) => {
                self.add(Role::Stdin, "stdin", &path.with_file_name(OsStr::from_bytes(file)))?;
            }
        }
        if let Some(file) = &schedule.expect.output {
            let file = directory.join(OsStr::from_bytes(file));
            self.add(Role::ExpectedOutput, "expected-output", &file)?;
        }
        for argument in schedule.command.iter().skip(1) {
            self.add_input(directory, Path::new(OsStr::from_bytes(argument)));
        }
        Ok(())
    }

    /// Adds what an argument names, if it names a file.
    fn add_input(&mut self, directory: &Path, argument: &Path) {
        let path = directory.join(argument);
        let Some(metadata) = path.metadata().ok().filter(fs::Metadata::is_file) else {
            return;
        };
        match argument.to_str().filter(|_| is_below(argument)) {
            Some(name) if metadata.len() <= LARGEST_INPUT => {
                self.add_if_possible(Role::Input, &format!("work/{name}"), &path);
            }
            Some(name) => self.missing.push(format!("{name}, which is too large for an input")),
            None => self.missing.push(format!("{}, which is not below the working directory", argument.display())),
        }
    }

    fn glibc(&self) -> Option<String> {
        let at = self.files.iter().position(|file| file.file == "lib/libc.so.6")?;
        glibc_version(&fs::read(&self.sources[at]).ok()?)
    }
}

/// Whether a path stays below the folder that it is relative to.
pub(super) fn is_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// The version in the sentence that every glibc prints when it is run.
fn glibc_version(library: &[u8]) -> Option<String> {
    const BEFORE: &[u8] = b" release version ";
    let at = library.windows(BEFORE.len()).position(|part| part == BEFORE)? + BEFORE.len();
    let rest = &library[at..];
    let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    let version = std::str::from_utf8(&rest[..end]).ok()?.trim_end_matches('.');
    (!version.is_empty()).then(|| version.to_owned())
}

/// Writes the archive beside its place and moves it there when it is whole.
fn write(manifest: &Manifest, sources: &[PathBuf], output: &Path) -> Result<()> {
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let what = || format!("{} cannot be written", output.display());
    let file = NamedTempFile::new_in(folder).with_context(what)?;
    let is_compressed = output.extension().is_some_and(|end| end == "gz" || end == "tgz");
    let mut buffer = BufWriter::new(file.as_file());
    if is_compressed {
        let mut encoder = GzEncoder::new(&mut buffer, Compression::default());
        archive(manifest, sources, &mut encoder).with_context(what)?;
        encoder.finish().with_context(what)?;
    } else {
        archive(manifest, sources, &mut buffer).with_context(what)?;
    }
    buffer.flush().with_context(what)?;
    drop(buffer);
    // A temporary file is private; a bundle is made to be handed on.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).with_context(what)?;
    file.persist(output).with_context(what)?;
    Ok(())
}

fn archive(manifest: &Manifest, sources: &[PathBuf], output: impl Write) -> Result<()> {
    let mut archive = tar::Builder::new(output);
    let text = serde_json::to_vec_pretty(manifest)?;
    append(&mut archive, NAME, 0o644, text.len() as u64, &text[..])?;
    for (file, source) in manifest.files.iter().zip(sources) {
        let mode = if file.role.is_code() { 0o755 } else { 0o644 };
        let contents = fs::File::open(source).with_context(|| format!("{} cannot be read", source.display()))?;
        append(&mut archive, &file.file, mode, file.size, contents)?;
    }
    archive.finish()?;
    Ok(())
}

/// Appends a file with nothing of this machine in its header: neither owner nor time.
fn append(
    archive: &mut tar::Builder<impl Write>,
    name: &str,
    mode: u32,
    size: u64,
    contents: impl std::io::Read,
) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    // Exactly the size that the header says, even if the file grows meanwhile.
    let mut contents = contents.take(size);
    archive.append_data(&mut header, format!("{FOLDER}/{name}"), &mut contents)?;
    ensure!(contents.limit() == 0, "{name} became shorter while it was packed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_c_library() {
        let text = b"GNU C Library (Debian GLIBC 2.36-9+deb12u13) stable release version 2.36.\nCopyright";
        assert_eq!(glibc_version(text).as_deref(), Some("2.36"));
        assert_eq!(glibc_version(b"musl"), None);
    }

    #[test]
    fn only_files_below_the_directory() {
        assert!(is_below(Path::new("data/input.txt")));
        for path in ["/etc/passwd", "../x", "a/../../x", ""] {
            assert!(!is_below(Path::new(path)), "{path}");
        }
    }
}
