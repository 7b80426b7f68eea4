//! Programs and libraries as they lie in memory.
//!
//! The unwind tables are read from the process and not from the file: what is mapped is what runs,
//! even when the file was deleted, replaced by a newer build or never was a file (the vdso).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use object::elf::{self, FileHeader64, ProgramHeader64};
use object::read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _};
use object::LittleEndian;

use super::builds::{Build, Builds};
use super::cfi::Tables;
use super::maps::Mapping;
use super::memory::Memory;

type Header = FileHeader64<LittleEndian>;
type Segment = ProgramHeader64<LittleEndian>;

/// The ELF header and the program headers lie in the first page of everything that is loaded.
const HEAD: u64 = 4096;
/// More unwind tables than this are a damaged header, not a program.
const MOST_TABLES: u64 = 1 << 30;

/// What makes an image the same in another process: its name, and its build-id or, for one linked
/// without, the first page with its headers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    name: OsString,
    inode: u64,
    stamp: Vec<u8>,
}

/// The headers of an image, as found at its start in memory.
pub(super) struct Head {
    bytes: Vec<u8>,
    start: u64,
    bias: u64,
}

impl Head {
    /// Reads the headers at the start of a mapping; `None` if there is no ELF image.
    pub(super) fn read(start: &Mapping, memory: &Memory) -> Option<Self> {
        let bytes = memory.bytes(start.start, HEAD)?;
        let mut head = Head { bytes, start: start.start, bias: 0 };
        let first = *head.segments()?.iter().find(|segment| kind(segment) == elf::PT_LOAD)?;
        let address = first.p_vaddr(LittleEndian).wrapping_sub(first.p_offset(LittleEndian));
        head.bias = start.start.wrapping_sub(address);
        Some(head)
    }

    /// How much higher the image lies in memory than its file says.
    pub(super) fn bias(&self) -> u64 {
        self.bias
    }

    /// The key under which an image of this build is kept.
    pub(super) fn key(&self, start: &Mapping, memory: &Memory) -> Key {
        Key {
            name: start.name.clone(),
            inode: start.inode,
            stamp: self.build_id(memory).unwrap_or_else(|| self.bytes.clone()),
        }
    }

    fn segments(&self) -> Option<&[Segment]> {
        let header = Header::parse(&self.bytes[..]).ok()?;
        header.program_headers(LittleEndian, &self.bytes[..]).ok()
    }

    fn build_id(&self, memory: &Memory) -> Option<Vec<u8>> {
        self.segments()?.iter().filter(|segment| kind(segment) == elf::PT_NOTE).find_map(|segment| {
            let size = segment.p_memsz(LittleEndian).min(HEAD);
            let address = segment.p_vaddr(LittleEndian).wrapping_add(self.bias);
            let data = memory.bytes(address, size)?;
            let mut notes = NoteIterator::<Header>::new(LittleEndian, segment.p_align(LittleEndian), &data).ok()?;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == elf::ELF_NOTE_GNU && note.n_type(LittleEndian) == elf::NT_GNU_BUILD_ID {
                    return Some(note.desc().to_vec());
                }
            }
            None
        })
    }

    fn tables(&self, memory: &Memory) -> Option<Tables> {
        let segments = self.segments()?;
        let index = segments.iter().find(|segment| kind(segment) == elf::PT_GNU_EH_FRAME)?;
        let address = index.p_vaddr(LittleEndian);
        let read = |address: u64, size: u64| {
            (size <= MOST_TABLES).then(|| memory.bytes(address.wrapping_add(self.bias), size))?
        };
        Tables::new(read(address, index.p_memsz(LittleEndian))?, address, |frames| {
            // Nothing says how long `.eh_frame` is; it ends with its segment at the latest.
            let end = segments.iter().filter(|segment| kind(segment) == elf::PT_LOAD).find_map(|segment| {
                let start = segment.p_vaddr(LittleEndian);
                let end = start.checked_add(segment.p_filesz(LittleEndian))?;
                (start..end).contains(&frames).then_some(end)
            })?;
            read(frames, end - frames)
        })
    }
}

fn kind(segment: &Segment) -> elf::ProgramType {
    segment.p_type(LittleEndian)
}

/// A program or library: everything about it that stays the same from process to process.
pub(super) struct Image {
    /// The unwind tables; `None` for code made without.
    pub tables: Option<Tables>,
    /// Where the functions and lines are known; `None` when they are not.
    pub build: Option<Build>,
}

impl Image {
    /// Reads what belongs to the headers.
    pub(super) fn read(head: &Head, start: &Mapping, pid: i32, memory: &Memory, builds: &Builds) -> Self {
        let build = match start.inode {
            // The vdso is a whole ELF file in memory.
            0 => memory.bytes(head.start, start.end - start.start).map(|bytes| builds.in_memory(bytes)),
            _ => build_of(head, start, pid, memory, builds),
        };
        Image { tables: head.tables(memory), build }
    }
}

/// The build that was mapped, if its file can still be reached or was met before.
fn build_of(head: &Head, start: &Mapping, pid: i32, memory: &Memory, builds: &Builds) -> Option<Build> {
    let name = start.name.as_bytes();
    if !name.starts_with(b"/") {
        return None;
    }
    let deleted = name.strip_suffix(b" (deleted)");
    let path = PathBuf::from(OsStr::from_bytes(deleted.unwrap_or(name)));
    let in_root = PathBuf::from(format!("/proc/{pid}/root")).join(path.strip_prefix("/").ok()?);
    let executable = PathBuf::from(format!("/proc/{pid}/exe"));
    match head.build_id(memory) {
        Some(id) => [path, in_root, executable].into_iter().find_map(|path| builds.with_id(&path, &id)),
        // Without a build-id nothing tells an old file from its successor but the kernel's mark.
        None if deleted.is_none() => builds.at(&path),
        None => None,
    }
}
