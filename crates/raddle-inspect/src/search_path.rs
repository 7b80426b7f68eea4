//! Finding a command as `execvp` does.

use std::env;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What `execvp` searches when PATH is not set (glibc's `confstr(_CS_PATH)`).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Finds a command as `execvp` would: a name with a slash is a path, any other name is looked up in
/// PATH.
///
/// Returns `None` when nothing of that name can be executed. A path with a slash is returned when it
/// exists, executable or not, so that [`inspect`](super::elf::inspect) can say what is wrong with it.
pub fn find_in_path(name: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return path.symlink_metadata().is_ok().then_some(path);
    }
    let path = env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    find_in(&path, name)
}

/// A file of that name in this directory, which a shell would find as `./NAME` only.
pub fn find_here(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(".").join(name);
    (!name.is_empty() && !name.as_bytes().contains(&b'/') && path.is_file()).then_some(path)
}

/// What a person types to start the program that a shim stands for. Version managers such as pyenv and rbenv have
/// folders `shims`, with a script of its name for each program. `None`: it is no such script.
pub fn program_behind(shim: &Path) -> Option<String> {
    let folder = shim.parent().filter(|folder| folder.ends_with("shims"))?;
    let name = shim.file_name()?.to_str()?;
    let manager = folder.parent()?.file_name()?.to_str()?.trim_start_matches('.');
    Some(format!("\"$({manager} which {name})\""))
}

fn find_in(path: &OsStr, name: &OsStr) -> Option<PathBuf> {
    env::split_paths(path)
        // An empty entry means the working directory, which must be spelt out: `execve` of a name
        // without a slash works, but it would be looked up in PATH again by whoever we hand it to.
        .map(|folder| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder })
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file() && is_executable(candidate))
}

/// Whether this process, with its effective ids, may execute the file.
pub fn is_executable(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path is a valid C string for the duration of the call.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn file(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn the_first_executable_file_wins() {
        let first = tempfile::tempdir().unwrap();
        let second = tempfile::tempdir().unwrap();
        file(first.path(), "tool", 0o644);
        let wanted = file(second.path(), "tool", 0o755);
        let path = env::join_paths([first.path(), second.path()]).unwrap();
        assert_eq!(find_in(&path, OsStr::new("tool")), Some(wanted));
    }

    #[test]
    fn a_shim_stands_for_a_program() {
        let behind = |path: &str| program_behind(Path::new(path));
        assert_eq!(behind("/home/ada/.pyenv/shims/python3").as_deref(), Some("\"$(pyenv which python3)\""));
        assert_eq!(behind("/opt/rbenv/shims/ruby").as_deref(), Some("\"$(rbenv which ruby)\""));
        assert_eq!(behind("/usr/bin/python3"), None);
    }

    #[test]
    fn a_directory_is_no_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tool")).unwrap();
        assert_eq!(find_in(folder.path().as_os_str(), OsStr::new("tool")), None);
    }

    #[test]
    fn a_name_with_a_slash_is_not_searched() {
        assert_eq!(find_in_path(OsStr::new("./no/such/file")), None);
        assert_eq!(find_in_path(OsStr::new("/bin/sh")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find_in_path(OsStr::new("")), None);
    }
}
