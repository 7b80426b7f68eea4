//! A folder for the library and the header that is the user's own, and the files in it.
//!
//! A library that is loaded into a program, or a header that is compiled into it, can do everything that the user can. So
//! no other user may be able to write to the folder or the file, and the file is compared with the embedded bytes before
//! each use.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};
use rustix::process::Uid;

/// The bits of a mode that let other users write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Libraries of other builds are removed after this time without use.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is a symbolic link or a file.
    #[error("{path} is not a folder (symbolic links are not followed)")]
    NotAFolder {
        /// The folder.
        path: PathBuf,
    },
    /// It belongs to another user.
    #[error("{path} belongs to user {owner}, not to user {user}")]
    Foreign {
        /// The folder.
        path: PathBuf,
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Other users could replace the library.
    #[error("{path} is writable by other users (mode {mode:o}); run `chmod 700` on it")]
    WritableByOthers {
        /// The folder.
        path: PathBuf,
        mode: u32,
    },
    /// Files in it cannot be mapped as code.
    #[error("libraries in {path} cannot be loaded ({source}); is it mounted with noexec?")]
    NotLoadable {
        /// The folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Lists of folders for headers are separated by colons.
    #[error("{path} has a colon in its name, so it cannot stand in C_INCLUDE_PATH")]
    Colon {
        /// The folder.
        path: PathBuf,
    },
    /// The folder or the file in it cannot be created.
    #[error("{path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// How a file came to be there.
enum State {
    /// It was there.
    Intact,
    /// It was missing or damaged.
    Written,
}

/// A folder that the library can lie in.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The folders to try, the best first.
pub fn candidates(user: Uid, variable: impl Fn(&str) -> Option<OsString>, temporary: &Path) -> Vec<Folder> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let folder = |name| variable(name).map(PathBuf::from).filter(absolute);
    let cache = folder("XDG_CACHE_HOME").map(|cache| cache.join("raddle"));
    let home = folder("HOME").map(|home| home.join(".cache/raddle"));
    let temporary = Some(temporary.join(format!("raddle-{user}"))).filter(absolute);
    [cache, home, temporary].into_iter().flatten().map(|path| Folder { path }).collect()
}

impl Folder {
    #[cfg(test)]
    pub fn at(path: PathBuf) -> Folder {
        Folder { path }
    }

    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a library in this folder with this content.
    pub fn provide(&self, name: &str, content: &[u8], user: Uid) -> Result<PathBuf, Refusal> {
        let (path, state) = self.place(name, content, user)?;
        match state {
            State::Intact => keep_young(&path),
            State::Written => self.remove_unused(name),
        }
        load(&path).map_err(|source| Refusal::NotLoadable { path: self.path.clone(), source })?;
        Ok(path)
    }

    /// The path of a file in this folder with this content. A file that is intact keeps its time of modification.
    pub fn keep(&self, name: &str, content: &[u8], user: Uid) -> Result<PathBuf, Refusal> {
        Ok(self.place(name, content, user)?.0)
    }

    fn place(&self, name: &str, content: &[u8], user: Uid) -> Result<(PathBuf, State), Refusal> {
        let failed = |source| Refusal::Io { path: self.path.clone(), source };
        self.create().map_err(failed)?;
        self.check(user)?;
        let path = self.path.join(name);
        // A file that cannot be read is treated as damaged. If it cannot be replaced either, that is the error.
        if is_intact(&path, content, user).unwrap_or(false) {
            return Ok((path, State::Intact));
        }
        self.write(&path, name, content).map_err(failed)?;
        Ok((path, State::Written))
    }

    /// A folder inside of this one, which is as safe.
    pub fn inner(&self, name: &Path, user: Uid) -> Result<Folder, Refusal> {
        self.create().map_err(|source| Refusal::Io { path: self.path.clone(), source })?;
        self.check(user)?;
        Ok(Folder { path: self.path.join(name) })
    }

    /// Refuses a folder that cannot stand in a list.
    pub fn refuse_colon(&self) -> Result<(), Refusal> {
        match self.path.as_os_str().as_encoded_bytes().contains(&b':') {
            true => Err(Refusal::Colon { path: self.path.clone() }),
            false => Ok(()),
        }
    }

    pub fn into_path(self) -> PathBuf {
        self.path
    }

    /// Creates the folder and its parent, but nothing above: a home that does not exist is not created.
    fn create(&self) -> io::Result<()> {
        let folders = self.path.parent().into_iter().chain([&*self.path]);
        for folder in folders.filter(|folder| !folder.exists()) {
            match DirBuilder::new().mode(0o700).create(folder) {
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => result?,
            }
        }
        Ok(())
    }

    fn check(&self, user: Uid) -> Result<(), Refusal> {
        let path = || self.path.clone();
        let metadata = fs::symlink_metadata(&self.path).map_err(|source| Refusal::Io { path: path(), source })?;
        let (owner, user, mode) = (metadata.uid(), user.as_raw(), metadata.mode() & 0o7777);
        if !metadata.is_dir() {
            return Err(Refusal::NotAFolder { path: path() });
        }
        if owner != user {
            return Err(Refusal::Foreign { path: path(), owner, user });
        }
        if mode & WRITABLE_BY_OTHERS != 0 {
            return Err(Refusal::WritableByOthers { path: path(), mode });
        }
        Ok(())
    }

    /// Puts the file in place in one step: a reader finds either the old file or all of the new one.
    fn write(&self, path: &Path, name: &str, content: &[u8]) -> io::Result<()> {
        let (prefix, read_only) = (format!(".{name}-"), Permissions::from_mode(0o400));
        let mut file = tempfile::Builder::new().prefix(&prefix).permissions(read_only).tempfile_in(&self.path)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    }

    /// Removes files that other builds, or processes that were killed, left here. A failure does not matter: the next
    /// build tries again.
    fn remove_unused(&self, name: &str) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let is_ours = file.to_string_lossy().trim_start_matches('.').starts_with("libraddle_runtime");
            let age = entry.metadata().and_then(|metadata| metadata.modified()).map(age);
            if is_ours && file != name && age.is_ok_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn age(time: SystemTime) -> Duration {
    SystemTime::now().duration_since(time).unwrap_or_default()
}

/// Whether the file has this content and only the user can change it.
fn is_intact(path: &Path, content: &[u8], user: Uid) -> io::Result<bool> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    let is_ours = metadata.is_file() && metadata.uid() == user.as_raw() && metadata.mode() & WRITABLE_BY_OTHERS == 0;
    if !is_ours || metadata.len() != content.len() as u64 || !has_content(&mut file, content)? {
        return Ok(false);
    }
    Ok(true)
}

/// A file that is in use stays young, so that `remove_unused` leaves it. If its time cannot be changed, a raddle of
/// another build may remove it one day, and this one writes it again.
fn keep_young(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    if file.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| age(time) > DAY) {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn has_content(file: &mut File, content: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 16];
    for expected in content.chunks(buffer.len()) {
        let found = &mut buffer[..expected.len()];
        file.read_exact(found)?;
        if found != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Maps the beginning of a file as code, as ld.so will. Where the file lies decides whether the kernel lets it.
fn load(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let size = 1;
    // SAFETY: a new mapping, at an address that the kernel chooses, that is never read.
    unsafe {
        let at = mmap(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::EXEC, MapFlags::PRIVATE, &file, 0)?;
        munmap(at, size)?;
    }
    Ok(())
}
