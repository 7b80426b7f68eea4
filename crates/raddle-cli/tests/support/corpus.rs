//! The programs of `bugs/`: their headers, their two builds, and campaigns on them.
//!
//! RADDLE_CORPUS_ONLY leaves only the entries whose name contains the text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::Value;

use super::programs::{root, runtime};

/// The kinds of failures that a header may name.
pub const KINDS: [&str; 5] = ["assert", "signal", "exit", "deadlock", "livelock"];
/// The levels of points that a header may name.
pub const LEVELS: [&str; 4] = ["sync", "atomic", "race", "memory"];
/// What every header has.
const NEEDED: [&str; 6] = ["bug", "kind", "depth", "threads", "source", "finds"];
/// What a header may have.
const OPTIONAL: [&str; 5] = ["points", "args", "variants", "flags", "row"];

/// A source of the corpus.
#[derive(Clone)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    header: BTreeMap<String, String>,
}

/// A program with its arguments: a source, or a variant of it.
#[derive(Clone)]
pub struct Entry {
    /// The source's name and the variant's.
    pub name: String,
    pub source: Source,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// Its threads, the main one included.
    pub threads: u64,
    /// The d with which PCT is run on it.
    pub pct_depth: u32,
    /// Whether it is the first entry of its source.
    pub first: bool,
}

/// With the bug or without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Twin {
    Buggy,
    Fixed,
}

/// Who compiles a program of C or C++. Rust has only one compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compiler {
    Gcc,
    Clang,
}

impl Source {
    fn read(path: PathBuf) -> Source {
        let text = fs::read_to_string(&path).expect("a program is text");
        let lines = text.lines().take_while(|line| line.starts_with("//"));
        let pairs = lines.filter_map(|line| line.trim_start_matches('/').split_once(':'));
        let known = |key: &str| NEEDED.contains(&key) || OPTIONAL.contains(&key);
        let mut header = BTreeMap::new();
        for (key, value) in pairs.map(|(key, value)| (key.trim(), value.trim())).filter(|(key, _)| known(key)) {
            let before = header.insert(key.to_owned(), value.to_owned());
            assert!(before.is_none(), "{}: two lines for {key}", path.display());
        }
        Source { path, header }
    }

