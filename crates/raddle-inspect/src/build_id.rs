//! What tells one build of a file from another.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Object, ReadCache};

/// What identifies the build of a file: the linker's build-id in hexadecimal, or, for a file without one, a hash
/// of its contents (see [`content_hash`]).
///
/// Two files with the same one hold the same code. The build-id is preferred because it
/// survives `strip`, so that a failure found with the stripped program replays with the one that has
/// debug information.
pub fn build_id(path: &Path) -> io::Result<String> {
    // The path may be that of a bundle from elsewhere: a pipe would be waited for, and a device may never end.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let cache = ReadCache::new(File::open(path)?);
    let file = ElfFile64::<object::Endianness, _>::parse(&cache).ok();
    match file.as_ref().and_then(|file| file.build_id().ok().flatten()) {
        Some(build_id) => Ok(hex(build_id)),
        None => content_hash(path),
    }
}

/// A hash of a file's contents: `fnv1a64-` and the 64-bit FNV-1a hash in hexadecimal.
///
/// It notices accidental change, which is all that is asked of it; it does not resist forgery.
pub fn content_hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Fnv1a::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.text()),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// The 64-bit FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>).
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Fnv1a(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("fnv1a64-{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let mut hash = Fnv1a::default();
        assert_eq!(hash.text(), "fnv1a64-cbf29ce484222325");
        hash.update(b"foobar");
        assert_eq!(hash.text(), "fnv1a64-85944171f73967e8");
    }

    #[test]
    fn a_file_that_is_no_program_is_told_by_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, "foobar").unwrap();
        assert_eq!(build_id(&path).unwrap(), "fnv1a64-85944171f73967e8");
    }

    #[test]
    fn a_file_without_an_end_is_not_read() {
        for path in ["/dev/zero", "/", "/no/such/file"] {
            assert!(build_id(Path::new(path)).is_err(), "{path}");
        }
    }
}
