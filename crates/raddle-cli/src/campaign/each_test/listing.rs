//! Starting a test program to list its tests.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::EachTestError;

/// Listing takes milliseconds; a program that takes longer runs its tests instead.
const LIMIT: Duration = Duration::from_secs(60);
/// More than this is no list of tests.
const LONGEST: u64 = 64 << 20;

/// What a listing must end with to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// The exit status 0.
    Success,
    /// Any exit status: Catch2 before version 3 returns the number of tests.
    AnyExit,
}

/// What a program prints when started with these arguments. `options` are those of them that ask
/// for the list, for messages.
pub(super) fn listing(
    program: &Path,
    arguments: &[OsString],
    options: &str,
    expect: Expect,
) -> Result<String, EachTestError> {
    let not_started = |source| EachTestError::NotStarted { path: program.into(), source };
    // Files and not pipes: nobody has to read while the program runs, and a child that it leaves
    // behind cannot keep anybody waiting.
    let mut output = tempfile::tempfile().map_err(not_started)?;
    let mut errors = tempfile::tempfile().map_err(not_started)?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(not_started)?)
        .stderr(errors.try_clone().map_err(not_started)?)
        .spawn()
        .map_err(not_started)?;
    let status = wait(child, LIMIT).map_err(not_started)?.ok_or_else(|| EachTestError::Slow {
        path: program.into(),
        options: options.into(),
        limit: LIMIT,
    })?;
    let is_listing = match expect {
        Expect::Success => status.success(),
        Expect::AnyExit => status.code().is_some(),
    };
    if !is_listing {
        let message = text(&mut errors).unwrap_or_default();
        return Err(EachTestError::Failed {
            path: program.into(),
            options: options.into(),
            status,
            message: last_lines(&message),
        });
    }
    text(&mut output).map_err(not_started)
}

/// How the program ended; `None` if it had to be killed.
fn wait(mut child: Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_lines(message: &str) -> String {
    let lines: Vec<_> = message.trim().lines().collect();
    match &lines[lines.len().saturating_sub(5)..] {
        [] => "it wrote no message".into(),
        last => last.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, expect: Expect) -> Result<String, EachTestError> {
        listing(Path::new("/bin/sh"), &["-c".into(), script.into()], "-c", expect)
    }

    #[test]
    fn what_is_printed_and_how_it_ends() {
        assert_eq!(shell("echo a; echo b >&2", Expect::Success).unwrap(), "a\n");
        assert_eq!(shell("echo a; exit 16", Expect::AnyExit).unwrap(), "a\n");
        let error = shell("echo why >&2; exit 3", Expect::Success).unwrap_err().to_string();
        assert_eq!(error, "/bin/sh -c ended with exit status: 3 instead of listing its tests: why");
        assert!(matches!(shell("kill -9 $$", Expect::AnyExit), Err(EachTestError::Failed { .. })));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        assert_eq!(wait(child, Duration::from_millis(20)).unwrap(), None);
    }
}
