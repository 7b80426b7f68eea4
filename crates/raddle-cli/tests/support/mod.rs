//! What the tests of the binary share: a folder of their own, programs to test, and the runtime.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub mod corpus;
pub mod namespace;
pub mod programs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A limit for tests that hang; whatever ends takes far less time.
pub const WATCHDOG: Duration = Duration::from_secs(300);

/// A folder in which a test works.
pub struct Folder(TempDir);

impl Folder {
    /// A new, empty folder.
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file into it.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// Compiles a C program in it.
    pub fn program(&self, name: &str, source: &str) -> PathBuf {
        let path = self.path().join(name);
        let file = self.file(&format!("{name}.c"), source);
        let status = Command::new("cc").args(["-g", "-pthread", "-o"]).arg(&path).arg(file).status();
        assert!(status.expect("cc runs").success(), "{name} does not compile");
        path
    }

    /// raddle, to be run in it.
    pub fn raddle(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("RADDLE_RUNTIME");
        command
    }

    /// raddle with the runtime, to be run in it.
    pub fn raddle_with_runtime(&self, arguments: &[&str]) -> Command {
        let mut command = self.raddle(arguments);
        if let Some(runtime) = std::env::var_os("RADDLE_RUNTIME") {
            command.env("RADDLE_RUNTIME", runtime);
        }
        command
    }

    /// The JSON of `raddle test` with these options, without what may differ from time to time.
    pub fn json(&self, options: &[&str], program: &str) -> Value {
        let arguments = [&["test", "--quiet", "--json", "-"], options, &["--", program]].concat();
        let output = self.raddle_with_runtime(&arguments).output().expect("raddle runs");
        let mut value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let object = value.as_object_mut().expect("an object");
        object.remove("seconds");
        object.remove("runs_per_second");
        value
    }
}

/// The runtime library: the one that RADDLE_RUNTIME names, or the one that raddle brings along.
pub fn runtime() -> PathBuf {
    raddle_engine::runtime::find(None).expect("a runtime library")
}

/// The exit status and all that was printed.
pub fn outcome(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().expect("raddle runs");
    let text = [stdout, stderr].concat();
    (status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Two threads that take two locks in opposite orders.
pub const DEADLOCK: &str = r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *left(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
static void *right(void *unused) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

/// Threads that count under a lock; `BODY` is replaced by what main does after they are joined.
pub fn counting(body: &str) -> String {
    const FRAME: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, first;
static void *counts(void *number) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        if (count++ == 0) first = (int)(long)number;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(int argc, char **argv) {
    (void)argc; (void)argv;
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, counts, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    BODY
    return count != 6;
}
"#;
    FRAME.replace("BODY", body)
}
