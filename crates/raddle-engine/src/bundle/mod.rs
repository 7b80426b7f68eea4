//! A failure packed so that it replays elsewhere.
//!
//! A bundle is a tar archive (compressed if its name ends in `.gz` or `.tgz`) with the schedule, the
//! program, every shared library that the program loads when it starts, its loader, the runtime, and
//! the inputs that the schedule knows of: standard input, the expected output, and files below the
//! working directory that the command line names. `raddle-bundle/manifest.json`, its first entry,
//! says of each file where it came from and which build it is.
//!
//! What it cannot know: libraries that the program opens later (`dlopen`, name services), and files
//! that it opens without being told on the command line.
//!
//! # How a bundled program is run
//!
//! The C library and the loader belong together: a `libc.so.6` does not work under the loader of
//! another version, and the loader's path is written into the program. So there are two ways, and
//! [`open`] chooses:
//!
//! - **By this machine's loader and C library**, with `LD_LIBRARY_PATH` leading to the other
//!   libraries of the bundle, when this machine's C library is the same or newer: glibc runs what
//!   was built for older versions. The program is started as usual, and its addresses are laid out as
//!   they were. ([`Opened::interpreter`] is `None`.)
//! - **By the bundle's loader and C library** when this machine's are older or of another kind:
//!   `ld-linux-x86-64.so.2 --library-path LIB --argv0 NAME PROGRAM …`. The loader honours
//!   `LD_PRELOAD`, so the runtime gets in all the same, and programs that the program starts are not
//!   affected, as they would be by `LD_LIBRARY_PATH`. What differs is `/proc/self/exe` and where a
//!   position-independent program lies. ([`Opened::interpreter`] is that loader.)
//!
//! [`Opened::command`] makes the command line for either way. The unpacked schedule is rewritten to
//! fit: standard input, expected output, `LD_LIBRARY_PATH`, the user's own `LD_PRELOAD` and, if it
//! does not exist here, the working directory.

mod manifest;
mod pack;
mod unpack;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

pub use manifest::{File, Manifest, Role};

use raddle_inspect::build_id::build_id;
use raddle_inspect::elf::is_asan;

/// A bundle that was unpacked. The files live as long as this does.
#[derive(Debug)]
pub struct Opened {
    /// The schedule file, rewritten for this machine.
    pub schedule: PathBuf,
    pub program: PathBuf,
    /// The folder with the libraries.
    pub library_path: PathBuf,
    /// The loader that must start the program, if this machine's own cannot.
    pub interpreter: Option<PathBuf>,
    /// The runtime that recorded the failure. It fits only the version of raddle that it came with.
    pub runtime: Option<PathBuf>,
    /// What was packed.
    pub manifest: Manifest,
    /// Where everything was unpacked to.
    pub directory: TempDir,
}

impl Opened {
    /// The file to execute and the arguments (the first of them the program's name) that run the
    /// bundled program with these arguments of its own.
    pub fn command(&self, name: &OsStr, arguments: &[OsString]) -> (PathBuf, Vec<OsString>) {
        let own = arguments.iter().cloned();
        let Some(loader) = &self.interpreter else {
            return (self.program.clone(), [name.to_owned()].into_iter().chain(own).collect());
        };
        let mut words: Vec<OsString> = vec![loader.into(), "--library-path".into(), self.library_path.clone().into()];
        if unpack::knows_argv0(loader) {
            words.extend(["--argv0".into(), name.to_owned()]);
        }
        words.push(self.program.clone().into());
        words.extend(own);
        (loader.clone(), words)
    }

    /// The libraries that must come before the runtime in `LD_PRELOAD`; see
    /// [`Program::preload_first`](raddle_inspect::elf::Program::preload_first).
    pub fn preload_first(&self) -> Vec<PathBuf> {
        let libraries = self.manifest.files.iter().filter(|file| file.role == Role::Library);
        let paths = libraries.map(|file| self.directory.path().join(&file.file));
        paths.filter(|path| path.file_name().is_some_and(|name| is_asan(&name.to_string_lossy()))).collect()
    }

    /// What this machine has in another build than the one where the failure was recorded, in
    /// words; only for what is used from this machine.
    pub fn differences(&self) -> Vec<String> {
        let uses_ours = |file: &&File| file.role == Role::CLibrary && self.interpreter.is_none();
        self.manifest.files.iter().filter(uses_ours).filter_map(difference).collect()
    }
}

fn difference(file: &File) -> Option<String> {
    match build_id(Path::new(&file.from)) {
        Ok(ours) if ours == file.identity => None,
        Ok(ours) => Some(format!("{} is a different build here: {ours}, recorded with {}", file.from, file.identity)),
        Err(error) => {
            Some(format!("{} cannot be read here ({error}); recorded with build {}", file.from, file.identity))
        }
    }
}

/// Why a bundle cannot be made or opened.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub struct BundleError(anyhow::Error);

/// Packs a failure with all that it needs; says what was packed.
pub fn pack(schedule: &Path, output: &Path) -> Result<Manifest, BundleError> {
    let packed = pack::pack(schedule, output).with_context(|| format!("cannot bundle {}", schedule.display()));
    packed.map_err(BundleError)
}

/// Unpacks a bundle into a temporary folder; `None` if the file is not a bundle.
pub fn open(path: &Path) -> Result<Option<Opened>, BundleError> {
    unpack::open(path).with_context(|| format!("cannot open the bundle {}", path.display())).map_err(BundleError)
}
