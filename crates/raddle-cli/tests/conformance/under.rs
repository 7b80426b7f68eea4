//! What a row answers under raddle, compared with its native answers.

use std::fmt;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::native::Answers;
use super::rows::Row;
use super::support::programs::runtime;

/// A policy and a way to switch threads.
pub type Way = (&'static str, &'static str);

/// All ways in which a row is run.
pub const WAYS: [Way; 6] = [
    ("random", "fiber"),
    ("pct", "os"),
    ("portfolio", "fiber"),
    ("random", "os"),
    ("pct", "fiber"),
    ("portfolio", "os"),
];

/// A row that does not answer as it does natively.
pub struct Difference {
    pub row: String,
    /// Where: a policy and a way to switch threads, or natively.
    place: String,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} · {}", self.row, self.place)?;
        self.what.lines().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// Runs a row natively, then in some ways under raddle; of a row that is known to differ, one difference is enough.
pub fn differences(row: &Row, ways: &[Way], runs: u32, known: bool) -> Vec<Difference> {
    let mut answers = match Answers::of(row) {
        Ok(answers) => answers,
        Err(what) => return vec![Difference { row: row.name.clone(), place: "natively".into(), what }],
    };
    let mut found: Vec<Difference> = Vec::new();
    for (policy, switch) in ways {
        if let Some(what) = differs(row, (policy, switch), runs, &mut answers) {
            found.push(Difference { row: row.name.clone(), place: format!("{policy}, {switch}"), what });
            if known {
                break;
            }
        }
    }
    found
}

/// How a row differs under raddle, if it does. An answer that is new is looked for among more native ones.
fn differs(row: &Row, way: Way, runs: u32, answers: &mut Answers) -> Option<String> {
    loop {
        let what = campaign(row, way, runs, answers)?;
        match what {
            Found::Finding(what) => return Some(what),
            Found::Answer(answer) => match answers.more(row, 30) {
                Ok(true) => continue,
                Ok(false) => return Some(first_lines_apart(answers.first(), &answer)),
                Err(what) => return Some(what),
            },
        }
    }
}

/// What a campaign found.
enum Found {
    /// An answer that is not among the native ones.
    Answer(String),
    /// A failure of another kind.
    Finding(String),
}

fn campaign(row: &Row, (policy, switch): Way, runs: u32, answers: &Answers) -> Option<Found> {
    let folder = tempfile::tempdir().expect("a folder for the campaign");
    let (allowed, got) = (folder.path().join("allowed"), folder.path().join("got"));
    fs::write(&allowed, answers.text()).expect("a file of answers");
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["test", "--quiet", "--json", "-", "--seed", "1", "--run-timeout", "10", "--policy", policy])
        // A row says what a call does on a machine with nothing else to do.
        .args(["--lag", "0"])
        .args(["--switch", switch, "--runs", &runs.to_string(), "--"])
        .arg(&row.program)
        .args([&row.argument, "--under", "--allowed"])
        .arg(&allowed)
        .arg("--got")
        .arg(&got)
        .env("RADDLE_RUNTIME", runtime())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("raddle runs");
    if output.status.success() {
        return None;
    }
    // The row's own exit status says that the answer is new; after any other failure the file may be a leftover.
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let failure = &report["failures"][0];
    let new = failure["kind"] == "exit" && failure["message"].as_str().is_some_and(|text| text.contains("status 9"));
    match fs::read_to_string(&got) {
        Ok(answer) if new => Some(Found::Answer(answer)),
        _ if failure.is_object() => Some(Found::Finding(format!("{}: {}", failure["kind"], failure["message"]))),
        _ => Some(Found::Finding(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))),
    }
}

/// The first lines in which two answers differ, with the line before.
fn first_lines_apart(native: &str, under: &str) -> String {
    let (native, under): (Vec<_>, Vec<_>) = (native.lines().collect(), under.lines().collect());
    let same = native.iter().zip(&under).take_while(|(a, b)| a == b).count();
    let from = |lines: &[&str], sign: char| -> String {
        lines.iter().skip(same).take(3).map(|line| format!("{sign} {line}\n")).collect()
    };
    let before = same.checked_sub(1).map(|at| format!("  {}\n", native[at])).unwrap_or_default();
    format!("{before}{}{}", from(&native, '-'), from(&under, '+'))
}
