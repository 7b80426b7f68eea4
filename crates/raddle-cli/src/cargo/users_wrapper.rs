//! The user's own RUSTC_WRAPPER (sccache and the like), which ours stands in front of.
//!
//! Ours is given to cargo in the variable RUSTC_WRAPPER, which hides whatever would have been found after
//! it: CARGO_BUILD_RUSTC_WRAPPER, then `build.rustc-wrapper` in the configuration files from here upwards and in
//! CARGO_HOME (<https://doc.rust-lang.org/cargo/reference/config.html#buildrustc-wrapper>).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The wrapper, if the user has one. An empty value says that there is none.
pub fn find(directory: &Path) -> Option<OsString> {
    let set = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"].iter().find_map(std::env::var_os);
    set.or_else(|| configured(directory, home())).filter(|wrapper| !wrapper.is_empty())
}

fn home() -> Option<PathBuf> {
    let given = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    given.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
}

/// From the nearest file that has it.
fn configured(directory: &Path, home: Option<PathBuf>) -> Option<OsString> {
    let folders = directory.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    folders.flat_map(|folder| [folder.join("config"), folder.join("config.toml")]).find_map(|file| read(&file))
}

fn read(file: &Path) -> Option<OsString> {
    // A file that is not there, or that cargo will complain about.
    let table: toml::Table = std::fs::read_to_string(file).ok()?.parse().ok()?;
    let wrapper = table.get("build")?.get("rustc-wrapper")?.as_str()?;
    // A path is relative to the folder that has `.cargo`; a mere name is searched in PATH.
    if !wrapper.contains('/') {
        return Some(wrapper.into());
    }
    Some(file.parent()?.parent()?.join(wrapper).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_wins_and_paths_are_relative_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        let write = |at: &Path, wrapper: &str| {
            std::fs::create_dir_all(at.join(".cargo")).expect("a folder");
            let text = format!("[build]\nrustc-wrapper = \"{wrapper}\"\n");
            std::fs::write(at.join(".cargo/config.toml"), text).expect("a file");
        };
        std::fs::create_dir_all(&inner).expect("folders");
        assert_eq!(configured(&inner, None), None);
        write(folder.path(), "sccache");
        assert_eq!(configured(&inner, None), Some("sccache".into()));
        write(&folder.path().join("a"), "tools/wrap");
        assert_eq!(configured(&inner, None), Some(folder.path().join("a/tools/wrap").into()));
    }
}
