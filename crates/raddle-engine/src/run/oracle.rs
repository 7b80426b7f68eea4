//! The user's oracle (`--check`): a shell command that looks at the results of a run.
//!
//! It runs in the run's directory and finds in its environment RADDLE_STDOUT and RADDLE_STDERR, the
//! names of files with what the run printed, and RADDLE_STATUS, the exit status as a shell shows it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::output::{Capture, Output};
use super::watch::Stop;
use crate::os::process;
use crate::os::sys::{self, Ending};

/// How often the limit is looked at, in milliseconds.
const LOOK: i32 = 20;

/// Asks the oracle; `None` when it is content, otherwise what it said.
pub fn ask(
    command: &OsStr,
    directory: &Path,
    output: &Output,
    ending: Ending,
    at_most: Duration,
    stop: &Stop,
) -> io::Result<Option<String>> {
    let answer = Capture::new()?;
    let own = |capture: &Capture| format!("/proc/{}/fd/{}", std::process::id(), capture.descriptor());
    let to_answer = || std::fs::OpenOptions::new().append(true).open(own(&answer));
    let mut oracle = Command::new("/bin/sh");
    oracle
        .arg("-c")
        .arg(command)
        .current_dir(directory)
        .env("RADDLE_STDOUT", own(&output.stdout))
        .env("RADDLE_STDERR", own(&output.stderr))
        .env("RADDLE_STATUS", ending.shell_status().to_string())
        .stdin(Stdio::null())
        // A signal that a terminal or `timeout` sends to our group asks us to stop, and is no verdict.
        .process_group(0)
        .stdout(to_answer()?)
        .stderr(to_answer()?);
    // It would inherit the signals that this thread blocks.
    let mut child = sys::with_all_signals(|| oracle.spawn())?;
    let shown = command.to_string_lossy();
    let Some(status) = wait(&mut child, at_most, stop)? else {
        return Ok(Some(format!("the check `{shown}` took longer than {} s", at_most.as_secs_f64())));
    };
    if status.success() {
        return Ok(None);
    }
    let answer = answer.read()?;
    let text = String::from_utf8_lossy(&answer);
    let reason = text.lines().find(|line| !line.trim().is_empty());
    let reason = reason.map_or(String::new(), |line| format!(": {line}"));
    Ok(Some(format!("the check `{shown}` failed ({status}){reason}")))
}

/// Looks at the command before the first run: a typing error is no verdict on the program. What is wrong, if anything.
pub fn look(command: &OsStr, directory: &Path) -> io::Result<Option<String>> {
    let shell = |arguments: &[&OsStr]| {
        let mut shell = Command::new("/bin/sh");
        sys::with_all_signals(|| shell.args(arguments).current_dir(directory).stdin(Stdio::null()).output())
    };
    let read = shell(&["-n".as_ref(), "-c".as_ref(), command])?;
    if !read.status.success() {
        let said = String::from_utf8_lossy(&read.stderr).trim().to_string();
        return Ok(Some(format!("the shell does not understand it: {said}")));
    }
    let Some(word) = first_word(&command.to_string_lossy()).map(str::to_string) else { return Ok(None) };
    let found = shell(&["-c".as_ref(), "command -v \"$0\"".as_ref(), word.as_ref()])?;
    Ok((!found.status.success()).then(|| format!("there is no command `{word}`")))
}

/// The name of the first command, where it is plain enough to be sure of it.
fn first_word(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+./".contains(c);
    (word.chars().all(plain) && !word.starts_with('-')).then_some(word)
}

/// Waits for the oracle; kills it when it takes too long, or when the job is asked to stop.
fn wait(child: &mut Child, at_most: Duration, stop: &Stop) -> io::Result<Option<std::process::ExitStatus>> {
    let started = Instant::now();
    let pidfd = process::open(child.id() as libc::pid_t)?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > at_most || stop.requested() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        process::ended(&pidfd, LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str) -> Option<String> {
        let output = Output::new().expect("captures");
        std::fs::write(format!("/proc/self/fd/{}", output.stdout.descriptor()), "total 7\n").expect("written");
        let limit = Duration::from_millis(500);
        ask(OsStr::new(command), Path::new("/"), &output, Ending::Exit(3), limit, &Stop::default()).expect("runs")
    }

    #[test]
    fn a_command_that_is_not_there_is_no_verdict() {
        let wrong = |command: &str| look(command.as_ref(), Path::new("/")).expect("a shell").unwrap_or_default();
        assert_eq!(wrong("no-such-command -q \"$RADDLE_STDOUT\""), "there is no command `no-such-command`");
        assert_eq!(wrong("/no/such/check"), "there is no command `/no/such/check`");
        assert!(wrong("grep 'x").starts_with("the shell does not understand it: "));
        for right in [
            "true",
            "grep -q x y | cat",
            "! false",
            "x=1; no-such-command",
            "[ 1 = 1 ]",
            "(exit 0)",
            "if :; then :; fi",
        ] {
            assert_eq!(wrong(right), "", "{right}");
        }
    }

    #[test]
    fn sees_the_results_of_the_run() {
        assert_eq!(check("grep -q 'total 7' $RADDLE_STDOUT && test $RADDLE_STATUS = 3"), None);
        assert_eq!(check("test -s $RADDLE_STDERR || test $(pwd) = /"), None);
    }

    #[test]
    fn says_what_the_check_said() {
        assert_eq!(
            check("echo wrong total; exit 4").as_deref(),
            Some("the check `echo wrong total; exit 4` failed (exit status: 4): wrong total")
        );
    }

    #[test]
    fn gets_signals_although_the_job_blocks_them() {
        let blocked = "grep SigBlk /proc/self/status; exit 1";
        let asked = sys::spawn("job".to_string(), move || {
            let answer = check(blocked).expect("fails");
            assert!(answer.ends_with("SigBlk:\t0000000000000000"), "{answer}");
        });
        asked.expect("a thread").join().expect("the oracle blocks no signal");
    }

    #[test]
    fn does_not_wait_for_ever() {
        assert_eq!(check("sleep 60").as_deref(), Some("the check `sleep 60` took longer than 0.5 s"));
    }
}
