//! What is said of programs before they are started.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use raddle_inspect::elf::{find_in_path, inspect, Language, Refusal};

use crate::support::{c, cpp, rust, tool};

const EMPTY: &str = "int main(void) { return 0; }";

fn executable(path: &Path, contents: &str) {
    fs::write(path, contents).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_c_program() {
    let source = "#include <pthread.h>\n#include <stdio.h>\n\
        int main(void) { pthread_mutex_t m; pthread_mutex_init(&m, 0); puts(\"\"); return 0; }";
    let built = c(source, &["-g"]);
    let program = inspect(&built.path).unwrap();
    assert_eq!(program.language, Language::C);
    assert_eq!(program.interpreter.as_deref(), Some(Path::new("/lib64/ld-linux-x86-64.so.2")));
    assert_eq!(program.needed, ["libc.so.6"]);
    assert!(program.undefined.iter().any(|name| name == "pthread_mutex_init"));
    assert!(program.undefined.is_sorted());
    assert!(program.debug_info);
    assert!(!program.instrumented());
    assert!(program.preload_first.is_empty());

    let output = Command::new("readelf").arg("-n").arg(&built.path).output().unwrap();
    let build_id = program.build_id.unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("Build ID: {build_id}")));
}

#[test]
fn a_program_without_debug_information_or_build_id() {
    let built = c(EMPTY, &["-Wl,--build-id=none"]);
    let program = inspect(&built.path).unwrap();
    assert!(!program.debug_info);
    let first = program.build_id.unwrap();
    assert!(first.starts_with("fnv1a64-"), "{first}");
    let other = c("int main(void) { return 1; }", &["-Wl,--build-id=none"]);
    assert_ne!(inspect(&other.path).unwrap().build_id.unwrap(), first);
}

#[test]
fn a_cpp_program() {
    let source = "#include <iostream>\nint main() { std::cout << 1; }";
    assert_eq!(inspect(&cpp(source, &[]).path).unwrap().language, Language::Cpp);
    let built = cpp(source, &["-static-libstdc++", "-static-libgcc", "-rdynamic"]);
    assert_eq!(inspect(&built.path).unwrap().language, Language::Cpp);
}

#[test]
fn a_rust_program() {
    let source = "fn main() { println!(\"{}\", std::env::args().count()); }";
    assert_eq!(inspect(&rust(source, &[]).path).unwrap().language, Language::Rust);
    let stripped = rust(source, &["-C", "strip=symbols", "-O"]);
    let program = inspect(&stripped.path).unwrap();
    assert_eq!(program.language, Language::Rust);
    assert!(!program.debug_info);
}

#[test]
fn thread_sanitizers_own_runtime_is_told_from_hooks() {
    let source = "int x; int main(void) { return x; }";
    let linked = c(source, &["-fsanitize=thread"]);
    assert!(matches!(inspect(&linked.path), Err(Refusal::ThreadSanitizer)));
    let inside = c(source, &["-fsanitize=thread", "-static-libtsan"]);
    assert!(matches!(inspect(&inside.path), Err(Refusal::ThreadSanitizer)));
}

#[test]
fn the_address_sanitizer_comes_first() {
    let built = c(EMPTY, &["-fsanitize=address"]);
    let program = inspect(&built.path).unwrap();
    let [library] = &program.preload_first[..] else {
        panic!("one library must come first, not {:?}", program.preload_first);
    };
    assert!(library.is_absolute() && library.exists(), "{library:?}");
    assert!(library.file_name().unwrap().to_str().unwrap().starts_with("libasan.so"));
}

#[test]
fn a_library_of_its_own_with_the_address_sanitizer() {
    let built = c("int f(void) { return 0; }", &["-shared", "-fPIC", "-fsanitize=address"]);
    let folder = built.folder.path();
    fs::rename(&built.path, folder.join("libours.so")).unwrap();
    fs::write(folder.join("main.c"), "int f(void); int main(void) { return f(); }").unwrap();
    let status = Command::new("gcc")
        .current_dir(folder)
        .args(["main.c", "-o", "main", "-L.", "-lours", "-Wl,-rpath,$ORIGIN"])
        .args(["-Wl,--unresolved-symbols=ignore-in-shared-libs"])
        .status()
        .unwrap();
    assert!(status.success());
    let program = inspect(&folder.join("main")).unwrap();
    assert_eq!(program.needed, ["libours.so", "libc.so.6"]);
    assert_eq!(program.preload_first.len(), 1, "the library's needs are the program's needs");
}

