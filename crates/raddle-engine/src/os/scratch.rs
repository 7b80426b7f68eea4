//! The temporary directories of a campaign: for each job a TMPDIR and, when asked for, a working
//! directory, both emptied between runs. Their paths have the same length for every job, so that
//! the environment of all runs has the same size.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

use super::sys;

/// How the names of roots begin.
const PREFIX: &str = "raddle-";

/// How many random letters follow.
const LETTERS: usize = 6;

/// A file in each root that its campaign holds a lock on: when a campaign is killed, the kernel lets go of it.
const LOCK: &str = "lock";

/// The root of a campaign's temporary directories; dropping it removes all of them.
#[derive(Debug)]
pub struct Scratch {
    root: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes the root in the system's temporary directory, from which what killed campaigns have left is removed first.
    pub fn new() -> io::Result<Scratch> {
        static SWEPT: Once = Once::new();
        let folder = std::env::temp_dir();
        SWEPT.call_once(|| sweep(&folder));
        Scratch::in_folder(&folder)
    }

    fn in_folder(folder: &Path) -> io::Result<Scratch> {
        let root = tempfile::Builder::new().prefix(PREFIX).rand_bytes(LETTERS).tempdir_in(folder)?;
        // It gets its name when it is locked: who sweeps takes one that is not for left behind.
        let unnamed = root.path().join("new");
        let lock = File::create(&unnamed)?;
        sys::lock(&lock)?;
        fs::rename(&unnamed, root.path().join(LOCK))?;
        Ok(Scratch { root, _lock: lock })
    }

    /// The directories of a job.
    pub fn job(&self, index: usize) -> io::Result<JobScratch> {
        let scratch = JobScratch {
            tmp: self.root.path().join(format!("tmp-{index:04}")),
            cwd: self.root.path().join(format!("cwd-{index:04}")),
        };
        make(&scratch.tmp)?;
        make(&scratch.cwd)?;
        Ok(scratch)
    }

    /// A path for a library that LD_PRELOAD can name: it splits at spaces and colons, so a library
    /// with such a path gets a link.
    pub fn preloadable(&self, library: &Path) -> io::Result<PathBuf> {
        // What the path of a descriptor leads to has no path of its own.
        if library.starts_with("/proc") {
            return Ok(library.to_path_buf());
        }
        let absolute = fs::canonicalize(library)?;
        if !absolute.to_string_lossy().contains([' ', ':']) {
            return Ok(absolute);
        }
        let name = library.file_name().unwrap_or("runtime.so".as_ref());
        let link = self.root.path().join(name.to_string_lossy().replace([' ', ':'], "_"));
        match std::os::unix::fs::symlink(&absolute, &link) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(link),
        }
    }
}

/// The directories of one job.
#[derive(Clone, Debug)]
pub struct JobScratch {
    pub tmp: PathBuf,
    /// The working directory of `--own-cwd`.
    pub cwd: PathBuf,
}

impl JobScratch {
    /// Directories of their own for a run that a job makes beside its other ones, with paths of the same length.
    pub fn beside(&self) -> io::Result<JobScratch> {
        let renamed = |path: &Path, from: &str, to: &str| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().replacen(from, to, 1);
            path.with_file_name(name)
        };
        let other = JobScratch { tmp: renamed(&self.tmp, "tmp", "tmq"), cwd: renamed(&self.cwd, "cwd", "cwe") };
        for path in [&other.tmp, &other.cwd] {
            if !path.is_dir() {
                make(path)?;
            }
        }
        Ok(other)
    }

    /// Empties them; the working directory only if it is used.
    pub fn clean(&self, own_directory: bool) -> io::Result<()> {
        empty(&self.tmp)?;
        if own_directory {
            empty(&self.cwd)?;
        }
        Ok(())
    }
}

/// Removes the roots of campaigns that were killed. Others' are left alone, and so is what does not look like a root.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_root(&path) && File::open(path.join(LOCK)).is_ok_and(|lock| sys::lock(&lock).is_ok()) {
            open_up(&path);
            // Another campaign may sweep, too.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_root(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let letters = name
        .strip_prefix(PREFIX)
        .is_some_and(|letters| letters.len() == LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    // SAFETY: only asks.
    let own = |metadata: fs::Metadata| metadata.is_dir() && metadata.uid() == unsafe { libc::geteuid() };
    letters && path.symlink_metadata().is_ok_and(own)
}

fn make(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Most runs leave nothing behind, and looking costs a tenth of making a directory.
fn empty(path: &Path) -> io::Result<()> {
    match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return make(path),
        _ => {}
    }
    open_up(path);
    fs::remove_dir_all(path)?;
    make(path)
}

/// Makes directories writable that a run has locked, so that they can be removed.
fn open_up(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn is_emptied_whatever_a_run_left_there() {
        let scratch = Scratch::new().expect("a root");
        let job = scratch.job(0).expect("directories");
        let locked = job.tmp.join("locked");
        fs::create_dir(&locked).expect("a directory");
        fs::write(locked.join("file"), "x").expect("a file");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).expect("locked");
        fs::remove_dir(&job.cwd).expect("a run may remove it");
        job.clean(true).expect("cleaned");
        assert_eq!(fs::read_dir(&job.tmp).expect("is there").count(), 0);
        assert!(job.cwd.is_dir());
    }

    #[test]
    fn what_a_killed_campaign_left_is_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let alive = Scratch::in_folder(folder.path()).expect("a root");
        let dead = Scratch::in_folder(folder.path()).expect("a root");
        let job = dead.job(0).expect("directories");
        fs::write(job.tmp.join("file"), "x").expect("a file");
        // As the kernel does it for a process that ends.
        let Scratch { root, _lock } = dead;
        let dead = root.keep();
        drop(_lock);
        let others = ["raddle-cc-ABC", "raddle-abcdef", "raddle-abcdefg"].map(|name| folder.path().join(name));
        others.iter().for_each(|other| fs::create_dir(other).expect("a folder"));
        sweep(folder.path());
        assert!(!dead.exists() && alive.root.path().exists() && others.iter().all(|other| other.exists()));
    }

    #[test]
    fn all_jobs_have_paths_of_one_length() {
        let scratch = Scratch::new().expect("a root");
        let (first, last) = (scratch.job(0).expect("made"), scratch.job(1023).expect("made"));
        assert_eq!(first.tmp.as_os_str().len(), last.tmp.as_os_str().len());
        assert_ne!(first.tmp, last.tmp);
        let beside = first.beside().expect("made");
        assert_eq!(first.tmp.as_os_str().len(), beside.tmp.as_os_str().len());
        assert!(beside.tmp != first.tmp && beside.cwd != first.cwd && beside.cwd.is_dir());
    }

    #[test]
    fn a_library_in_a_folder_with_spaces_gets_a_link() {
        let scratch = Scratch::new().expect("a root");
        let folder = scratch.root.path().join("my: folder");
        fs::create_dir(&folder).expect("a folder");
        let library = folder.join("lib.so");
        fs::write(&library, "x").expect("a file");
        let link = scratch.preloadable(&library).expect("a link");
        assert!(!link.to_string_lossy().contains([' ', ':']));
        assert_eq!(fs::read(&link).expect("leads there"), b"x");
    }
}
