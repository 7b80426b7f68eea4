//! The programs of the suite: finds and compiles them, and runs raddle on them.
//!
//! RADDLE_SUITE_ONLY leaves only the programs whose path contains the text.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use serde_json::Value;

/// A program of the suite with what its header says.
pub struct Program {
    source: PathBuf,
    binary: PathBuf,
    header: BTreeMap<String, String>,
}

impl Program {
    /// Its folder and file.
    pub fn name(&self) -> String {
        let folder = self.source.parent().and_then(Path::file_name).unwrap_or_default();
        format!("{}/{}", folder.to_string_lossy(), self.source.file_name().unwrap_or_default().to_string_lossy())
    }

    /// What its header says about something.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.header.get(key).map(String::as_str)
    }

    fn arguments(&self) -> Vec<String> {
        self.get("args").unwrap_or("").split_whitespace().map(str::to_owned).collect()
    }
}

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The runtime library: where RADDLE_RUNTIME says, or as cargo has built it.
pub fn runtime() -> PathBuf {
    std::env::var_os("RADDLE_RUNTIME").map_or_else(|| root().join("target/release/libraddle_runtime.so"), PathBuf::from)
}

fn build_folder() -> PathBuf {
    root().join("target/programs")
}

fn header(source: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(source).expect("a program is text");
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines
        .filter_map(|line| line.trim_start_matches("//").split_once(':'))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// The programs of a folder with one of these endings, compiled.
pub fn programs(folder: &str, endings: &[&str]) -> Vec<Program> {
    let only = std::env::var("RADDLE_SUITE_ONLY").unwrap_or_default();
    let mut sources: Vec<PathBuf> = fs::read_dir(root().join("programs").join(folder))
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| endings.iter().any(|e| path.extension().is_some_and(|x| x == *e)))
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    sources.sort();
    fs::create_dir_all(build_folder()).expect("a folder for the binaries");
    let from_crates = folder.starts_with("crates");
    if from_crates && !sources.is_empty() {
        build_crates();
    }
    let programs: Vec<Program> = sources
        .into_iter()
        .map(|source| {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let flat = format!("{}-{}", folder, source.file_name().unwrap_or_default().to_string_lossy())
                .replace(['.', '/'], "_");
            let binary =
                if from_crates { build_folder().join("crates/debug").join(stem) } else { build_folder().join(flat) };
            Program { header: header(&source), source, binary }
        })
        .collect();
    if !from_crates {
        each(&programs, compile);
    }
    programs
}

fn build_crates() {
    let manifest = root().join("programs/crates/Cargo.toml");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--bins", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", build_folder().join("crates"))
        .env_remove("RUSTFLAGS")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "programs/crates does not build");
}

fn compile(program: &Program) -> Result<(), String> {
    let newer = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    if newer(&program.binary) > newer(&program.source) {
        return Ok(());
    }
    let mut command = match program.source.extension().and_then(|e| e.to_str()) {
        Some("c") => with(Command::new("gcc"), &["-std=gnu17", "-O1", "-g", "-pthread", "-Wall", "-Wextra"]),
        Some("cc") => with(Command::new("g++"), &["-std=c++20", "-O1", "-g", "-pthread", "-Wall", "-Wextra"]),
        _ => with(Command::new("rustc"), &["--edition", "2021", "-C", "opt-level=1", "-g"]),
    };
    // The program's own flags come last: libraries follow what needs them.
    command.arg(&program.source).arg("-o").arg(&program.binary);
    command.args(program.get("flags").unwrap_or("").split_whitespace());
    let output = command.output().map_err(|e| format!("{}: {e}", program.name()))?;
    if !output.status.success() {
        return Err(format!("{} does not compile:\n{}", program.name(), String::from_utf8_lossy(&output.stderr)));
    }
    Ok(())
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}

/// Does something with every program, one worker per core, and fails with all complaints at once.
pub fn each(programs: &[Program], work: impl Fn(&Program) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for core in 0..cores {
            let (next, complaints, work) = (&next, &complaints, &work);
            scope.spawn(move || {
                pin(core);
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(complaint) = work(program) {
                        complaints.lock().expect("no worker panicked").push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no worker panicked");
    assert!(
        complaints.is_empty(),
        "{} of {} programs:\n\n{}",
        complaints.len(),
        programs.len(),
        complaints.join("\n\n")
    );
}

/// Pins this thread, and so the campaigns that it starts, to a core of its own.
fn pin(core: usize) {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed);
        let mine = (0..libc::CPU_SETSIZE as usize).filter(|&c| libc::CPU_ISSET(c, &allowed)).nth(core);
        if let Some(mine) = mine {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(mine, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
        }
    }
}

/// Runs raddle on a program, with a runtime, in a folder.
pub fn raddle(program: &Program, runtime: &Path, out: &Path, options: &[&str], tail: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(options).args(tail).env("RADDLE_RUNTIME", runtime).env_remove("RUST_BACKTRACE").current_dir(out);
    let input = out.join("stdin");
    fs::write(&input, unescape(program.get("stdin").unwrap_or(""))).expect("a file for stdin");
    command.stdin(fs::File::open(&input).expect("the file for stdin")).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: only resets a signal's disposition between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            Ok(())
        });
    }
    command.output().expect("raddle runs")
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n")
}

/// Tests a program: the exit status, the report, and all that was printed.
pub fn campaign(program: &Program, runtime: &Path, out: &Path, options: &[&str]) -> (Option<i32>, Value, String) {
    let mut tail = vec!["--".to_owned(), program.binary.display().to_string()];
    tail.extend(program.arguments());
    let options: Vec<&str> = ["test", "--json", "-", "--quiet"].iter().chain(options).copied().collect();
    let output = raddle(program, runtime, out, &options, &tail);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The JSON comes first; a summary may follow it.
    let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
    (output.status.code(), json.and_then(Result::ok).unwrap_or(Value::Null), said)
}
