//! `raddle.h`, where the compiler finds it.
//!
//! The folder stands in the environment and not on the command line. So all kinds of commands see it, those that only
//! preprocess or ask the compiler a question too, and no compiler warns of an option that it does not need. The folder
//! comes after those of the user's options and before the system's, like one of `-isystem`. Compiler caches know
//! these variables.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use raddle_runtime_image::{NoFolder, HEADER};

/// Folders for headers of C and of C++, for gcc and clang.
const VARIABLES: [&str; 2] = ["C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// Makes the compiler find the header.
pub fn offer(compiler: &mut Command) -> Result<(), NoFolder> {
    let folder = HEADER.folder()?;
    for variable in VARIABLES {
        compiler.env(variable, with(std::env::var_os(variable), &folder));
    }
    Ok(())
}

/// A list with one more folder. An empty entry would be the current folder.
fn with(list: Option<OsString>, folder: &Path) -> OsString {
    match list.filter(|list| !list.is_empty()) {
        Some(mut list) => {
            list.push(OsStr::new(":"));
            list.push(folder);
            list
        }
        None => folder.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_folders_come_first() {
        let folder = Path::new("/cache/raddle");
        assert_eq!(with(None, folder), "/cache/raddle");
        assert_eq!(with(Some("".into()), folder), "/cache/raddle");
        assert_eq!(with(Some("/a:/b".into()), folder), "/a:/b:/cache/raddle");
    }
}
