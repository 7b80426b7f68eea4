//! Processes that outlive a run which was a process of its own, or whose fork server has died.
//!
//! A fork server is the parent of all that its runs leave behind, and ends it. Without one, what a run leaves behind
//! belongs to nobody. It is found by its environment: every process of a run has inherited the job's own TMPDIR.
//! A daemon that has left the run's process group and cleared its environment is not found.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::pid_t;

use crate::os::process;

/// Rounds of looking and killing: what is killed may have started others meanwhile.
const ROUNDS: usize = 20;

/// How long a killed process may take to end, in milliseconds.
const PATIENCE: i32 = 1000;

/// Kills the processes that have this TMPDIR.
pub fn sweep(tmp: &Path) {
    let mut wanted = b"TMPDIR=".to_vec();
    wanted.extend_from_slice(tmp.as_os_str().as_bytes());
    for _ in 0..ROUNDS {
        let strays = processes().filter(|&pid| inherited(pid, &wanted));
        let mut any = false;
        for pid in strays {
            // The number may be another process's by now: with the descriptor in hand the environment is looked at again.
            let Ok(pidfd) = process::open(pid) else { continue };
            if inherited(pid, &wanted) {
                any = true;
                process::signal(&pidfd, libc::SIGKILL);
                process::ended(&pidfd, PATIENCE);
            }
        }
        if !any {
            return;
        }
    }
}

/// The processes that there are, except for this one; none where /proc shows those of another PID namespace, whose
/// numbers are other processes here.
fn processes() -> impl Iterator<Item = pid_t> {
    let proc = process::proc_is_ours().then(|| fs::read_dir("/proc"));
    let entries = proc.into_iter().flatten().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| pid > 1 && pid != std::process::id() as pid_t)
}

/// Whether a process has inherited a variable. That of another user cannot be read, and has not.
fn inherited(pid: pid_t, wanted: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn daemons_end_and_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let sleep = |tmp: &Path| Command::new("sleep").arg("1000").env("TMPDIR", tmp).spawn().expect("sleep starts");
        let (mut stray, mut other) = (sleep(folder.path()), sleep(&folder.path().join("other")));
        // The variable is there once the program is.
        while !fs::read_link(format!("/proc/{}/exe", stray.id())).is_ok_and(|exe| exe.ends_with("sleep")) {}
        sweep(folder.path());
        assert!(!stray.wait().expect("has ended").success());
        assert!(other.try_wait().expect("asked").is_none());
        other.kill().expect("killed");
        other.wait().expect("has ended");
    }
}