    /// What the header says.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.header.get(key).map(String::as_str)
    }

    /// The file's name without its ending.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn ending(&self) -> &str {
        self.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
    }

    /// The level of points that its bug needs.
    pub fn points(&self) -> &str {
        self.get("points").unwrap_or("sync")
    }

    /// What is wrong with the header.
    pub fn complaints(&self) -> Vec<String> {
        let missing = NEEDED.iter().filter(|key| self.get(key).is_none_or(str::is_empty));
        let mut all: Vec<String> = missing.map(|key| format!("no {key}")).collect();
        if !self.get("kind").is_some_and(|kind| KINDS.contains(&kind)) {
            all.push(format!("kind is none of {KINDS:?}"));
        }
        if !LEVELS.contains(&self.points()) {
            all.push(format!("points is none of {LEVELS:?}"));
        }
        let named = |row: &str| row.split_once(':').is_some_and(|(paper, row)| !paper.is_empty() && !row.is_empty());
        if self.get("row").is_some_and(|rows| !rows.split(',').all(|row| named(row.trim()))) {
            all.push("a row is not PAPER:ROW".into());
        }
        if let Err(complaint) = self.entries() {
            all.push(complaint);
        }
        all.into_iter().map(|complaint| format!("{}: {complaint}", self.path.display())).collect()
    }

    /// Its entries: one for each variant, or one.
    pub fn entries(&self) -> Result<Vec<Entry>, String> {
        let number = |key: &str| {
            let value = self.get(key).unwrap_or_default();
            value.parse::<u32>().ok().filter(|&n| n > 0).ok_or_else(|| format!("{key} is {value:?}, not a number"))
        };
        let entry = |name: String, arguments: &str| {
            let arguments = arguments.split_whitespace().map(str::to_owned).collect();
            let (threads, depth) = (number("threads")?.into(), number("depth")?);
            let own = self.get("pct-depth").map(|_| number("pct-depth")).transpose()?;
            let pct_depth = own.unwrap_or(depth);
            Ok::<Entry, String>(Entry { name, source: self.clone(), arguments, threads, pct_depth, first: false })
        };
        let mut entries = Vec::new();
        match self.get("variants") {
            None => entries.push(entry(self.stem(), self.get("args").unwrap_or(""))?),
            Some(variants) => {
                for variant in variants.split(';') {
                    let wrong = || format!("variant {variant:?} is not SUFFIX = ARGUMENTS [threads N, depth N]");
                    let (suffix, rest) = variant.split_once('=').ok_or_else(wrong)?;
                    let (arguments, extras) = rest.split_once('[').unwrap_or((rest, "]"));
                    let mut entry = entry(format!("{}-{}", self.stem(), suffix.trim()), arguments)?;
                    let extras = extras.trim().strip_suffix(']').ok_or_else(wrong)?;
                    for extra in extras.split(',').map(str::trim).filter(|extra| !extra.is_empty()) {
                        match extra.split_once(' ').map(|(key, value)| (key, value.trim().parse())) {
                            Some(("threads", Ok(threads))) => entry.threads = threads,
                            Some(("depth", Ok(depth))) if self.get("pct-depth").is_none() => {
                                entry.pct_depth = depth as u32
                            }
                            Some(("depth", Ok(_))) => {}
                            _ => return Err(wrong()),
                        }
                    }
                    entries.push(entry);
                }
            }
        }
        entries[0].first = true;
        Ok(entries)
    }

    /// The policies that find its bug in all variants: what stands before the first semicolon of `finds`.
    pub fn found_by(&self) -> Vec<&str> {
        let first = self.get("finds").unwrap_or_default().split(';').next().unwrap_or_default();
        first.split(',').map(str::trim).collect()
    }

    /// Where a build of it is.
    pub fn binary(&self, twin: Twin, compiler: Compiler) -> PathBuf {
        let name = format!("bugs-{}_{}-{twin:?}-{compiler:?}", self.stem(), self.ending());
        root().join("target/programs").join(name)
    }

    /// Compiles it, with every warning an error.
    pub fn compile(&self, twin: Twin, compiler: Compiler) -> Result<(), String> {
        let (binary, raddle) = (self.binary(twin, compiler), Path::new(env!("CARGO_BIN_EXE_raddle")));
        let newest = shared().iter().chain([&self.path]).map(|path| modified(path)).max().flatten();
        if modified(&binary) > newest.max(modified(raddle)) {
            return Ok(());
        }
        let visible = self.points() != "sync";
        let (cc, cxx, level) = match compiler {
            Compiler::Gcc => ("gcc", "g++", "-O1"),
            Compiler::Clang => ("clang-19", "clang++-19", "-O2"),
        };
        let mut command = match (self.ending(), visible) {
            ("c", false) => Command::new(cc),
            ("cc", false) => Command::new(cxx),
            ("rs", _) => Command::new("rustc"),
            _ => Command::new(raddle),
        };
        match self.ending() {
            "rs" => {
                command.args(["--edition", "2021", "-g", "-Copt-level=2", "--check-cfg", "cfg(fixed)", "-Dwarnings"]);
                if visible {
                    let hooks = format!("-Clink-arg={}", super::programs::hooks().display());
                    command.args(super::programs::RUST_HOOKS).arg(hooks);
                }
                if twin == Twin::Fixed {
                    command.args(["--cfg", "fixed"]);
                }
            }
            ending => {
                if visible {
                    command.arg(if ending == "c" { "cc" } else { "c++" });
                    command.env("RADDLE_CC", cc).env("RADDLE_CXX", cxx).env_remove("RADDLE_VISIBLE");
                }
                command.arg(if ending == "c" { "-std=gnu17" } else { "-std=c++20" });
                command.args(["-g", "-pthread", "-Wall", "-Wextra", "-Werror", level]);
                if twin == Twin::Fixed {
                    command.arg("-DFIXED");
                }
            }
        }
        // Another test may be building the same: whole files take each other's place.
        let unfinished = binary.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
        command.arg(&self.path).arg("-o").arg(&unfinished);
        command.args(self.get("flags").unwrap_or("").split_whitespace());
        let output = command.output().map_err(|e| format!("{}: {e}", self.path.display()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} ({twin:?}, {compiler:?}) does not compile:\n{said}", self.path.display()));
        }
        fs::rename(&unfinished, &binary).map_err(|e| format!("{}: {e}", binary.display()))
    }
}

impl Entry {
    /// Tests it: the exit status, the report, and all that was printed.
    pub fn campaign(&self, twin: Twin, compiler: Compiler, options: &[&str]) -> (Option<i32>, Value, String) {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["test", "--json", "-", "--quiet", "--points", self.source.points()])
            .args(options)
            .arg("--")
            .arg(self.source.binary(twin, compiler))
            .args(&self.arguments)
            .env("RADDLE_RUNTIME", runtime())
            // A backtrace costs more than the run.
            .env_remove("RUST_BACKTRACE")
            .current_dir(out.path())
            .output()
            .expect("raddle runs");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
        (output.status.code(), json.and_then(Result::ok).unwrap_or(Value::Null), said)
    }
}

/// All sources, in the order of their paths.
pub fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in files(&root().join("bugs")) {
        if folder.is_dir() && !folder.ends_with("include") {
            paths.extend(files(&folder));
        }
    }
    paths.sort();
    paths.into_iter().map(Source::read).collect()
}

/// The entries of all sources, or those that RADDLE_CORPUS_ONLY leaves.
pub fn entries() -> Vec<Entry> {
    let only = std::env::var("RADDLE_CORPUS_ONLY").unwrap_or_default();
    let all = sources().into_iter().flat_map(|source| source.entries().expect("a header that parses"));
    all.filter(|entry| entry.name.contains(&only)).collect()
}

/// What several sources include: headers, and sources that are built in two ways.
fn shared() -> Vec<PathBuf> {
    let mut shared = files(&root().join("bugs/include"));
    shared.push(root().join("bugs/applications/memcached.c"));
    shared
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
