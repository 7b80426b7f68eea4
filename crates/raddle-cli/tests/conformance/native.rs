//! What a row answers natively.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::rows::Row;
use super::support::WATCHDOG;

/// Separates answers in the file that a row compares itself with; `harness.c` knows it, too.
const SEPARATOR: &str = "====\n";

/// The answers of a row, as far as they are known.
pub struct Answers {
    answers: Vec<String>,
    runs: u32,
}

impl Answers {
    /// Runs a row natively, as often as it takes to know a row that always answers the same.
    pub fn of(row: &Row) -> Result<Answers, String> {
        let mut answers = Answers { answers: Vec::new(), runs: 0 };
        answers.more(row, 5)?;
        Ok(answers)
    }

    /// Runs it more often: whether there is a new answer.
    pub fn more(&mut self, row: &Row, runs: u32) -> Result<bool, String> {
        let before = self.answers.len();
        for _ in 0..runs {
            // The first runs are left alone; the others are delayed at random.
            let answer = run(row, self.runs.saturating_sub(1))?;
            self.runs += 1;
            if !self.answers.contains(&answer) {
                self.answers.push(answer);
            }
        }
        Ok(self.answers.len() > before)
    }

    /// The answers in the format that the row's program reads.
    pub fn text(&self) -> String {
        self.answers.iter().map(|answer| format!("{answer}{SEPARATOR}")).collect()
    }

    /// The first answer, for a person.
    pub fn first(&self) -> &str {
        &self.answers[0]
    }
}

/// Runs a row once; with a seed that is not zero, calls are delayed at random.
fn run(row: &Row, seed: u32) -> Result<String, String> {
    let mut child = Command::new(&row.program)
        .args([&row.argument, "--shake", &seed.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A row that signals its group reaches only itself.
        .process_group(0)
        .spawn()
        .map_err(|e| e.to_string())?;
    let status = wait(&mut child).map_err(|e| e.to_string())?;
    let mut answer = String::new();
    let mut out = child.stdout.take().expect("its output");
    std::io::Read::read_to_string(&mut out, &mut answer).map_err(|e| e.to_string())?;
    match status {
        Some(status) if status.success() => Ok(answer),
        Some(status) => Err(format!("natively: {status}\n{answer}")),
        None => Err("natively: does not end".into()),
    }
}

/// Waits for a child, and kills its group if it hangs.
fn wait(child: &mut std::process::Child) -> std::io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    while begin.elapsed() < WATCHDOG / 10 {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // SAFETY: no memory is involved; the group is that of a child which was not waited for yet.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    child.wait()?;
    Ok(None)
}
