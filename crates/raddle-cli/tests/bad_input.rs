//! What is wrong with a command line, a file or a program is said clearly, with the right exit
//! status. None of this needs the runtime.

mod support;

use std::os::unix::fs::PermissionsExt;

use support::{outcome, Folder};

/// Runs raddle with a runtime library that is none, which is noticed late.
fn check(folder: &Folder, arguments: &[&str], status: i32, texts: &[&str]) {
    let library = folder.file("runtime.so", "");
    let (found, said) = outcome(folder.raddle(arguments).env("RADDLE_RUNTIME", library));
    assert_eq!(found, status, "{arguments:?}: {said}");
    for text in texts {
        assert!(said.contains(text), "{arguments:?} did not say {text:?} but {said}");
    }
}

#[test]
fn programs_that_cannot_be_controlled() {
    let folder = Folder::new();
    let empty = folder.file("empty", "");
    let script = folder.file("script", "#!/bin/sh -e\ntrue\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("permissions");
    check(&folder, &["test", "--", "./nothing-here"], 2, &["./nothing-here: there is no such file"]);
    check(&folder, &["test", "--", "no-such-command"], 2, &["no-such-command: there is no such file"]);
    check(&folder, &["test", "--", "./"], 2, &["it is a directory"]);
    check(&folder, &["test", "--", empty.to_str().expect("text")], 2, &["it is not executable"]);
    check(&folder, &["test", "--", "./script"], 2, &["it is a script", "/bin/sh -e SCRIPT"]);
    // A name that PATH does not have is one of this folder, with and without dashes.
    std::fs::copy(&script, folder.path().join("script-of-ours")).expect("copied");
    check(&folder, &["test", "--", "script-of-ours"], 2, &["it is a script"]);
    check(&folder, &["test", "./script", "--", "-x"], 2, &["it is a script"]);
    let shims = folder.path().join(".pyenv/shims");
    std::fs::create_dir_all(&shims).expect("a folder");
    std::fs::copy(&script, shims.join("python")).expect("copied");
    check(&folder, &["test", ".pyenv/shims/python"], 2, &["it is a shim", "raddle test -- \"$(pyenv which python)\""]);
}

#[test]
fn static_programs_are_refused() {
    let folder = Folder::new();
    let source = folder.file("static.c", "int main(void) { return 0; }");
    let program = folder.path().join("static");
    let built = std::process::Command::new("cc").arg("-static").arg("-o").arg(&program).arg(source).status();
    if built.is_ok_and(|status| status.success()) {
        check(&folder, &["test", "--", "./static"], 2, &["statically linked"]);
    }
}

#[test]
fn options_that_make_no_sense() {
    let folder = Folder::new();
    let test = |options: &[&str], texts: &[&str]| {
        check(&folder, &[&["test"], options, &["--", "/bin/true"]].concat(), 2, texts);
    };
    test(&["--runs", "0"], &["--runs 0 is not valid"]);
    test(&["--runs", "many"], &["invalid value 'many'", "1e6"]);
    test(&["--time", "5x"], &["invalid value '5x'", "5s"]);
    test(&["--check", "no-such-command -q"], &["there is no command `no-such-command`"]);
    test(&["--check", "grep 'x"], &["the check `grep 'x` cannot be run: the shell does not understand it"]);
    test(&["--jobs", "0"], &["--jobs 0 is not valid"]);
    test(&["--time", "-1"], &["--time -1 is not valid"]);
    test(&["--policy", "ptc"], &["there is no policy `ptc`", "did you mean `pct`?"]);
    test(&["--policy", "pct:depth=3"], &["has no parameter `depth`"]);
    test(&["--policy", "pct:d=99"], &["a whole number from 0 to 64"]);
    test(&["--points", "atomics"], &["--points atomics is not known; did you mean `atomic`?"]);
    test(&["--fail-on", "races"], &["--fail-on races is not known; did you mean `race`?"]);
    test(&["--fail-on", "race"], &["accesses are visible", "raddle cc"]);
    test(&["--suppressions", "no-such-file"], &["no-such-file (--suppressions) cannot be used"]);
    test(&["--switch", "fibre"], &["fibre", "fiber"]);
    test(&["--guard", "0.1", "--no-guard"], &["--guard", "--no-guard"]);
    test(&["--expect-output", "/no/such/file"], &["cannot read /no/such/file"]);
    test(&["--env", "NOTHING"], &["expected NAME=VALUE"]);
    test(&["--sync-function", "no_such_function"], &["--sync-function no_such_function"]);
    test(&["--pollicy", "pct"], &["--policy"]);
    check(&folder, &["tset"], 2, &["test"]);
    check(&folder, &["test"], 2, &["PROGRAM"]);
}

#[test]
fn folders_that_cannot_be_written() {
    let folder = Folder::new();
    folder.file("taken", "");
    let test = |out: &str, text: &str| {
        check(&folder, &["test", "--out", out, "--", "/bin/true"], 2, &["choose another folder with --out", text]);
    };
    test("taken", "taken is not a directory");
    test("taken/below", "taken is not a directory");
}

#[test]
fn a_runtime_that_is_not_there() {
    let folder = Folder::new();
    check(&folder, &["test", "--runtime", "/no/runtime.so", "--", "/bin/true"], 2, &["(from --runtime)"]);
    let (status, said) = outcome(folder.raddle(&["doctor"]).env("RADDLE_RUNTIME", "/no/runtime.so"));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("missing  runtime library"), "{said}");
}

