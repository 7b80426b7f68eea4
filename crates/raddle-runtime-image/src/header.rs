//! The header for C and C++, and a folder for compilers to find it in.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use rustix::process::{geteuid, Uid};

use crate::folder::{self, Folder, Refusal};
use crate::list;

/// `raddle.h`, for tests that run many schedules in one process.
pub static HEADER: Header = Header { text: include_str!("../raddle.h") };

/// A header that is part of this program.
#[derive(Debug)]
pub struct Header {
    text: &'static str,
}

/// Why there is no folder with the header.
#[derive(Debug, thiserror::Error)]
#[error("cannot write raddle.h to a folder ({}); set XDG_CACHE_HOME to a folder that you own", list(.refusals))]
pub struct NoFolder {
    refusals: Vec<Refusal>,
}

impl Header {
    /// The name of the file.
    pub const NAME: &str = "raddle.h";

    /// The content of the header.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// A folder that has the header and nothing else. It lies in the folder for the library, and its path has no colon,
    /// so that it can stand in variables such as `C_INCLUDE_PATH`.
    ///
    /// An existing file is compared with the embedded text, and replaced if it is damaged. An intact one keeps its time
    /// of modification, which build systems compare with the times of what they have built.
    pub fn folder(&self) -> Result<PathBuf, NoFolder> {
        let user = geteuid();
        self.folder_in(&folder::candidates(user, |name| std::env::var_os(name), &std::env::temp_dir()), user)
    }

    pub(crate) fn folder_in(&self, folders: &[Folder], user: Uid) -> Result<PathBuf, NoFolder> {
        let mut refusals = Vec::new();
        for folder in folders {
            match self.provide(folder, user) {
                Ok(path) => return Ok(path),
                Err(refusal) => refusals.push(refusal),
            }
        }
        Err(NoFolder { refusals })
    }

    /// Headers of several builds lie in folders of their own, and stay: a build directory may name one for years.
    fn provide(&self, folder: &Folder, user: Uid) -> Result<PathBuf, Refusal> {
        folder.refuse_colon()?;
        let mut hasher = DefaultHasher::new();
        hasher.write(self.text.as_bytes());
        let inner = folder.inner(Path::new(&format!("include-{:016x}", hasher.finish())), user)?;
        inner.keep(Self::NAME, self.text.as_bytes(), user)?;
        Ok(inner.into_path())
    }
}
