//! A policy out of tree, docs/examples/my-policy: built as a user would build it, and used by its
//! own name with its own parameter.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use support::{outcome, Folder, DEADLOCK};

/// The example, built into target/own-policy.
fn library() -> &'static str {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/my-policy");
        let target = Path::new(env!("CARGO_BIN_EXE_raddle")).ancestors().nth(2).expect("the target folder");
        let target = target.join("own-policy");
        // All that it depends on was there to build raddle.
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--release", "--quiet", "--offline"]).current_dir(example);
        let (status, said) = outcome(cargo.env("CARGO_TARGET_DIR", &target).env_remove("CARGO_BUILD_TARGET"));
        assert_eq!(status, 0, "the example does not build: {said}");
        target.join("release/libmy_policy.so")
    });
    library.to_str().expect("a path in UTF-8")
}

#[test]
fn it_finds_a_deadlock_that_replays_with_any_runtime() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let with = |options: &[&str]| {
        folder.json(&[&["--runtime", library(), "--seed", "1", "--no-guard"], options].concat(), "./deadlock")
    };
    let report = with(&["--policy", "sticky:stay=0.5"]);
    assert_eq!((&report["policy"], &report["parameters"]["stay"]), (&"sticky".into(), &0.5.into()), "{report}");
    let failure = &report["failures"][0];
    assert_eq!(failure["kind"], "deadlock", "{report}");
    // The parameter has reached the policy: a thread that is never left cannot be caught.
    let never = with(&["--policy", "sticky:stay=1", "--runs", "100"]);
    assert_eq!(never["failing_runs"], 0, "{never}");

    let schedule = failure["schedule"].as_str().expect("a schedule");
    let text = std::fs::read_to_string(folder.path().join(schedule)).expect("a schedule file");
    assert!(text.contains("\npolicy sticky stay=0.5\n"), "{text}");
    let replay = ["replay", schedule, "--runs", "20"];
    for mut command in [
        folder.raddle(&[&replay[..], &["--runtime", library()]].concat()),
        folder.raddle_with_runtime(&replay),
        folder.raddle_with_runtime(&[&replay[..], &["--exec"]].concat()),
    ] {
        let (status, said) = outcome(&mut command);
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("the recorded deadlock happened in 20 of 20 runs"), "{said}");
    }
}

#[test]
fn it_is_listed_and_suggested() {
    let folder = Folder::new();
    let (status, said) = outcome(&mut folder.raddle(&["policies", "--runtime", library()]));
    assert_eq!(status, 0, "{said}");
    for text in ["sticky", "stay=0.9", "an example", "pct", "--policy sticky:stay=0.9 -- PROGRAM"] {
        assert!(said.contains(text), "{said}");
    }
    let refused = |policy: &str, text: &str| {
        let test = ["test", "--policy", policy, "--", "/bin/true"];
        let (status, said) = outcome(folder.raddle(&test).env("RADDLE_RUNTIME", library()));
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(text), "{said}");
    };
    refused("stiky", "there is no policy `stiky`; did you mean `sticky`?");
    refused("quicksort", "there are: sticky, random, pct");
    refused("sticky:stya=1", "the policy `sticky` has no parameter `stya`; did you mean `stay`?");
    refused("sticky:stay=2", "expected a number from 0 to 1");
}

#[test]
fn a_library_that_is_no_runtime_is_named() {
    let folder = Folder::new();
    folder.file("empty.so", "");
    folder.file("stops.c", "#include <unistd.h>\n__attribute__((constructor)) static void stop(void) { _exit(3); }\n");
    let mut compiler = Command::new("cc");
    let compiled = compiler.args(["-shared", "-fPIC", "-o", "stops.so", "stops.c"]).current_dir(folder.path());
    assert!(compiled.status().expect("cc runs").success());
    let refused = |library: &str, texts: &[&str]| {
        let (status, said) = outcome(&mut folder.raddle(&["policies", "--runtime", library]));
        assert_eq!(status, 2, "{said}");
        assert!(texts.iter().all(|text| said.contains(text)), "{said}");
    };
    refused("empty.so", &["empty.so does not say which policies it has", "file too short"]);
    refused("stops.so", &["stops.so was asked for its policies and ended with exit status: 3"]);
    refused("none.so", &["there is no runtime library at none.so (from --runtime)"]);
}
