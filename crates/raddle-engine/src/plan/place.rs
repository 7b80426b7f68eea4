//! A place in the program that is known to race.

use std::path::Path;

/// Bytes of a file's name that a block has room for.
const MOST: usize = 63;

/// A place in a file of the program; the same on every machine that has this build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name of the file, without its folder.
    pub file: String,
    /// The address in the file, behind the access.
    pub address: u64,
}

/// The name of a file as places have it; the block has no room for longer ones.
pub fn file_name(path: &Path) -> Option<String> {
    let mut name = path.file_name()?.to_string_lossy().into_owned();
    while name.len() > MOST {
        name.pop();
    }
    Some(name)
}
