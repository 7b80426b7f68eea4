//! Every program in `programs/pass` under a runtime that checks itself (the feature `verify`): after each
//! decision its books are compared with each other, and a contradiction ends the campaign.

mod support;

use std::path::Path;

use support::programs::{campaign, checking_runtime, each, programs, Program};

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
