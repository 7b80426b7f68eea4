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
    build: Build,
}

/// How a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Build {
    /// As it would be anyway.
    Ordinary,
    /// With hooks before its accesses to memory, at this level of optimisation. Rust has only one compiler.
    Instrumented(Compiler, u8),
}

/// Whose compilers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compiler {
    Gcc,
    Clang,
}

impl Program {
    /// Its folder and file.
    pub fn name(&self) -> String {
        let folder = self.source.parent().and_then(Path::file_name).unwrap_or_default();
        let name =
            format!("{}/{}", folder.to_string_lossy(), self.source.file_name().unwrap_or_default().to_string_lossy());
        match self.build {
            Build::Ordinary => name,
            Build::Instrumented(_, level) if self.ending() == "rs" => format!("{name} (rustc -O{level})"),
            Build::Instrumented(compiler, level) => format!("{name} ({compiler:?} -O{level})"),
        }
    }

    pub fn binary(&self) -> &Path {
        &self.binary
    }

    fn ending(&self) -> &str {
        self.source.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
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

/// The runtime library: the one that RADDLE_RUNTIME names, or the one that raddle brings along.
pub fn runtime() -> PathBuf {
    super::runtime()
}

/// A runtime that checks itself (the feature `verify`), built beside the one that raddle brings along.
pub fn checking_runtime() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_raddle")).ancestors().nth(2).expect("the target folder");
    let folder = target.join("self-check");
    let library = folder.join("libraddle_runtime.so");
    let export = ["run", "--quiet", "--locked", "--release", "-p", "raddle-runtime-image", "--features", "verify"];
    let status = Command::new(env!("CARGO"))
        .args(export)
        .args(["--example", "export", "--"])
        .arg(&library)
        .env("CARGO_TARGET_DIR", &folder)
        .env_remove("RUSTFLAGS")
        .current_dir(root())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the runtime does not build with the feature `verify`");
    library
}

fn build_folder() -> PathBuf {
    root().join("target/programs")
}

fn header(source: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(source).expect("a program is text");
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines
        .map(|line| line.trim_start_matches("//"))
        .map(|line| line.split_once(':').unwrap_or((line, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// The sources in a folder with one of these endings.
fn sources(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let only = std::env::var("RADDLE_SUITE_ONLY").unwrap_or_default();
    let mut sources: Vec<PathBuf> = fs::read_dir(root().join("programs").join(folder))
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| endings.iter().any(|e| path.extension().is_some_and(|x| x == *e)))
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    sources.sort();
    sources
}

fn flat_name(folder: &str, source: &Path) -> String {
    format!("{}-{}", folder, source.file_name().unwrap_or_default().to_string_lossy()).replace(['.', '/'], "_")
}

/// The programs of a folder with one of these endings, compiled.
pub fn programs(folder: &str, endings: &[&str]) -> Vec<Program> {
    programs_with(folder, endings, |_| true)
}

/// As [`programs`], without those whose header names something under `needs` that is not there.
pub fn programs_with(folder: &str, endings: &[&str], is_there: impl Fn(&str) -> bool) -> Vec<Program> {
    let has_all = |source: &PathBuf| header(source).get("needs").is_none_or(|needed| is_there(needed));
    let sources: Vec<_> = sources(folder, endings).into_iter().filter(has_all).collect();
    fs::create_dir_all(build_folder()).expect("a folder for the binaries");
    let from_crates = folder.starts_with("crates");
    if from_crates && !sources.is_empty() {
        build_crates();
    }
    let programs: Vec<Program> = sources
        .into_iter()
        .map(|source| {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let flat = flat_name(folder, &source);
            let binary =
                if from_crates { build_folder().join("crates/debug").join(stem) } else { build_folder().join(flat) };
            Program { header: header(&source), source, binary, build: Build::Ordinary }
        })
        .collect();
    if !from_crates {
        each(&programs, compile);
    }
    programs
}

/// The programs of a folder with one of these endings, each compiled twice: with each compiler, and at -O0 and -O2.
/// Every other program has the levels the other way round.
pub fn instrumented(folder: &str, endings: &[&str]) -> Vec<[Program; 2]> {
    fs::create_dir_all(build_folder()).expect("a folder for the binaries");
    let hooks = hooks();
    let pairs: Vec<[Program; 2]> = sources(folder, endings)
        .into_iter()
        .enumerate()
        .map(|(number, source)| {
            let levels = if number % 2 == 0 { [0, 2] } else { [2, 0] };
            [(Compiler::Gcc, levels[0]), (Compiler::Clang, levels[1])].map(|(compiler, level)| {
                let flat = format!("{}_{compiler:?}_{level}", flat_name(folder, &source));
                let build = Build::Instrumented(compiler, level);
                Program { header: header(&source), source: source.clone(), binary: build_folder().join(flat), build }
            })
        })
        .collect();
    each(&pairs, |pair| pair.iter().try_for_each(|program| compile_instrumented(program, &hooks)));
    pairs
}

/// The hooks for programs of Rust. They say that the standard library is instrumented, because races are told only
/// then. It is not, but what orders the accesses of these programs is not hidden in it.
pub fn hooks() -> PathBuf {
    let path = build_folder().join("libhooks.a");
    let archive = raddle_hooks::archive(true, true);
    if fs::read(&path).ok().as_deref() != Some(archive) {
        fs::write(&path, archive).expect("the archive of hooks");
    }
    path
}

fn compile_instrumented(program: &Program, hooks: &Path) -> Result<(), String> {
    let Build::Instrumented(compiler, level) = program.build else { return compile(program) };
    // What was built by another raddle may have other hooks.
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle"));
    if modified(&program.binary) > modified(&program.source).max(modified(raddle)) {
        return Ok(());
    }
    let mut command = match program.ending() {
        "c" => with(Command::new(raddle), &["cc", "-std=gnu17"]),
        "cc" => with(Command::new(raddle), &["c++", "-std=c++20"]),
        _ => with(Command::new("rustc"), &["--edition", "2021"]),
    };
    let (cc, cxx) = match compiler {
        Compiler::Gcc => ("gcc", "g++"),
        Compiler::Clang => ("clang-19", "clang++-19"),
    };
    command.env("RADDLE_CC", cc).env("RADDLE_CXX", cxx).env_remove("RADDLE_VISIBLE").arg("-g");
    if program.ending() == "rs" {
        command.args(RUST_HOOKS).arg(format!("-Copt-level={level}")).arg(format!("-Clink-arg={}", hooks.display()));
    } else {
        command.args(["-pthread", "-Wall", "-Wextra"]).arg(format!("-O{level}"));
    }
    // Another test may be building the same: whole files take each other's place.
    let unfinished = program.binary.with_extension(std::process::id().to_string());
    command.arg(&program.source).arg("-o").arg(&unfinished);
    command.args(program.get("link").map(|library| format!("-l{library}")));
    let output = command.output().map_err(|e| format!("{}: {e}", program.name()))?;
    if !output.status.success() {
        return Err(format!("{} does not compile:\n{}", program.name(), String::from_utf8_lossy(&output.stderr)));
    }
    fs::rename(&unfinished, &program.binary).map_err(|e| format!("{}: {e}", program.name()))
}

/// What `cargo raddle --memory` tells rustc.
pub const RUST_HOOKS: [&str; 4] = [
    "-Cpasses=forceattrs,function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    "-Cllvm-args=-tsan-distinguish-volatile=1",
];

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

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(path).and_then(|m| m.modified()).ok()
}

fn compile(program: &Program) -> Result<(), String> {
    if modified(&program.binary) > modified(&program.source) {
        return Ok(());
    }
    let mut command = match program.ending() {
        "c" => with(Command::new("gcc"), &["-std=gnu17", "-O1", "-g", "-pthread", "-Wall", "-Wextra"]),
        "cc" => with(Command::new("g++"), &["-std=c++20", "-O1", "-g", "-pthread", "-Wall", "-Wextra"]),
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
pub fn each<T: Sync>(programs: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
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

/// What of a report must be the same for the same seed.
pub fn repeatable(mut report: Value) -> Value {
    if let Some(fields) = report.as_object_mut() {
        fields.remove("seconds");
        fields.remove("runs_per_second");
    }
    report
}

/// Replays a schedule so many times; how often the failure happened again, and all that was printed.
pub fn replay(
    program: &Program,
    runtime: &Path,
    out: &Path,
    switch: &str,
    runs: &str,
    schedule: &str,
) -> (Option<u64>, String) {
    let options = ["replay", "--switch", switch, "--runs", runs, "--json", "-"];
    let output = raddle(program, runtime, out, &options, &[schedule.to_owned()]);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
    let again = json.and_then(Result::ok).and_then(|report| report["happened_again"].as_u64());
    (again.filter(|_| output.status.code() == Some(1)), said)
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
