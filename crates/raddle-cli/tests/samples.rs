//! The sessions in README.md and the book are what really happens.
//!
//! A block of text that begins with `$ ` is a session. All sessions of a page are made in one folder, which has the
//! programs of the tree, and what they print must be what stands there. `…` stands for any lines, and times may differ.
//! A comment before a block says what is special about it:
//!
//! - `<!-- not run: why -->`: it is not made;
//! - `<!-- file: NAME -->`: the block is a file of that name.
//!
//! `RADDLE_SAMPLES=write cargo test -p raddle-cli --test samples` writes into the pages what is printed now, as far as
//! lines can be told apart; the rest is reported.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::Folder;

/// Where the reader has the tree.
const HOME: &str = "/home/ada/raddle";

/// What stands for any lines.
const ELLIPSIS: &str = "…";

/// A block of a page: where its first line is, its lines, and the comment before it.
struct Block<'a> {
    first: usize,
    lines: Vec<&'a str>,
    comment: Option<&'a str>,
}

/// A command of a session with what it prints, by the lines of the page.
struct Step {
    command: String,
    from: usize,
    to: usize,
}

fn blocks<'a>(lines: &[&'a str]) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].starts_with("```") {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map_or("", |before| lines[before]);
        let comment = before.strip_prefix("<!-- ").and_then(|comment| comment.strip_suffix(" -->"));
        let first = at + 1;
        let end = (first..lines.len()).find(|&i| lines[i] == "```").expect("every block has an end");
        blocks.push(Block { first, lines: lines[first..end].to_vec(), comment });
        at = end + 1;
    }
    blocks
}

impl Block<'_> {
    fn is_session(&self) -> bool {
        self.lines.first().is_some_and(|line| line.starts_with("$ "))
            && !self.comment.is_some_and(|comment| comment.starts_with("not run: "))
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            let next = self.first + i + 1;
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.to_string(), from: next, to: next }),
                (None, Some(step)) => step.to = next,
                (None, None) => {}
            }
        }
        steps
    }
}

/// Numbers that may differ from time to time are left out.
fn without_times(line: &str) -> String {
    let Some((before, after)) = line.split_once(" runs/s") else { return line.to_string() };
    match before.rsplit_once(" in ") {
        Some((what, _)) => format!("{what} in a while{after}"),
        None => line.to_string(),
    }
}

/// Whether lines are as expected, where an ellipsis stands for any.
fn matches(expected: &[&str], lines: &[String]) -> bool {
    match expected {
        [] => lines.is_empty(),
        [ELLIPSIS, rest @ ..] => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        [line, rest @ ..] => {
            lines.first().is_some_and(|it| without_times(it) == without_times(line)) && matches(rest, &lines[1..])
        }
    }
}

/// A line without its numbers, by which it is found again.
fn shape(line: &str) -> String {
    let mut shape: String = line.chars().filter(|c| !c.is_ascii_digit() && !",.%".contains(*c)).collect();
    // Thread t1 may now be what thread t2 was, and the member that made most runs another one.
    shape.truncate(shape.char_indices().nth(12).map_or(shape.len(), |(at, _)| at));
    shape
}

/// What should stand in the page: all lines, or those of the same shape where some are left out.
fn renewed(expected: &[&str], lines: &[String]) -> Option<Vec<String>> {
    if !expected.contains(&ELLIPSIS) {
        return Some(lines.to_vec());
    }
    let mut rest = lines;
    let mut written = Vec::new();
    for line in expected {
        if *line == ELLIPSIS {
            written.push(line.to_string());
            continue;
        }
        let at = rest.iter().position(|it| shape(it) == shape(line))?;
        written.push(rest[at].clone());
        rest = &rest[at + 1..];
    }
    Some(written)
}

/// What a command prints in the folder.
fn printed(folder: &Folder, root: &Path, command: &str) -> Vec<String> {
    // The reader has built raddle, and found it.
    if command.starts_with("make ") || command.starts_with("export PATH=") {
        return Vec::new();
    }
    let binaries = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{{ {command}\n}} 2>&1")).current_dir(folder.path()).env("PATH", path);
    shell.env("RADDLE_RUNTIME", support::runtime()).stdin(std::process::Stdio::null());
    // A reader has no such settings, and a program that is told to print its stack has more points.
    shell.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
    let output = shell.output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = text.replace(&folder.path().display().to_string(), HOME).replace(&root.display().to_string(), HOME);
    text.lines().map(str::to_string).collect()
}

