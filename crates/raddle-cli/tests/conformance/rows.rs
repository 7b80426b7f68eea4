//! The rows: builds the programs of `conformance/` and asks each for its rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use super::support::programs::root;

/// A row of a program.
#[derive(Clone)]
pub struct Row {
    /// FILE/ROW.
    pub name: String,
    pub program: PathBuf,
    /// The row's name in its program.
    pub argument: String,
    /// The symbols whose behaviour it shows.
    pub covers: Vec<String>,
}

/// The folder of the rows' sources.
pub fn folder() -> PathBuf {
    root().join("conformance")
}

/// All rows of all files, in the order of their names.
pub fn all() -> Vec<Row> {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    let list = || {
        let mut rows: Vec<Row> = sources().iter().flat_map(|source| list(source, &compile(source))).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        rows
    };
    ROWS.get_or_init(list).clone()
}

fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).expect("the folder of rows").map(|entry| entry.expect("an entry").path());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "c") && !file.ends_with("harness.c")).collect()
}

fn list(source: &Path, program: &Path) -> Vec<Row> {
    let output = Command::new(program).arg("--list").output().expect("a program of rows runs");
    assert!(output.status.success(), "{} does not list its rows", program.display());
    let file = source.file_stem().unwrap_or_default().to_string_lossy();
    let text = String::from_utf8(output.stdout).expect("names are text");
    let row = |line: &str| {
        let (name, covers) = line.split_once('\t').unwrap_or((line, ""));
        let covers = covers.split_whitespace().map(str::to_owned).collect();
        Row { name: format!("{file}/{name}"), program: program.to_owned(), argument: name.to_owned(), covers }
    };
    text.lines().map(row).collect()
}

fn compile(source: &Path) -> PathBuf {
    let binaries = root().join("target/conformance");
    fs::create_dir_all(&binaries).expect("a folder for the binaries");
    let program = binaries.join(source.file_stem().unwrap_or_default());
    let (harness, header) = (folder().join("harness.c"), folder().join("conformance.h"));
    let newest = [source, &harness, &header].into_iter().filter_map(modified).max();
    if modified(&program) > newest {
        return program;
    }
    // Tests that run beside each other may build the same: whole files take each other's place.
    let unfinished = program.with_extension(std::process::id().to_string());
    let output = Command::new("gcc")
        .args(["-std=gnu17", "-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror"])
        .arg(source)
        .arg(&harness)
        .arg("-o")
        .arg(&unfinished)
        .output()
        .expect("gcc runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{said}", source.display());
    fs::rename(&unfinished, &program).expect("a program's new place");
    program
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
