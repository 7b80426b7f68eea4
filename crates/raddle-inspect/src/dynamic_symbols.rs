//! Names in the dynamic symbol tables of libraries: what they offer, and what they ask others for.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use object::{Object, ObjectSymbol};

/// The names that a library defines for others.
pub fn exported(library: &Path) -> io::Result<BTreeSet<String>> {
    names(library, |symbol| symbol.is_definition())
}

/// The names that a library leaves to others.
pub fn undefined(library: &Path) -> io::Result<BTreeSet<String>> {
    names(library, |symbol| symbol.is_undefined())
}

fn names(library: &Path, wanted: impl Fn(&object::Symbol<'_, '_>) -> bool) -> io::Result<BTreeSet<String>> {
    let bytes = std::fs::read(library)?;
    let file = object::File::parse(&*bytes).map_err(io::Error::other)?;
    let symbols = file.dynamic_symbols().filter(|symbol| wanted(symbol));
    Ok(symbols.filter_map(|symbol| Some(symbol.name().ok()?.to_string())).filter(|name| !name.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_leaves_the_c_library_to_others() {
        let this = std::env::current_exe().expect("a path");
        assert!(undefined(&this).expect("read").contains("memcpy"));
        assert!(!exported(&this).expect("read").contains("memcpy"));
    }
}
