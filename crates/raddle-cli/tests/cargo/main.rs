//! `cargo raddle` on real projects.

mod build;
mod harness;
mod project;
mod results;
mod std_library;
#[path = "../support/mod.rs"]
mod support;
mod verdicts;

use project::{manifest, shop, Project};
use std_library::has_std_sources;

#[test]
fn a_program_is_explored_with_its_arguments() {
    let shop = shop();
    let run = |words: &[&str]| shop.run(&[&["run", "-p", "shop", "--runs", "20", "--seed", "1", "--"], words].concat());
    let (status, text) = run(&["a", "b"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("no failure in 20 runs"), "{text}");
    let (status, text) = run(&["fail"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("assertion failure found in run 1"), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    let empty = Project::new(&[]);
    let (status, text) = empty.run(&["test"]);
    assert_eq!(status, 101, "{text}");
    assert!(text.contains("could not find `Cargo.toml`"), "{text}");

    let project = Project::new(&[("Cargo.toml", &manifest("wrong", "")), ("src/lib.rs", "pub fn good() {}\n")]);
    let says = |arguments: &[&str], status: i32, part: &str| {
        let (found, text) = project.run(arguments);
        assert_eq!(found, status, "{arguments:?}: {text}");
        assert!(text.contains(part), "{arguments:?} did not say {part:?} but {text}");
    };
    says(&["test"], 3, "there are no tests here");
    says(&["test", "--target", "wasm32-unknown-unknown"], 2, "--target wasm32-unknown-unknown is not supported");
    says(&["test", "--runs", "0"], 2, "--runs 0 is not valid");
    says(&["run"], 101, "a bin target must be available");
    says(&["build", "--features", "none"], 101, "none");
    says(&["tset"], 2, "unrecognized subcommand");
    if !has_std_sources() {
        says(&["build", "--std"], 2, "`rustup component add rust-src` installs them");
    }
    std::fs::write(project.path().join("src/lib.rs"), "pub fn bad() -> u32 {}\n").expect("a file");
    says(&["test"], 101, "mismatched types");
}
