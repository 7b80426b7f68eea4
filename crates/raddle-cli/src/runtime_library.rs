//! Where the library that is loaded into programs is found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file's name.
pub const FILE_NAME: &str = "libraddle_runtime.so";

/// The variable that names the file.
pub const VARIABLE: &str = "RADDLE_RUNTIME";

/// Why there is no runtime library.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// A file that was named is not there.
    #[error("there is no runtime library at {path} (from {origin}): {reason}")]
    Missing {
        /// The file.
        path: PathBuf,
        /// Who named it.
        origin: &'static str,
        /// Why not.
        reason: String,
    },
    /// It is in none of the usual places.
    #[error("the runtime library {FILE_NAME} was not found in {}; name it with --runtime or {VARIABLE}", list(.looked))]
    NotFound {
        /// Where it was looked for.
        looked: Vec<PathBuf>,
    },
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Finds the runtime library: the option, the variable, or near the executable.
pub fn find(option: Option<&Path>) -> Result<PathBuf, RuntimeError> {
    let executable = std::env::current_exe().unwrap_or_default();
    find_near(option, std::env::var_os(VARIABLE), &executable)
}

/// The runtime library that the user has named, by the option or the variable; `None` when raddle's
/// own is used.
pub fn named(option: Option<&Path>) -> Result<Option<PathBuf>, RuntimeError> {
    named_by(option, std::env::var_os(VARIABLE))
}

fn named_by(option: Option<&Path>, variable: Option<OsString>) -> Result<Option<PathBuf>, RuntimeError> {
    if let Some(path) = option {
        return existing(path, "--runtime").map(Some);
    }
    let variable = variable.filter(|value| !value.is_empty());
    variable.map(|path| existing(Path::new(&path), VARIABLE)).transpose()
}

fn find_near(option: Option<&Path>, variable: Option<OsString>, executable: &Path) -> Result<PathBuf, RuntimeError> {
    if let Some(path) = named_by(option, variable)? {
        return Ok(path);
    }
    let folder = executable.parent().unwrap_or(Path::new("/"));
    let above = folder.parent().unwrap_or(Path::new("/"));
    let folders = [folder.to_path_buf(), above.join("lib/raddle"), above.join("lib")];
    let found = folders.iter().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file());
    found.ok_or_else(|| RuntimeError::NotFound { looked: folders.to_vec() })
}

fn existing(path: &Path, origin: &'static str) -> Result<PathBuf, RuntimeError> {
    let missing = |reason: String| RuntimeError::Missing { path: path.to_path_buf(), origin, reason };
    match path.canonicalize() {
        Ok(found) if found.is_file() => Ok(found),
        Ok(_) => Err(missing("it is not a file".to_string())),
        Err(error) => Err(missing(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_next_to_the_executable_and_in_lib() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let executable = root.path().join("bin/raddle");
        let error = find_near(None, None, &executable).expect_err("is not there").to_string();
        assert!(error.contains("name it with --runtime or RADDLE_RUNTIME"), "{error}");
        for folder in ["lib", "lib/raddle", "bin"] {
            let folder = root.path().join(folder);
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(FILE_NAME), "").expect("a file");
            let found = find_near(None, None, &executable).expect("is there");
            assert_eq!(found, folder.join(FILE_NAME));
        }
    }

    #[test]
    fn a_file_that_was_named_must_exist() {
        let error = find_near(Some(Path::new("/no/such.so")), None, Path::new("/bin/raddle"));
        assert!(error.expect_err("is not there").to_string().contains("(from --runtime)"));
        let error = find_near(None, Some("/no/such.so".into()), Path::new("/bin/raddle"));
        assert!(error.expect_err("is not there").to_string().contains("(from RADDLE_RUNTIME)"));
    }
}
