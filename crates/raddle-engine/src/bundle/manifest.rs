//! What is in a bundle: `raddle-bundle/manifest.json`.

use serde::{Deserialize, Serialize};

/// The folder of the archive that everything is in.
pub(super) const FOLDER: &str = "raddle-bundle";
/// The name of the manifest in it.
pub(super) const NAME: &str = "manifest.json";
/// The version of the format that this raddle writes, and the latest that it reads.
pub(super) const VERSION: u32 = 1;

/// The list of what is in a bundle and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format.
    pub version: u32,
    /// The version of raddle that packed it.
    pub raddle: String,
    /// The path of the loader that the program names.
    pub loader: String,
    /// The version of the C library, such as `2.36`, if it is glibc.
    pub glibc: Option<String>,
    /// All files.
    pub files: Vec<File>,
    /// What should be in it but could not be packed, in words.
    pub missing: Vec<String>,
}

impl Manifest {
    /// The only file of a role.
    pub(super) fn one(&self, role: Role) -> Option<&File> {
        self.files.iter().find(|file| file.role == role)
    }
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its path in the bundle.
    pub file: String,
    /// What it is for.
    pub role: Role,
    /// Where it came from.
    pub from: String,
    /// Its build-id; for a file without one, the hash of its contents.
    pub identity: String,
    /// The hash of its contents.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
}

/// What a file of a bundle is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The recorded schedule.
    Schedule,
    Program,
    /// The dynamic loader.
    Loader,
    /// A library that belongs to the loader: all of them must come from one machine.
    CLibrary,
    /// Any other library.
    Library,
    /// A library that the user had in `LD_PRELOAD`.
    Preload,
    /// raddle's runtime.
    Runtime,
    /// Standard input.
    Stdin,
    /// The standard output of a good run.
    ExpectedOutput,
    /// A file that the command line names, relative to the working directory.
    Input,
}

impl Role {
    /// Whether the system must be allowed to execute or map it.
    pub(super) fn is_code(self) -> bool {
        matches!(self, Role::Program | Role::Loader | Role::CLibrary | Role::Library | Role::Preload | Role::Runtime)
    }
}

/// Whether a library is part of glibc, by its name.
pub(super) fn is_c_library(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "libc.so.",
        "libm.so.",
        "libmvec.so.",
        "libpthread.so.",
        "libdl.so.",
        "librt.so.",
        "libutil.so.",
        "libresolv.so.",
        "libanl.so.",
        "libnss_",
        "libthread_db.so.",
        "libBrokenLocale.so.",
        "libc_malloc_debug.so.",
    ];
    PARTS.iter().any(|part| name.starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_loader() {
        assert!(is_c_library("libc.so.6") && is_c_library("libpthread.so.0"));
        assert!(!is_c_library("libc++.so.1") && !is_c_library("libcrypt.so.1"));
    }
}
