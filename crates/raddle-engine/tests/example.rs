//! The worked example of the documentation: a program that explores another one from its own code.

use std::path::{Path, PathBuf};
use std::process::Command;

const DEADLOCK: &str = r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *left(void *unused) { both(&a, &b); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, left, 0);
    both(&b, &a);
    return pthread_join(thread, 0);
}
"#;

/// The example, built as this test is.
fn example() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "-p", "raddle-engine", "--example", "explore"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs").success());
    let test = std::env::current_exe().expect("a path");
    let profile = test.ancestors().nth(2).expect("the profile's folder");
    profile.join("examples/explore")
}

#[test]
fn explores_a_program_and_says_what_it_found() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("deadlock.c"), DEADLOCK).expect("written");
    let mut compiler = Command::new("cc");
    compiler.args(["-pthread", "-o", "deadlock", "deadlock.c"]).current_dir(folder.path());
    assert!(compiler.status().expect("cc runs").success());
    let output = Command::new(example()).arg("./deadlock").current_dir(folder.path()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("deadlock: t0 waits for t1, t1 waits for t0\nits schedule is in .raddle/"), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.contains(" runs, ")), "{text}");
}

#[test]
fn the_documentation_shows_it_as_it_is() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = include_str!("../examples/explore.rs");
    let page = std::fs::read_to_string(workspace.join("docs/src/engine.md")).expect("the page is there");
    assert!(page.contains(source), "docs/src/engine.md has another version of examples/explore.rs");
}
