//! The commands, one file each.

pub(crate) mod bundle;
pub mod compare;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod dry_run;
pub(crate) mod header;
pub(crate) mod man;
pub(crate) mod policies;
pub(crate) mod replay;
pub(crate) mod test;

use std::io::Write;
use std::path::Path;

use crate::error::Error;

/// Prints to standard output. A reader that has gone away is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes files to a folder, which is created if it is not there.
fn write_files(folder: &Path, files: impl IntoIterator<Item = (String, String)>) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(())
}

/// Writes JSON to a file, or to standard output for `-`.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_path_buf(), source };
    let mut text = serde_json::to_string_pretty(value).map_err(|error| failed(error.into()))?;
    text.push('\n');
    if path == Path::new("-") {
        print(&text);
        return Ok(());
    }
    std::fs::write(path, text).map_err(failed)
}
