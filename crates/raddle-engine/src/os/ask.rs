//! Running a program for what it prints, and not for long.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// More than this is no answer.
const LONGEST: u64 = 64 << 20;

/// What a program printed.
#[derive(Debug)]
pub struct Answer {
    /// How the program ended; `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub errors: String,
}

impl Answer {
    /// The last of what the program wrote to standard error.
    pub fn message(&self) -> String {
        let lines: Vec<_> = self.errors.trim().lines().collect();
        match &lines[lines.len().saturating_sub(5)..] {
            [] => "it wrote no message".into(),
            last => last.join("\n"),
        }
    }
}

/// Runs a program without input; it is killed at the limit.
pub fn ask(command: &mut Command, limit: Duration) -> io::Result<Answer> {
    // Files and not pipes: nobody has to read while the program runs, and a child that it leaves
    // behind cannot keep anybody waiting.
    let mut output = tempfile::tempfile()?;
    let mut errors = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(errors.try_clone()?);
    let status = wait(command.spawn()?, limit)?;
    Ok(Answer { status, output: text(&mut output)?, errors: text(&mut errors)? })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let answer = ask(Command::new("sh").args(["-c", "echo a; exec sleep 1000"]), Duration::from_millis(200));
        let answer = answer.expect("a shell");
        assert_eq!((answer.status, answer.output.as_str()), (None, "a\n"));
        assert_eq!(answer.message(), "it wrote no message");
    }
}
