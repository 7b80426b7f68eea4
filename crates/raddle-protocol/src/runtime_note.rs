//! The ELF note in a runtime library that names its layout of the block. raddle reads the note from the file, and refuses
//! a library with another layout before it starts a program with it.

use crate::block::{text, LAYOUT};

/// The section that the note lies in.
pub const SECTION: &str = ".note.raddle.runtime";

/// The owner of the note, as of all notes of raddle.
pub const OWNER: &str = "raddle";

/// The type of the note. Programs have notes of the types [`CHECKS`](crate::check::CHECKS) and
/// [`NOTE`](crate::hooks::NOTE).
pub const RUNTIME: u32 = 3;

/// The longest version that fits, in bytes.
pub const LONGEST_VERSION: usize = 32;

/// The note as it lies in the file.
#[repr(C)]
pub struct RuntimeNote {
    owner_size: u32,
    data_size: u32,
    kind: u32,
    // Bytes, because a note must not be aligned to more than four.
    owner: [u8; 8],
    layout: [u8; 8],
    version: [u8; LONGEST_VERSION],
}

impl RuntimeNote {
    /// The note of a library of this version, with the [`LAYOUT`] that it was built with.
    pub const fn new(version: &str) -> RuntimeNote {
        let from = version.as_bytes();
        assert!(from.len() <= LONGEST_VERSION, "a version has at most 32 bytes");
        let mut padded = [0; LONGEST_VERSION];
        let mut i = 0;
        while i < from.len() {
            padded[i] = from[i];
            i += 1;
        }
        RuntimeNote {
            // With the zero that ends the name; the padding does not count.
            owner_size: OWNER.len() as u32 + 1,
            data_size: 8 + LONGEST_VERSION as u32,
            kind: RUNTIME,
            owner: *b"raddle\0\0",
            layout: LAYOUT.to_le_bytes(),
            version: padded,
        }
    }
}

/// The layout and the version in the data of a note.
pub fn read(data: &[u8]) -> Option<(u64, &str)> {
    let (layout, version) = data.split_first_chunk()?;
    Some((u64::from_le_bytes(*layout), text(version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let note = RuntimeNote::new("0.1.0-alpha");
        let data = [&note.layout[..], &note.version].concat();
        assert_eq!(data.len(), note.data_size as usize);
        assert_eq!(read(&data), Some((LAYOUT, "0.1.0-alpha")));
        assert_eq!(read(&data[..7]), None);
    }

    #[test]
    fn notes_of_raddle_have_types_of_their_own() {
        const { assert!(RUNTIME != crate::check::CHECKS && RUNTIME != crate::hooks::NOTE) };
        assert_eq!((size_of::<RuntimeNote>(), align_of::<RuntimeNote>()), (12 + 8 + 8 + LONGEST_VERSION, 4));
        assert!(OWNER.as_bytes() == &RuntimeNote::new("").owner[..OWNER.len()]);
    }
}
