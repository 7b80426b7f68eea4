//! The library that is loaded into programs: raddle's own, which is embedded, or one that the user names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use raddle_runtime_image::{check_layout, LayoutError, Library, NoFile, RUNTIME};

/// The variable that names another library.
pub const VARIABLE: &str = "RADDLE_RUNTIME";

/// Why there is no runtime library.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// A file that was named is not there.
    #[error("there is no runtime library at {path} (from {origin}): {reason}")]
    Missing {
        /// The file.
        path: PathBuf,
        /// What named it.
        origin: &'static str,
        /// Why not.
        reason: String,
    },
    /// A file that was named is of another build.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The embedded library cannot be written anywhere.
    #[error(transparent)]
    NoFile(#[from] NoFile),
}

/// Where a runtime library comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is embedded in this program; the path is that of a copy, which may lie in memory.
    Embedded {
        /// The folders that were tried first, and why they are not used.
        refused: Vec<String>,
    },
    /// The option or the variable names it.
    Named,
}

/// Finds the runtime library: the one that the option or the variable names, or else raddle's own.
pub fn find(option: Option<&Path>) -> Result<PathBuf, RuntimeError> {
    Ok(locate(option)?.0)
}

/// The same, and where it comes from.
pub fn locate(option: Option<&Path>) -> Result<(PathBuf, Source), RuntimeError> {
    if let Some(path) = named(option)? {
        return Ok((path, Source::Named));
    }
    let library = embedded()?;
    let refused = library.refusals().iter().map(ToString::to_string).collect();
    Ok((library.path().to_path_buf(), Source::Embedded { refused }))
}

/// A file in memory is there for as long as its descriptor is.
fn embedded() -> Result<Library, NoFile> {
    static IN_MEMORY: OnceLock<Library> = OnceLock::new();
    if let Some(library) = IN_MEMORY.get() {
        return Ok(library.clone());
    }
    let library = RUNTIME.file()?;
    Ok(if library.is_in_memory() { IN_MEMORY.get_or_init(|| library).clone() } else { library })
}

/// The runtime library that the user has named, by the option or the variable; `None` when raddle's
/// own is used.
pub fn named(option: Option<&Path>) -> Result<Option<PathBuf>, RuntimeError> {
    named_by(option, std::env::var_os(VARIABLE))
}

fn named_by(option: Option<&Path>, variable: Option<OsString>) -> Result<Option<PathBuf>, RuntimeError> {
    let variable = variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    let (path, origin) = match (option, &variable) {
        (Some(path), _) => (path, "--runtime"),
        (None, Some(path)) => (path.as_path(), VARIABLE),
        (None, None) => return Ok(None),
    };
    let path = existing(path, origin)?;
    check_layout(&path)?;
    Ok(Some(path))
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
    fn a_file_that_was_named_must_exist() {
        let error = named_by(Some(Path::new("/no/such.so")), None);
        assert!(error.expect_err("is not there").to_string().contains("(from --runtime)"));
        let error = named_by(None, Some("/no/such.so".into()));
        assert!(error.expect_err("is not there").to_string().contains("(from RADDLE_RUNTIME)"));
        assert_eq!(named_by(None, Some("".into())).expect("names nothing"), None);
    }
}