#[test]
fn a_runtime_that_cannot_be_loaded() {
    let folder = Folder::new();
    check(
        &folder,
        &["test", "--", "/bin/true"],
        2,
        &["before the runtime library was loaded into it", "file too short"],
    );
}

#[test]
fn project_files() {
    let folder = Folder::new();
    folder.file("raddle.toml", "[test]\npolcy = \"pct\"\n");
    check(&folder, &["test", "--", "/bin/true"], 2, &["unknown key `polcy` in [test]; did you mean `policy`?"]);
    folder.file("raddle.toml", "[test]\nruns = 0\n");
    check(&folder, &["test", "--", "/bin/true"], 2, &["--runs 0 is not valid"]);
    folder.file("raddle.toml", "[test\n");
    check(&folder, &["test", "--", "/bin/true"], 2, &["raddle.toml is wrong", "line 1"]);
}

#[test]
fn schedules_that_cannot_be_read() {
    let folder = Folder::new();
    folder.file("empty.schedule", "");
    folder.file("other.schedule", "raddle schedule 9\n");
    folder.file("binary.schedule", b"\x7fELF\xff\xff");
    check(
        &folder,
        &["replay", "none.schedule"],
        2,
        &["none.schedule: there is no such file; expected a bundle or a \
                                                       schedule file"],
    );
    check(&folder, &["replay", "."], 2, &["it is a folder"]);
    check(&folder, &["replay", "empty.schedule"], 2, &["line 1, column 1", "found the end of the file"]);
    check(&folder, &["replay", "other.schedule"], 2, &["line 1, column 17: expected version 1"]);
    check(&folder, &["replay", "binary.schedule"], 2, &["line 1, column 5: expected text in UTF-8"]);
}

#[test]
fn what_needs_no_program() {
    let folder = Folder::new();
    check(&folder, &["policies"], 0, &["random", "pct", "ASPLOS"]);
    check(&folder, &["policies", "--json"], 0, &["\"name\": \"pct\""]);
    check(&folder, &["completions", "bash"], 0, &["complete"]);
    check(&folder, &["man"], 0, &[".TH"]);
    check(&folder, &["--version"], 0, &["raddle"]);
    check(&folder, &["--help"], 0, &["Explore schedules"]);
}
