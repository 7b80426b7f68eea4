//! What a program file is made of, or why it cannot be controlled.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{ffi::CString, ptr};

use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache};
use raddle_protocol::hooks;
use raddle_protocol::Points;

pub use super::refusal::Refusal;
use super::search_path::program_behind;
pub use super::search_path::{find_here, find_in_path, is_executable};
use super::{build_id, debug_file, libraries};

type Elf<'a> = ElfFile64<'a, Endianness, &'a ReadCache<File>>;

/// A program that can be controlled, as far as its file tells.
#[derive(Debug, Clone)]
pub struct Program {
    /// The path that was inspected.
    pub path: PathBuf,
    /// The linker's build-id in hexadecimal; for a program linked without one, `fnv1a64-` and a
    /// 64-bit hash of its contents, so that a changed program is noticed all the same.
    pub build_id: Option<String>,
    /// The dynamic loader that the program names (PT_INTERP).
    pub interpreter: Option<PathBuf>,
    /// The shared libraries that the program itself asks for (DT_NEEDED), in its order.
    pub needed: Vec<String>,
    /// The names of the dynamic symbols that the program leaves to others, without versions, sorted.
    pub undefined: Vec<String>,
    /// The language that decides what an unmodified program hides from control.
    pub language: Language,
    /// Libraries that must come before the runtime in `LD_PRELOAD`: AddressSanitizer's runtime
    /// refuses to start unless it is the first of all.
    pub preload_first: Vec<PathBuf>,
    /// What the program and its libraries make visible of their accesses to memory: see
    /// [`raddle_protocol::hooks::offers`].
    pub offers: u32,
    /// Whether the program contains checks that make their runs in one process (it has raddle's ELF note).
    pub checks: bool,
    /// Whether there is debug information, in the program or in a separate file, so that a
    /// backtrace has lines.
    pub debug_info: bool,
}

/// A language, as far as it matters for control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C, and everything that looks like it.
    C,
    /// C++: uses its standard library or its exception handling.
    Cpp,
    /// Rust: contains code made by rustc, alone or among others.
    Rust,
}

impl Program {
    /// Whether accesses to memory are visible.
    pub fn instrumented(&self) -> bool {
        self.offers != 0
    }

    /// What is visible, in words.
    pub fn offered(&self) -> Vec<&'static str> {
        let all = [(hooks::offers::ATOMICS, "atomics"), (hooks::offers::MEMORY, "memory"), (hooks::offers::STD, "std")];
        all.into_iter().filter(|(bit, _)| self.offers & bit != 0).map(|(_, name)| name).collect()
    }

    /// The richest level of points that the program offers. `memory` is richer than `race`, but finds less in
    /// the same time.
    pub fn richest_points(&self) -> Points {
        if self.offers & hooks::offers::MEMORY != 0 {
            Points::Race
        } else if self.offers & hooks::offers::ATOMICS != 0 {
            Points::Atomic
        } else {
            Points::Sync
        }
    }

    /// Why the program does not have all points of a level, and what to do.
    pub fn lacks(&self, points: Points) -> Option<&'static str> {
        if points > Points::Sync && !self.instrumented() {
            return Some("the program is not instrumented: build it with raddle cc, raddle c++ or cargo raddle");
        }
        (points > Points::Atomic && self.offers & hooks::offers::MEMORY == 0).then_some(
            "only the program's atomics are visible: build it without RADDLE_VISIBLE=atomics, or with cargo raddle \
             --memory",
        )
    }
}

/// What a file makes visible, as its note says.
fn offers(file: &Elf) -> u32 {
    let notes = file.sections().filter(|section| section.name() == Ok(".note.raddle.offers"));
    let words = notes.filter_map(|section| {
        // The header's three words, the owner's name in eight bytes, and the contents.
        let data = section.data().ok()?;
        Some(u32::from_le_bytes(data.get(20..24)?.try_into().ok()?))
    });
    words.fold(0, |all, some| all | some)
}

/// What the libraries of a program make visible; those that cannot be read offer nothing.
fn offers_of_libraries(path: &Path, interpreter: &Path) -> u32 {
    let loaded = libraries::loaded(path, interpreter, None).unwrap_or_default();
    let paths = loaded.into_iter().filter_map(|library| library.path);
    let offered = paths.filter_map(|path| {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = Elf::parse(&cache).ok()?;
        Some(offers(&file))
    });
    offered.fold(0, |all, some| all | some)
}

