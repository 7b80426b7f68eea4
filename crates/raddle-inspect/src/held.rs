//! A file of a program that is held open.
//!
//! Symbols are read when somebody asks for them, which may be long after a program was started. By then a
//! compiler may have put another build at the same path. What is read here is always the file that was
//! opened, or nothing.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ReadCache};

use super::debug_file;

/// What tells a file from its successor at the same path without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    modified: (i64, i64),
    length: u64,
}

impl Stamp {
    /// Of the file that is at a path now.
    pub(super) fn at(path: &Path) -> io::Result<Stamp> {
        Ok(Stamp::of(&std::fs::metadata(path)?))
    }

    fn of(data: &Metadata) -> Stamp {
        Stamp { device: data.dev(), inode: data.ino(), modified: (data.mtime(), data.mtime_nsec()), length: data.len() }
    }

    /// The size of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
}

/// A file that is held open.
#[derive(Debug)]
pub(super) struct Held {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    build_id: Option<Vec<u8>>,
    /// The separate file with debug information, when the file itself has been stripped.
    debug: OnceLock<Option<PathBuf>>,
}

impl Held {
    /// Opens the file at a path.
    pub(super) fn open(path: &Path) -> io::Result<Held> {
        let file = File::open(path)?;
        let stamp = Stamp::of(&file.metadata()?);
        let build_id = build_id(&file);
        Ok(Held { path: path.to_path_buf(), file, stamp, build_id, debug: OnceLock::new() })
    }

    /// What the file was when it was opened.
    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    pub(super) fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// A path that leads to the file that was opened; `None` when that was written over.
    pub(super) fn path(&self) -> Option<PathBuf> {
        if Stamp::at(&self.path).is_ok_and(|now| now == self.stamp) {
            return Some(self.path.clone());
        }
        let unchanged = self.file.metadata().is_ok_and(|data| Stamp::of(&data) == self.stamp);
        unchanged.then(|| PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd())))
    }

    /// Where its debug information is: in a separate file if there is one.
    pub(super) fn debug_path(&self) -> Option<PathBuf> {
        self.separate().cloned().or_else(|| self.path())
    }

    /// The separate file with the debug information that was stripped from it.
    pub(super) fn separate(&self) -> Option<&PathBuf> {
        self.debug.get_or_init(|| debug_file::find(&self.path()?, &self.path)).as_ref()
    }
}

fn build_id(file: &File) -> Option<Vec<u8>> {
    let cache = ReadCache::new(file);
    let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    elf.build_id().ok().flatten().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_replaced_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, "old").unwrap();
        let held = Held::open(&path).unwrap();
        assert_eq!(held.path().as_ref(), Some(&path));
        // As linkers do it: a new file under the old name.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "newer").unwrap();
        assert_eq!(std::fs::read(held.path().unwrap()).unwrap(), b"old");
        assert_ne!(Stamp::at(&path).unwrap(), held.stamp());
    }

    #[test]
    fn a_file_that_is_written_over_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        std::fs::write(&path, "old").unwrap();
        let held = Held::open(&path).unwrap();
        std::fs::write(&path, "newer").unwrap();
        assert_eq!(held.path(), None);
    }

    #[test]
    fn a_program_has_a_build_id() {
        let this = std::env::current_exe().unwrap();
        let held = Held::open(&this).unwrap();
        assert_eq!(held.build_id(), debug_file::build_id_of(&this).as_deref());
    }
}