#[test]
fn separate_debug_information_counts() {
    let built = c(EMPTY, &["-g"]);
    let debug = built.folder.path().join("program.debug");
    tool("objcopy", &[Path::new("--only-keep-debug"), &built.path, &debug]);
    tool("strip", &[&built.path]);
    assert!(!inspect(&built.path).unwrap().debug_info);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    tool("objcopy", &[Path::new(&link), &built.path]);
    assert!(inspect(&built.path).unwrap().debug_info);
    // A debug file of another build is not believed.
    let other = c("int main(void) { return 3; }", &["-g"]);
    fs::copy(&other.path, &debug).unwrap();
    assert!(!inspect(&built.path).unwrap().debug_info);
}

#[test]
fn what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);

    assert!(matches!(inspect(&at("none")), Err(Refusal::NotFound)));
    assert!(matches!(inspect(folder.path()), Err(Refusal::Directory)));
    fs::write(at("text"), "hello").unwrap();
    assert!(matches!(inspect(&at("text")), Err(Refusal::NotExecutable)));
    assert!(matches!(inspect(&at("text").join("below")), Err(Refusal::NotFound)));
    assert!(matches!(inspect(Path::new("/dev/null")), Err(Refusal::NotExecutable)));
    executable(&at("plain"), "echo hello");
    assert!(matches!(inspect(&at("plain")), Err(Refusal::NotElf)));
    executable(&at("empty"), "");
    assert!(matches!(inspect(&at("empty")), Err(Refusal::NotElf)));
    executable(&at("cut"), "\x7fELF");
    assert!(matches!(inspect(&at("cut")), Err(Refusal::NotElf)));
    executable(&at("script"), "#!/usr/bin/env python3\nprint(1)\n");
    let refusal = inspect(&at("script")).unwrap_err();
    assert!(refusal.to_string().contains("`raddle test -- python3 SCRIPT`"), "{refusal}");
}

#[test]
fn static_programs_are_refused() {
    for flags in [&["-static"][..], &["-static-pie"]] {
        assert!(matches!(inspect(&c(EMPTY, flags).path), Err(Refusal::Static)), "{flags:?}");
    }
}

#[test]
fn foreign_and_damaged_programs_are_refused() {
    let built = c(EMPTY, &[]);
    let bytes = fs::read(&built.path).unwrap();
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        fs::write(&built.path, bytes).unwrap();
        inspect(&built.path).map(|_| ()).unwrap_err()
    };
    assert!(matches!(changed(4, 1), Refusal::WrongClass));
    assert!(matches!(changed(18, 183), Refusal::WrongMachine));
    assert!(matches!(changed(16, 1), Refusal::NotElf), "an object file is no program");
    fs::write(&built.path, &bytes[..100]).unwrap();
    assert!(matches!(inspect(&built.path), Err(Refusal::Unreadable(_))));
}

#[test]
fn programs_that_gain_rights_are_refused() {
    let built = c(EMPTY, &[]);
    for mode in [0o4755, 0o2755] {
        fs::set_permissions(&built.path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(inspect(&built.path), Err(Refusal::Setuid)), "{mode:o}");
    }
}

#[test]
fn programs_with_file_capabilities_are_refused() {
    let built = c(EMPTY, &[]);
    // Version 2 of the format (linux/capability.h), with CAP_NET_RAW permitted and effective.
    let words = [0x0200_0001u32, 1 << 13, 0, 0, 0];
    let value: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let path = CString::new(built.path.as_os_str().as_bytes()).unwrap();
    let name = c"security.capability";
    // SAFETY: the strings are valid, and the value has the length that is passed.
    let set = unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) };
    if set != 0 {
        println!("skipped: only root can give capabilities, on a file system that has them");
        return;
    }
    assert!(matches!(inspect(&built.path), Err(Refusal::Setuid)));
}

#[test]
fn commands_are_found_in_path() {
    let shell = find_in_path(OsStr::new("sh")).unwrap();
    assert!(shell.is_absolute());
    assert!(inspect(&shell).is_ok());
    assert_eq!(find_in_path(OsStr::new("no-such-command-at-all")), None);
}
