//! What the tests share: a C compiler, a runtime that stands in for raddle's, and the notes of a program.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{elf, Endianness};
use tempfile::TempDir;

/// A folder in which a test compiles.
pub struct Folder(TempDir);

/// What a program did.
pub struct Outcome {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    /// A new, empty folder.
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Compiles files of `tests/c` to a program or a library, without a warning.
    pub fn compile(&self, compiler: &str, options: &[&str], sources: &[&str]) -> PathBuf {
        let output = self.0.path().join("out");
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-pthread"]).args(options);
        command.arg("-I").arg(crate_folder.join("../../include"));
        command.args(sources.iter().map(|source| crate_folder.join("tests/c").join(source)));
        let status = command.arg("-o").arg(&output).status().expect("the compiler runs");
        assert!(status.success(), "{compiler} {options:?} {sources:?}");
        output
    }

    /// Compiles the runtime that stands in for raddle's: it calls bodies, and controls nothing.
    pub fn runtime(&self) -> PathBuf {
        self.compile("gcc", &["-std=c11", "-shared", "-fPIC"], &["fake-runtime.c"])
    }
}

/// Runs a program, natively or with a runtime.
pub fn run(program: &Path, arguments: &[&str], runtime: Option<&Path>, variables: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new(program);
    command.args(arguments);
    // What the user's environment says about checks, and raddle's own preloading, are not for these.
    for name in ["LD_PRELOAD", "RADDLE_RUNS", "RADDLE_POLICY", "RADDLE_SEED", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    if let Some(runtime) = runtime {
        command.env("LD_PRELOAD", runtime);
    }
    let output = command.envs(variables.iter().copied()).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// How many notes of raddle a program has, all of which must be right and in a loaded segment.
pub fn notes(program: &Path) -> usize {
    let bytes = std::fs::read(program).expect("a program");
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes).expect("an ELF file");
    let endian = header.endian().expect("an endianness");
    let mut count = 0;
    for segment in header.program_headers(endian, &*bytes).expect("segments") {
        let Some(mut notes) = segment.notes(endian, &*bytes).expect("notes") else { continue };
        while let Some(note) = notes.next().expect("a note") {
            if note.name() == b"raddle" {
                assert_eq!(note.n_type(endian), elf::NoteType(1));
                assert_eq!(note.desc(), 1u32.to_le_bytes());
                count += 1;
            }
        }
    }
    // A stripped program may have no sections; if it has them, the one with the notes has its name.
    let sections = header.sections(endian, &*bytes).expect("sections");
    if let Some((_, section)) = sections.section_by_name(endian, b".note.raddle") {
        assert_eq!(section.sh_type(endian), elf::SHT_NOTE);
        assert_eq!(section.sh_size(endian), 24 * count as u64);
    }
    count
}
