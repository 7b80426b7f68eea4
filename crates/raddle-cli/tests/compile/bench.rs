//! A folder in which compilers work, and the program that most tests build.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::support::{outcome, Folder};

pub const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");
pub const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

/// A folder with a place for temporary files, in which nothing may be left.
pub struct Bench(Folder);

impl Bench {
    pub fn new() -> Bench {
        let folder = Folder::new();
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        Bench(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        self.0.file(name, text)
    }

    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.file(name, &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
        path.display().to_string()
    }

    pub fn prepared(&self, mut command: Command) -> Command {
        for variable in ["RADDLE_CC", "RADDLE_CXX", "RADDLE_VISIBLE", "CC", "CXX", "CFLAGS", "LDFLAGS"] {
            command.env_remove(variable);
        }
        command.env("TMPDIR", self.path("tmp")).env("CCACHE_DIR", self.path("ccache")).env("LC_ALL", "C");
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn raddle(&self, line: &str) -> Command {
        let mut command = Command::new(RADDLE);
        command.args(line.split_whitespace());
        self.prepared(command)
    }

    /// Runs a line of a shell, in which $RADDLE is raddle.
    pub fn shell(&self, line: &str) -> (i32, String) {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        let result = outcome(self.prepared(command).env("RADDLE", RADDLE));
        self.nothing_left();
        result
    }

    /// Runs a line of a shell that must work, and gives what it prints.
    pub fn good(&self, line: &str) -> String {
        let (status, said) = self.shell(line);
        assert_eq!(status, 0, "{line}: {said}");
        said
    }

    /// The same for one that must work in silence.
    pub fn quiet(&self, line: &str) {
        let said = self.good(line);
        assert_eq!(said, "", "{line}");
    }

    pub fn nothing_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path("tmp")).expect("the folder").collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// A program, or a library, that carries the hooks, and nothing of libtsan.
    pub fn has_hooks(&self, name: &str) {
        let headers = self.good(&format!("readelf -dSW {name}"));
        assert!(headers.contains(".note.raddle.offers"), "{name} has no note: {headers}");
        assert!(!headers.contains("tsan"), "{name} needs libtsan: {headers}");
    }

    pub fn has_none(&self, name: &str) {
        let headers = self.good(&format!("readelf -dSW {name}"));
        assert!(!headers.contains(".note.raddle.offers") && !headers.contains("tsan"), "{name}: {headers}");
    }

    /// The hooks that an object calls, and the functions that are wrapped.
    pub fn calls(&self, object: &str) -> Vec<String> {
        let symbols = self.good(&format!("nm -u {object}"));
        let names = symbols.lines().filter_map(|line| line.split_whitespace().last());
        names.map(str::to_owned).collect()
    }

    pub fn sees_memory(&self, object: &str) -> bool {
        self.calls(object).iter().any(|name| name.starts_with("__tsan_read") || name.starts_with("__tsan_write"))
    }

    /// Writes the program that most tests build: two files and a library.
    pub fn sources(&self) {
        self.file("main.c", MAIN);
        self.file("other.c", OTHER);
        self.file("library.c", LIBRARY);
    }
}

const MAIN: &str = r#"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
int other(int by);
int library(int by);
static atomic_int counter;
static volatile int flag;
int plain;
extern char block[200];
static char copy[200];
int main(int argc, char **argv) {
    memcpy(copy, block, sizeof copy);
    memset(block, argc, sizeof block);
    plain++;
    flag = 1;
    atomic_fetch_add(&counter, 1);
    atomic_thread_fence(memory_order_seq_cst);
    printf("%d %d %d %d %d\n", plain, copy[199] + block[199], counter + flag, other(1), library(1));
    (void)argv;
    return 0;
}
"#;
const OTHER: &str = "char block[200]; int shared; int other(int by) { shared += by; return shared; }\n";
const LIBRARY: &str = "int in_library = 4; int library(int by) { in_library += by; return in_library; }\n";
pub const SAID: &str = "1 1 2 1 5\n";
