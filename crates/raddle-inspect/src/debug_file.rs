//! Separate files with debug information.
//!
//! Distributions strip programs and put what was stripped elsewhere: under the build-id, or beside
//! the program under the name in `.gnu_debuglink`. The places are those that gdb searches
//! (<https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html>).

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{CompressedData, Endianness, Object, ObjectSection, ReadCache};

use super::build_id::hex;

const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The file with the debug information that was stripped from a program or library, if it is
/// installed and belongs to exactly that build. The file itself may by now be read through another path
/// than the `named` one, beside which the other would be.
pub(super) fn find(path: &Path, named: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let build_id = file.build_id().ok().flatten()?;
    let by_id = under_build_id(&hex(build_id));
    let by_link = file.gnu_debuglink().ok().flatten().map(|(name, _)| beside(named, name));
    by_id
        .into_iter()
        .chain(by_link.into_iter().flatten())
        // `.gnu_debuglink` has a checksum too, but the build-id says the same and is at hand.
        .find(|candidate| build_id_of(candidate).as_deref() == Some(build_id))
}

/// The file with what `dwz` moved out of a file with debug information, to be read along with it.
pub(super) fn supplement(debug: &Path) -> Option<PathBuf> {
    let cache = ReadCache::new(File::open(debug).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let (name, build_id) = file.gnu_debugaltlink().ok().flatten()?;
    let named = debug.parent()?.join(OsStr::from_bytes(name));
    under_build_id(&hex(build_id))
        .into_iter()
        .chain([named])
        .find(|candidate| build_id_of(candidate).as_deref() == Some(build_id))
}

/// The build-id of an ELF file.
pub(super) fn build_id_of(path: &Path) -> Option<Vec<u8>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    file.build_id().ok().flatten().map(<[u8]>::to_vec)
}

fn under_build_id(build_id: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_at_checked(2)?;
    Some(Path::new(DEBUG_FOLDER).join(".build-id").join(first).join(format!("{rest}.debug")))
}

fn beside(path: &Path, name: &[u8]) -> Vec<PathBuf> {
    let name = OsStr::from_bytes(name);
    let Some(folder) = path.canonicalize().ok().and_then(|path| Some(path.parent()?.to_owned())) else {
        return Vec::new();
    };
    let below_root = folder.strip_prefix("/").unwrap_or(&folder);
    vec![folder.join(name), folder.join(".debug").join(name), Path::new(DEBUG_FOLDER).join(below_root).join(name)]
}

/// How many bytes deflate makes of one, at most.
const INFLATION: u64 = 1032;

/// The most bytes of a section that is compressed in the file.
const SECTION: u64 = 1 << 32;

/// Whether a section can be as large as it says. Memory is reserved for as much as that.
pub(super) fn is_plausible(section: &CompressedData<'_>) -> bool {
    let compressed = section.data.len() as u64;
    let is_compressed = section.format != object::CompressionFormat::None;
    section.uncompressed_size <= SECTION
        && (!is_compressed || section.uncompressed_size <= compressed.saturating_mul(INFLATION))
}

/// Whether all debug sections of a file can be as large as they say.
pub(super) fn has_plausible_sections(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let cache = ReadCache::new(file);
    let Ok(file) = ElfFile64::<Endianness, _>::parse(&cache) else { return false };
    let is_debug = |name: &str| name.starts_with(".debug") || name.starts_with(".zdebug");
    let mut sections = file.sections().filter(|section| section.name().is_ok_and(is_debug));
    sections.all(|section| section.compressed_data().is_ok_and(|data| is_plausible(&data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_build_id_leads() {
        assert_eq!(under_build_id("93ac61ec"), Some(PathBuf::from("/usr/lib/debug/.build-id/93/ac61ec.debug")));
        assert_eq!(under_build_id("9"), None);
    }

    #[test]
    fn where_a_debug_link_leads() {
        assert_eq!(
            beside(Path::new("/bin/../bin"), b"x.debug").len(),
            3,
            "beside the file, in .debug and below /usr/lib/debug"
        );
        assert!(beside(Path::new("/no/such/file"), b"x.debug").is_empty());
    }
}
