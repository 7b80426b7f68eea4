//! The runtime library, embedded: the build script builds it, [`RUNTIME`] has its bytes, and [`Image::file`] gives the
//! path of a file with these bytes, to be named in `LD_PRELOAD`. In the same way [`HEADER`] is `raddle.h`, and
//! [`Header::folder`] gives a folder for compilers to find it in.
//!
//! | module | one idea |
//! |---|---|
//! | `folder` | the cache folder: whom it belongs to, what is in it |
//! | `header` | `raddle.h`, in the cache folder |
//! | `memory` | a file in memory, where no folder can be used |
//! | `origin` | which build a runtime library comes from, read from its file |

mod folder;
mod header;
mod memory;
mod origin;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::{geteuid, Uid};

use folder::Folder;
pub use folder::Refusal;
pub use header::{Header, NoFolder, HEADER};
use memory::MemoryFile;
pub use origin::{check_layout, LayoutError, Origin};

/// The runtime library that comes with raddle.
pub static RUNTIME: Image = Image {
    name: "libraddle_runtime",
    hash: env!("LIBRADDLE_RUNTIME_HASH"),
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_runtime.so")),
};

/// The same runtime, which compares its books with each other after every decision.
#[cfg(feature = "verify")]
pub static VERIFY: Image = Image {
    name: "libraddle_runtime_verify",
    hash: env!("LIBRADDLE_RUNTIME_VERIFY_HASH"),
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_runtime_verify.so")),
};

/// A shared library that is part of this program.
#[derive(Debug)]
pub struct Image {
    name: &'static str,
    hash: &'static str,
    bytes: &'static [u8],
}

/// A file that has the bytes of an image. Keep it for as long as programs are started with its path: a file in memory
/// disappears with the last clone.
#[derive(Clone, Debug)]
pub struct Library {
    path: PathBuf,
    memory: Option<Arc<MemoryFile>>,
    refusals: Arc<[Refusal]>,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write the runtime library to a folder ({}) or to memory ({source}); set XDG_CACHE_HOME to a folder that you \
     own",
    list(.refusals)
)]
pub struct NoFile {
    refusals: Vec<Refusal>,
    source: io::Error,
}

fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("; ")
}

impl Image {
    /// The content of the library.
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }

    /// The name of its file. It begins with `libraddle_runtime` and has a hash of the content, so that several builds
    /// of raddle share a folder.
    pub fn file_name(&self) -> String {
        format!("{}-{}.so", self.name, self.hash)
    }

    /// A file with these bytes: in `$XDG_CACHE_HOME/raddle`, in `~/.cache/raddle`, or in a private folder in the temporary
    /// directory. If libraries cannot be loaded from any of these, the file lies in memory.
    ///
    /// An existing file is compared with the embedded bytes, and replaced if it is damaged.
    pub fn file(&self) -> Result<Library, NoFile> {
        let user = geteuid();
        self.file_in(&folder::candidates(user, |name| std::env::var_os(name), &std::env::temp_dir()), user)
    }

    fn file_in(&self, folders: &[Folder], user: Uid) -> Result<Library, NoFile> {
        let mut refusals = Vec::new();
        for folder in folders {
            match folder.provide(&self.file_name(), self.bytes, user) {
                Ok(path) => return Ok(Library { path, memory: None, refusals: refusals.into() }),
                Err(refusal) => refusals.push(refusal),
            }
        }
        match MemoryFile::new(&self.file_name(), self.bytes) {
            Ok(file) => {
                let path = file.path();
                Ok(Library { path, memory: Some(Arc::new(file)), refusals: refusals.into() })
            }
            Err(source) => Err(NoFile { refusals, source }),
        }
    }
}

impl Library {
    /// The path, for `LD_PRELOAD`. It may contain spaces and colons, at which ld.so splits the variable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file lies in memory. Its path then has the number of this process, which must not end before the
    /// programs have started.
    pub fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The folders that were tried first, and why they are not used.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }
}

#[cfg(test)]
mod tests;
