//! Every program in `programs/pass` under a runtime that checks itself (the feature `verify`): after each
//! decision its books are compared with each other, and a contradiction ends the campaign.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::programs::{campaign, each, programs, root, Program};

/// Builds the runtime beside the one that everybody else uses.
fn checking_runtime() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_raddle")).ancestors().nth(2).expect("the target folder");
    let folder = target.join("self-check");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--release", "-p", "raddle-runtime", "--features", "verify"])
        .env("CARGO_TARGET_DIR", &folder)
        .env_remove("RUSTFLAGS")
        .current_dir(root())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the runtime does not build with the feature `verify`");
    folder.join("release/libraddle_runtime.so")
}

fn must_agree(program: &Program, runtime: &Path) -> Result<(), String> {
    let out = tempfile::tempdir().expect("a folder for the campaign");
    let options = ["--policy", "random", "--runs", "10", "--seed", "1", "--run-timeout", "20", "--switch", "fiber"];
    match campaign(program, runtime, out.path(), &options) {
        (Some(0), ..) => Ok(()),
        (status, _, said) => Err(format!("{}: exit status {status:?}\n{said}", program.name())),
    }
}

#[test]
fn the_books_agree_after_every_decision() {
    let runtime = checking_runtime();
    each(&programs("pass", &["c", "cc", "rs"]), |program| must_agree(program, &runtime));
}
