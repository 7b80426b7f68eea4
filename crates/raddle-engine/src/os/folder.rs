//! The folder of schedules, `.raddle` unless another one is asked for.

use std::fs;
use std::io;
use std::path::Path;

/// Where schedules go when no folder is named.
pub const DEFAULT: &str = ".raddle";

/// Makes the folder. The one of the default name is told to git as one to leave alone; a folder that was named may be
/// meant to be kept.
pub fn make(path: &Path) -> io::Result<()> {
    let is_new = !path.is_dir();
    fs::create_dir_all(path)?;
    if is_new && path.ends_with(DEFAULT) {
        fs::write(path.join(".gitignore"), "*\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_leaves_the_default_folder_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let [own, named] = [".raddle", "regressions"].map(|name| folder.path().join(name));
        make(&own).expect("made");
        make(&named).expect("made");
        assert_eq!(fs::read_to_string(own.join(".gitignore")).expect("is there"), "*\n");
        assert!(!named.join(".gitignore").exists());
        // Who has removed it wants it so.
        fs::remove_file(own.join(".gitignore")).expect("removed");
        make(&own).expect("is there");
        assert!(!own.join(".gitignore").exists());
    }
}