/// Makes the sessions of a page: what differs, and the page as it should be.
fn page(root: &Path, name: &str) -> (Vec<String>, String) {
    let text = fs::read_to_string(root.join(name)).expect("the page");
    let lines: Vec<&str> = text.lines().collect();
    let mut renewed_lines: Vec<Vec<String>> = lines.iter().map(|line| vec![line.to_string()]).collect();
    let mut differences = Vec::new();
    let folder = Folder::new();
    for part in ["programs", "include", "bugs"] {
        std::os::unix::fs::symlink(root.join(part), folder.path().join(part)).expect("a link");
    }
    for block in blocks(&lines) {
        if let Some(file) = block.comment.and_then(|comment| comment.strip_prefix("file: ")) {
            folder.file(file, block.lines.join("\n") + "\n");
        }
        for step in if block.is_session() { block.steps() } else { Vec::new() } {
            let mut printed = printed(&folder, root, &step.command);
            // Sessions need not show the empty line at the end.
            while printed.last().is_some_and(String::is_empty) {
                printed.pop();
            }
            let mut expected = &lines[step.from..step.to];
            while expected.last().is_some_and(|line| line.is_empty()) {
                expected = &expected[..expected.len() - 1];
            }
            if matches(expected, &printed) {
                continue;
            }
            let (from, to) = (step.from, step.from + expected.len());
            let all = |lines: &[String]| lines.iter().map(|line| format!("    {line}\n")).collect::<String>();
            let shown = expected.iter().map(|line| line.to_string()).collect::<Vec<_>>();
            differences.push(format!(
                "{name}:{}: {}\n  as it stands there:\n{}  as it is:\n{}",
                from,
                step.command,
                all(&shown),
                all(&printed)
            ));
            if let Some(lines) = renewed(expected, &printed) {
                renewed_lines[from..to].iter_mut().for_each(Vec::clear);
                // A command that printed nothing before has no line of its own: what follows it stays behind it.
                renewed_lines[from - 1].extend(lines);
            }
        }
    }
    let page: Vec<String> = renewed_lines.into_iter().flatten().collect();
    (differences, page.join("\n") + "\n")
}

#[test]
fn sessions_are_what_happens() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the tree");
    let book = fs::read_dir(root.join("docs/src")).expect("the book");
    let mut pages: Vec<String> = book
        .map(|entry| format!("docs/src/{}", entry.expect("a file").file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".md"))
        .collect();
    pages.push("README.md".to_string());
    pages.sort();
    let mut differences = Vec::new();
    for name in pages {
        let (different, text) = page(&root, &name);
        if !different.is_empty() && std::env::var_os("RADDLE_SAMPLES").is_some_and(|it| it == "write") {
            fs::write(root.join(&name), text).expect("the page");
        }
        differences.extend(different);
    }
    assert!(
        differences.is_empty(),
        "RADDLE_SAMPLES=write writes what it can of this into the pages:\n{}",
        differences.join("\n")
    );
}

#[test]
fn an_ellipsis_is_any_lines() {
    let lines = ["a", "  runs 7 in 0.11 s, 65 runs/s", "b", "c"].map(str::to_string);
    assert!(matches(&["a", "  runs 7 in 9 s, 1 runs/s", ELLIPSIS], &lines));
    assert!(matches(&[ELLIPSIS, "c"], &lines) && matches(&[ELLIPSIS, "b", "c", ELLIPSIS], &lines));
    assert!(!matches(&["a"], &lines) && !matches(&[ELLIPSIS, "b"], &lines) && !matches(&["b", ELLIPSIS], &lines));
    assert!(!matches(&["a", "  runs 8 in 0.11 s, 65 runs/s", ELLIPSIS], &lines));
    let renewed = renewed(&["a", ELLIPSIS, "  runs 9 in 1 s, 9 runs/s"], &lines);
    assert_eq!(renewed.expect("found"), ["a", ELLIPSIS, "  runs 7 in 0.11 s, 65 runs/s"]);
    assert_eq!(self::renewed(&[ELLIPSIS, "what is this"], &lines), None);
}

#[test]
fn sessions_have_steps() {
    let page = "text\n<!-- not run: it takes long -->\n```text\n$ sleep\n```\n```text\n$ one\n$ two\nprinted\n```\n";
    let lines: Vec<&str> = page.lines().collect();
    let blocks = blocks(&lines);
    assert_eq!(blocks.iter().map(Block::is_session).collect::<Vec<_>>(), [false, true]);
    let steps = blocks[1].steps();
    let of = |step: &Step| (step.command.clone(), lines[step.from..step.to].to_vec());
    assert_eq!(steps.iter().map(of).collect::<Vec<_>>(), [("one".into(), vec![]), ("two".into(), vec!["printed"])]);
}
