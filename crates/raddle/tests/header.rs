//! `include/raddle.h`: it compiles everywhere, does nothing natively, and keeps its side of the contract.

mod support;

use std::process::{Command, Stdio};

use support::{notes, run, Folder};

/// The compilers of a language that are there; gcc's must be.
fn compilers(gcc: &'static str, clang: &'static str) -> Vec<&'static str> {
    let answers = |compiler: &str| {
        let mut command = Command::new(compiler);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    [gcc].into_iter().chain(answers(clang).then_some(clang)).collect()
}

/// Compiles the two files of `two-checks.c` and runs them, natively and with the runtime.
fn check_two_checks(compiler: &str, options: &[&str]) {
    let (folder, library) = (Folder::new(), Folder::new());
    let program = folder.compile(compiler, options, &["two-checks.c", "other-check.c"]);
    assert_eq!(notes(&program), 2, "one for each file: {compiler} {options:?}");

    let native = run(&program, &[], None, &[]);
    assert_eq!(native.stdout, "first 0 after 1\nsecond 0 after 1\n", "{compiler} {options:?}");
    assert_eq!(native.stderr, "");

    let controlled = run(&program, &[], Some(&library.runtime()), &[]);
    assert_eq!(controlled.stdout, "first 0 after 5\nsecond 0 after 3\n", "{compiler} {options:?}");
    assert_eq!(
        controlled.stderr,
        "fake: name=two checks runs=5 policy=pct:d=3 seed=7 has_seed=1 max_steps=1000\n\
         fake: 5 runs passed\n\
         fake: name=- runs=0 policy=- seed=0 has_seed=0 max_steps=0\n\
         fake: 3 runs passed\n"
    );
}

#[test]
fn every_c() {
    for compiler in compilers("gcc", "clang") {
        for standard in ["c89", "c99", "c11", "gnu17", "c2x"] {
            check_two_checks(compiler, &[&format!("-std={standard}"), "-Wc++-compat", "-Wconversion"]);
        }
    }
}

#[test]
fn every_cpp() {
    // Old-style casts are in the programs, which are C as well.
    let strict = ["-x", "c++", "-Wconversion"];
    for compiler in compilers("g++", "clang++") {
        for standard in ["-std=c++98", "-std=c++11", "-std=c++17", "-std=c++20"] {
            check_two_checks(compiler, &[&strict[..], &[standard]].concat());
        }
        check_two_checks(compiler, &["-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti"]);
    }
}

#[test]
fn the_note_survives_the_linker() {
    for options in [&["-O2", "-flto"][..], &["-O2", "-ffunction-sections", "-Wl,--gc-sections"], &["-O2", "-s"]] {
        let folder = Folder::new();
        let program = folder.compile("gcc", options, &["two-checks.c", "other-check.c"]);
        assert_eq!(notes(&program), 2, "{options:?}");
    }
}

#[test]
fn wrong_options_are_reported() {
    let (folder, library) = (Folder::new(), Folder::new());
    let program = folder.compile("gcc", &["-std=c99"], &["two-checks.c", "other-check.c"]);
    let outcome = run(&program, &["wrong"], Some(&library.runtime()), &[]);
    assert_eq!(outcome.stdout, "first 2 after 0\nsecond 0 after 3\n");
    assert!(outcome.stderr.contains("\nfake: unknown policy `wrong`\nfake: name=-"), "{}", outcome.stderr);
}

#[test]
fn exceptions_are_failures() {
    let (folder, library) = (Folder::new(), Folder::new());
    let runtime = library.runtime();
    for compiler in compilers("g++", "clang++") {
        let program = folder.compile(compiler, &["-std=c++11", "-Wold-style-cast"], &["exceptions.cc"]);
        for (kind, text) in [("standard", "pop of an empty queue"), ("other", "an exception left the test")] {
            let outcome = run(&program, &[kind], Some(&runtime), &[]);
            assert_eq!(outcome.stdout, "returned 1\nunwound\n");
            let report = format!("fake: failed in run 2 of 3\n  {text}\n  replay it: raddle replay FILE\n");
            assert!(outcome.stderr.ends_with(&report), "{}", outcome.stderr);
            assert_eq!(outcome.status, Some(0));
        }
        // A thread that ends goes through the catch clauses, and all destructors run.
        let outcome = run(&program, &["unwind"], Some(&runtime), &[]);
        assert_eq!((outcome.status, &*outcome.stdout), (Some(0), "unwound\n"), "{}", outcome.stderr);
    }
}

#[test]
fn natively_exceptions_come_out() {
    let folder = Folder::new();
    let program = folder.compile("g++", &["-std=c++17"], &["exceptions.cc"]);
    for (kind, text) in [("standard", "came out: pop of an empty queue\n"), ("other", "came out: 7\n"), ("unwind", "")]
    {
        let outcome = run(&program, &[kind, "at once"], None, &[]);
        assert_eq!((outcome.status, &*outcome.stdout), (Some(0), &*format!("unwound\n{text}")), "{}", outcome.stderr);
        assert_eq!(outcome.stderr, "");
    }
}
