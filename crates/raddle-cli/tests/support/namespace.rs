//! Running something in a PID namespace of its own, so that no signal of it can reach the processes of this machine.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The ways to make one: as root, and where users may have namespaces of their own.
const WAYS: [&[&str]; 2] = [&[], &["--user", "--map-root-user"]];

/// Set where neither works, to leave out the tests that need one.
const LEAVE_OUT: &str = "RADDLE_TESTS_WITHOUT_NAMESPACE";

/// Runs a script of the shell's as the first process of a namespace, which ends with it. `None`: there cannot be one,
/// and the tests that need one are to be left out.
///
/// # Panics
/// If there cannot be one otherwise.
pub fn run(directory: &Path, script: &str) -> Option<Output> {
    let Some(way) = WAYS.into_iter().find(|way| make(directory, way, "true").is_ok_and(|tried| tried.status.success()))
    else {
        let refusals = WAYS.map(|way| match make(directory, way, "true") {
            Ok(tried) => String::from_utf8_lossy(&tried.stderr).trim().to_string(),
            Err(error) => error.to_string(),
        });
        let message = format!(
            "this test needs a PID namespace, and unshare(1) cannot make one ({}); run it as root, allow user namespaces, \
             or set {LEAVE_OUT}=1 to leave it out",
            refusals.join("; ")
        );
        assert!(std::env::var_os(LEAVE_OUT).is_some(), "{message}");
        eprintln!("left out: {message}");
        return None;
    };
    Some(make(directory, way, script).expect("unshare runs"))
}

fn make(directory: &Path, way: &[&str], script: &str) -> std::io::Result<Output> {
    let mut unshare = Command::new("unshare");
    unshare.args(way).args(["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script]);
    unshare.current_dir(directory).stdin(Stdio::null()).output()
}
