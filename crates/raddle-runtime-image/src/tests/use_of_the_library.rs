//! Programs are started with the library.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use raddle_protocol::block::{FD_VARIABLE, LAYOUT, MAGIC};
use raddle_protocol::policy_list;
use rustix::fs::{memfd_create, MemfdFlags};
use rustix::process::geteuid;
use tempfile::tempdir;

use super::{again, file_in, text};
use crate::{Refusal, RUNTIME};

/// The folder that the process started by a test expects the library in.
const FOLDER: &str = "RADDLE_TEST_EXPECTED";

/// The folder for the process that the test of noexec starts.
const NOEXEC: &str = "RADDLE_TEST_NOEXEC";

fn policies(library: &Path) -> Output {
    let mut program = Command::new("/bin/true");
    program.env("LD_PRELOAD", library).env(policy_list::VARIABLE, "1").output().expect("/bin/true")
}

fn assert_is_loaded(library: &Path) {
    let listed = text(&policies(library));
    assert!(listed.starts_with(policy_list::HEADER) && listed.contains("\npolicy\tpct\t"), "{listed}");
}

#[test]
fn a_program_loads_it() {
    let home = tempdir().expect("a folder");
    let library = file_in(&RUNTIME, home.path().join("raddle"));
    assert!(!library.is_in_memory(), "{:?}", library.refusals());
    assert_is_loaded(library.path());
}

#[cfg(feature = "verify")]
#[test]
fn a_program_loads_the_one_that_verifies_itself() {
    let home = tempdir().expect("a folder");
    let library = file_in(&crate::VERIFY, home.path().join("raddle"));
    assert_ne!(library.path().file_name(), Some(RUNTIME.file_name().as_ref()));
    assert_is_loaded(library.path());
}

#[test]
fn it_is_found_by_the_environment() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let library = RUNTIME.file().expect("a file");
        assert_eq!(library.path().parent(), Some(Path::new(&folder)));
        assert!(library.refusals().is_empty(), "{:?}", library.refusals());
        assert_is_loaded(library.path());
        return;
    }
    let folder = tempdir().expect("a folder");
    let found = |environment: &[&str], expected: &str| {
        let expected = folder.path().join(expected);
        let mut test = again("tests::use_of_the_library::it_is_found_by_the_environment", (FOLDER, &expected));
        for name in ["XDG_CACHE_HOME", "HOME", "TMPDIR"] {
            test.env_remove(name);
        }
        let output = test.envs(environment.iter().map(|name| (name, folder.path()))).output().expect("this program");
        assert!(output.status.success(), "{environment:?}: {}", text(&output));
    };
    found(&["XDG_CACHE_HOME", "TMPDIR"], "raddle");
    found(&["HOME", "TMPDIR"], ".cache/raddle");
    found(&["TMPDIR"], &format!("raddle-{}", geteuid()));
}

#[test]
fn a_program_loads_it_from_memory_and_inherits_nothing() {
    let library = RUNTIME.file_in(&[], geteuid()).expect("there is always memory");
    assert!(library.is_in_memory());
    assert_is_loaded(library.path());
    let output = Command::new("/bin/ls").args(["-l", "/proc/self/fd"]).output().expect("/bin/ls");
    assert!(output.status.success() && !text(&output).contains("memfd"), "{}", text(&output));
    // raddle looks for the name of the file in the maps of a process.
    let output = Command::new("/bin/cat").arg("/proc/self/maps").env("LD_PRELOAD", library.path()).output();
    let maps = text(&output.expect("/bin/cat"));
    assert!(maps.contains(&format!("/memfd:/{} (deleted)", RUNTIME.file_name())), "{maps}");
    let (clone, path) = (library.clone(), library.path().to_path_buf());
    drop(library);
    assert_is_loaded(&path);
    drop(clone);
    // The number of the descriptor may already be in use for another file.
    assert!(fs::read(path).ok().is_none_or(|content| content != RUNTIME.bytes()));
}

#[test]
fn it_is_in_memory_where_folders_are_mounted_noexec() {
    if let Some(folder) = std::env::var_os(NOEXEC) {
        let library = file_in(&RUNTIME, PathBuf::from(folder).join("raddle"));
        assert!(matches!(library.refusals(), [Refusal::NotLoadable { .. }]), "{:?}", library.refusals());
        assert!(library.refusals()[0].to_string().contains("is it mounted with noexec?"));
        assert!(library.is_in_memory());
        assert_is_loaded(library.path());
        return;
    }
    let folder = tempdir().expect("a folder");
    let test =
        again("tests::use_of_the_library::it_is_in_memory_where_folders_are_mounted_noexec", ("", Path::new("")));
    let script = format!("mount -t tmpfs -o noexec tmpfs \"${NOEXEC}\" || exit 77; exec \"$@\"");
    // In a mount namespace of its own, which no other process sees.
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"])
        .arg(test.get_program())
        .args(test.get_args());
    let output = unshare.env(NOEXEC, folder.path()).output();
    match output {
        Ok(output) if output.status.success() => assert!(text(&output).contains("1 passed"), "{}", text(&output)),
        Ok(output) if text(&output).contains("unshare: ") || output.status.code() == Some(77) => {
            eprintln!("skipped: nothing can be mounted here: {}", text(&output));
        }
        Ok(output) => panic!("{}", text(&output)),
        Err(error) => eprintln!("skipped: there is no unshare: {error}"),
    }
}

#[test]
fn a_block_of_another_build_is_explained() {
    let home = tempdir().expect("a folder");
    let library = file_in(&RUNTIME, home.path().join("raddle"));
    let said = |header: [u64; 2]| {
        // Inherited, as the block of a run is.
        let block = memfd_create("block", MemfdFlags::empty()).expect("a file in memory");
        let bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
        rustix::io::write(&block, &bytes).expect("a file in memory");
        let mut program = Command::new("/bin/true");
        program.env("LD_PRELOAD", library.path()).env(FD_VARIABLE, block.as_raw_fd().to_string());
        let output = program.output().expect("/bin/true");
        assert!(output.status.success());
        text(&output)
    };
    let other = said([MAGIC, 0x1234]);
    assert!(other.starts_with("raddle: the block of shared memory has layout 0000000000001234, but"), "{other}");
    assert!(other.contains(&format!("expects {LAYOUT:016x}")) && other.ends_with("RADDLE_RUNTIME\n"), "{other}");
    assert!(said([1, 2]).contains("is not a block of shared memory from raddle"), "{}", said([1, 2]));
}

/// The crate raddle-runtime is a dependency for its sources only. Were it linked, its `malloc` and `pthread_create` would
/// be those of every program that embeds the library.
#[test]
fn the_runtime_is_not_linked_into_this_program() {
    let program = fs::read("/proc/self/exe").expect("this program");
    let file = ElfFile64::<Endianness>::parse(&*program).expect("an ELF file");
    let defined = |name: &str| file.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
    assert!(defined("main"), "this program has symbols");
    assert!(!defined("raddle_runtime_check") && !defined("pthread_create"));
}
