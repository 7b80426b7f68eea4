//! Which build a runtime library comes from. It is read from the file, before anything of the library runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use object::elf::{FileHeader64, NoteType};
use object::read::elf::{FileHeader, ProgramHeader};
use object::LittleEndian;
use raddle_protocol::block::LAYOUT;
use raddle_protocol::runtime_note;

/// What a runtime library says about itself, in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layout of the block of shared memory that it expects.
    pub layout: u64,
    /// The version of raddle-runtime that it was built from.
    pub version: String,
}

/// Why a library cannot be used by this build of raddle.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The library was built from sources with another layout of the shared memory.
    #[error(
        "{path} was built from different sources: its shared memory has layout {:016x} (raddle-runtime {}), expected \
         {LAYOUT:016x} (raddle {}); rebuild it from the sources of this raddle",
        .origin.layout,
        .origin.version,
        env!("CARGO_PKG_VERSION")
    )]
    Other {
        /// The library.
        path: PathBuf,
        /// Where it comes from.
        origin: Origin,
    },
}

/// Refuses a library whose layout of the shared memory differs from that of this program. A file that does not name its
/// layout passes: it may not be a runtime library at all, which shows as soon as it is used.
pub fn check_layout(library: &Path) -> Result<(), LayoutError> {
    let origin = Origin::of_library(library);
    match origin.map_err(|source| LayoutError::Unreadable { path: library.to_path_buf(), source })? {
        Some(origin) if origin.layout != LAYOUT => Err(LayoutError::Other { path: library.to_path_buf(), origin }),
        _ => Ok(()),
    }
}

impl Origin {
    /// Where a library comes from; `None` for a file that does not say so.
    pub fn of_library(path: &Path) -> io::Result<Option<Origin>> {
        Ok(Origin::of_content(&fs::read(path)?))
    }

    fn of_content(content: &[u8]) -> Option<Origin> {
        let header = FileHeader64::<LittleEndian>::parse(content).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, content).ok()?;
        segments.iter().find_map(|segment| {
            let mut notes = segment.notes(endian, content).ok()??;
            while let Some(note) = notes.next().ok()? {
                let kind = note.n_type(endian);
                if note.name() == runtime_note::OWNER.as_bytes() && kind == NoteType(runtime_note::RUNTIME) {
                    let (layout, version) = runtime_note::read(note.desc())?;
                    return Some(Origin { layout, version: version.to_owned() });
                }
            }
            None
        })
    }
}