/// A program that was compiled for ThreadSanitizer must have hooks that the runtime can take over.
fn check_hooks(file: &Elf, needed: &[String], undefined: &[String], offered: u32) -> Result<(), Refusal> {
    // gcc's is a library, or with -static-libtsan in the program itself and not exported; clang's is in the program
    // itself, and so are our hooks, but with a note.
    let inside = || {
        let mut symbols = file.dynamic_symbols().chain(file.symbols());
        symbols.any(|symbol| symbol.is_definition() && symbol.name() == Ok("__tsan_init"))
    };
    if needed.iter().any(|name| name.starts_with("libtsan.so")) || offers(file) == 0 && inside() {
        return Err(Refusal::ThreadSanitizer);
    }
    if offered == 0 && undefined.iter().any(|name| name.starts_with("__tsan_")) {
        return Err(Refusal::NoHooks);
    }
    Ok(())
}

/// Looks at a program file without starting it.
///
/// The program's dynamic loader is asked for its libraries (see [`libraries`]), which runs none of
/// the program's code.
pub fn inspect(path: &Path) -> Result<Program, Refusal> {
    check_file(path)?;
    let mut handle = File::open(path).map_err(Refusal::Unreadable)?;
    check_header(&mut handle, path)?;
    check_rights(path, &handle.metadata().map_err(Refusal::Unreadable)?)?;

    let cache = ReadCache::new(handle);
    let file = Elf::parse(&cache).map_err(damaged)?;
    let interpreter = interpreter(&file)?.ok_or(Refusal::Static)?;
    let needed = needed(&file)?;
    let undefined = undefined(&file);
    let offers = offers(&file) | offers_of_libraries(path, &interpreter);
    check_hooks(&file, &needed, &undefined, offers)?;
    Ok(Program {
        path: path.to_path_buf(),
        build_id: Some(build_id::build_id(path).map_err(Refusal::Unreadable)?),
        language: language(&file, &needed, &undefined),
        preload_first: preload_first(path, &interpreter),
        offers,
        checks: file.section_by_name(".note.raddle").is_some(),
        debug_info: has_debug_info(&file) || debug_file::find(path, path).is_some(),
        interpreter: Some(interpreter),
        needed,
        undefined,
    })
}

fn damaged(error: object::read::Error) -> Refusal {
    let message = format!("the ELF file is damaged ({error}); build it again");
    Refusal::Unreadable(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// What can be said without opening the file. A FIFO must not be opened: that would block.
fn check_file(path: &Path) -> Result<(), Refusal> {
    let metadata = path.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Refusal::NotFound,
        _ => Refusal::Unreadable(error),
    })?;
    if metadata.is_dir() {
        Err(Refusal::Directory)
    } else if !metadata.is_file() || !is_executable(path) {
        Err(Refusal::NotExecutable)
    } else {
        Ok(())
    }
}

/// What the first bytes tell.
fn check_header(file: &mut File, path: &Path) -> Result<(), Refusal> {
    let mut head = Vec::new();
    file.take(256).read_to_end(&mut head).map_err(Refusal::Unreadable)?;
    if let Some(line) = head.strip_prefix(b"#!") {
        if let Some(program) = program_behind(path) {
            return Err(Refusal::Shim { program });
        }
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        return Err(Refusal::Script { interpreter: interpreter_of_script(line) });
    }
    if !head.starts_with(&elf::ELFMAG) || head.len() < 20 {
        return Err(Refusal::NotElf);
    }
    if head[4] != elf::ELFCLASS64.0 {
        return Err(Refusal::WrongClass);
    }
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    if head[5] != elf::ELFDATA2LSB.0 || half(18) != elf::EM_X86_64.0 {
        return Err(Refusal::WrongMachine);
    }
    match half(16) {
        kind if kind == elf::ET_EXEC.0 || kind == elf::ET_DYN.0 => Ok(()),
        _ => Err(Refusal::NotElf),
    }
}

/// The command that a user would type to start the interpreter: what `env` is asked for, not `env`.
fn interpreter_of_script(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace().peekable();
    let is_env = |word: &&str| Path::new(word).file_name().is_some_and(|name| name == "env");
    if words.next_if(is_env).is_some() {
        while words.next_if(|word| word.starts_with('-') || word.contains('=')).is_some() {}
    }
    words.collect::<Vec<_>>().join(" ")
}

/// Whether the system would treat the start of this program as a gain of rights, in which case the
/// loader ignores `LD_PRELOAD`.
fn check_rights(path: &Path, metadata: &Metadata) -> Result<(), Refusal> {
    let mode = metadata.mode();
    let setuid = mode & libc::S_ISUID != 0;
    // The setgid bit without group execution once meant mandatory locking and gives no rights.
    let setgid = mode & libc::S_ISGID != 0 && mode & libc::S_IXGRP != 0;
    if setuid || setgid || has_capabilities(path) {
        Err(Refusal::Setuid)
    } else {
        Ok(())
    }
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    let name = c"security.capability";
    // SAFETY: both strings are valid, and a size of zero asks only for the length of the value.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), ptr::null_mut(), 0) > 0 }
}

/// The dynamic loader that the program names; `None` for a static program, static-pie included.
fn interpreter(file: &Elf) -> Result<Option<PathBuf>, Refusal> {
    let headers = file.elf_program_headers();
    let endian = file.endian();
    if !headers.iter().any(|header| header.p_type(endian) == elf::PT_DYNAMIC) {
        return Ok(None);
    }
    for header in headers {
        if let Some(path) = header.interpreter(endian, file.data()).map_err(damaged)? {
            return Ok(Some(PathBuf::from(std::ffi::OsStr::from_bytes(path))));
        }
    }
    Ok(None)
}

fn needed(file: &Elf) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    for library in file.import_libraries().map_err(damaged)? {
        let library = library.map_err(damaged)?;
        names.push(String::from_utf8_lossy(library.name()).into_owned());
    }
    Ok(names)
}

fn undefined(file: &Elf) -> Vec<String> {
    let mut names: Vec<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn language(file: &Elf, needed: &[String], undefined: &[String]) -> Language {
    let uses = |prefix: &str| undefined.iter().any(|name| name.starts_with(prefix));
    let needs = |prefix: &str| needed.iter().any(|name| name.starts_with(prefix));
    if made_by_rustc(file) {
        Language::Rust
    } else if needs("libstdc++.") || needs("libc++.") || uses("_Z") || uses("__gxx_personality") {
        Language::Cpp
    } else {
        Language::C
    }
}

/// rustc signs its objects in `.comment`, which `strip` keeps; the paths of the standard library's
/// panic messages betray it where a linker script dropped that.
fn made_by_rustc(file: &Elf) -> bool {
    section_contains(file, ".comment", b"rustc version") || section_contains(file, ".rodata", b"/library/std/src/")
}

fn section_contains(file: &Elf, section: &str, text: &[u8]) -> bool {
    file.section_by_name(section)
        .and_then(|section| section.data().ok())
        .is_some_and(|data| data.windows(text.len()).any(|part| part == text))
}

fn has_debug_info(file: &Elf) -> bool {
    file.section_by_name(".debug_info").is_some()
}

/// AddressSanitizer's runtime, gcc's or clang's, wherever the program's loader finds it.
///
/// A loader that cannot load the program is no error here: starting the program will say the same,
/// and better.
fn preload_first(program: &Path, interpreter: &Path) -> Vec<PathBuf> {
    libraries::loaded(program, interpreter, None)
        .unwrap_or_default()
        .into_iter()
        .filter(|library| is_asan(&library.name))
        .filter_map(|library| library.path)
        .collect()
}

/// Whether a library is a runtime of AddressSanitizer, by its name.
pub fn is_asan(name: &str) -> bool {
    name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_of_a_script_is_what_a_user_would_type() {
        assert_eq!(interpreter_of_script(b"/bin/sh -e"), "/bin/sh -e");
        assert_eq!(interpreter_of_script(b" /usr/bin/env python3"), "python3");
        assert_eq!(interpreter_of_script(b"/usr/bin/env -S LANG=C perl -w"), "perl -w");
    }

    #[test]
    fn both_names_of_the_address_sanitizer() {
        assert!(is_asan("libasan.so.8"));
        assert!(is_asan("libclang_rt.asan-x86_64.so"));
        assert!(!is_asan("libubsan.so.1"));
    }
}
