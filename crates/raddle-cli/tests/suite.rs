//! The specification: every program in `programs/pass` survives every policy and seed, each seed
//! twice with the same trace; every program in `programs/fail` is caught, as the kind that its
//! header says, and replays.
//!
//! RADDLE_SUITE_RUNS sets the number of seeds (200), RADDLE_SUITE_ONLY runs only the programs whose
//! path contains the text.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use serde_json::Value;

const POLICIES: [&str; 2] = ["random", "pct"];

/// The ways to switch threads.
const SWITCHES: [&str; 2] = ["fiber", "os"];

/// A program of the suite with what its header says.
struct Program {
    source: PathBuf,
    binary: PathBuf,
    header: BTreeMap<String, String>,
}

impl Program {
    fn name(&self) -> String {
        let folder = self.source.parent().and_then(Path::file_name).unwrap_or_default();
        format!("{}/{}", folder.to_string_lossy(), self.source.file_name().unwrap_or_default().to_string_lossy())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.header.get(key).map(String::as_str)
    }

    fn arguments(&self) -> Vec<String> {
        self.get("args").unwrap_or("").split_whitespace().map(str::to_owned).collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn runtime() -> PathBuf {
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
fn programs(folder: &str, endings: &[&str]) -> Vec<Program> {
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
fn each(programs: &[Program], work: impl Fn(&Program) -> Result<(), String> + Sync) {
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

/// Runs raddle on a program.
fn raddle(program: &Program, out: &Path, options: &[&str], tail: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(options).args(tail).env("RADDLE_RUNTIME", runtime()).env_remove("RUST_BACKTRACE").current_dir(out);
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

fn campaign(program: &Program, out: &Path, options: &[&str]) -> (Option<i32>, Value, String) {
    let mut tail = vec!["--".to_owned(), program.binary.display().to_string()];
    tail.extend(program.arguments());
    let options: Vec<&str> = ["test", "--json", "-", "--quiet"].iter().chain(options).copied().collect();
    let output = raddle(program, out, &options, &tail);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The JSON comes first; a summary may follow it.
    let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
    (output.status.code(), json.and_then(Result::ok).unwrap_or(Value::Null), said)
}

/// What must be the same for the same seed.
fn repeatable(mut report: Value) -> Value {
    if let Some(fields) = report.as_object_mut() {
        fields.remove("seconds");
        fields.remove("runs_per_second");
    }
    report
}

/// What a campaign that finds something has in common on both back-ends: everything but addresses.
fn sketch(report: &Value) -> Value {
    let fields = ["runs", "failing_runs", "first_failing_run", "trace", "steps_max", "threads_max"];
    fields.iter().map(|field| report[field].clone()).collect()
}

fn must_pass(program: &Program) -> Result<(), String> {
    let out = tempfile::tempdir().expect("a folder for the campaign");
    // A program that takes long says how many runs it needs.
    let runs = std::env::var("RADDLE_SUITE_RUNS").unwrap_or_else(|_| program.get("runs").unwrap_or("200").into());
    for policy in POLICIES {
        // The same seeds on both back-ends: they must give the same runs.
        let mut reports = Vec::new();
        for switch in SWITCHES {
            let options =
                ["--policy", policy, "--runs", &runs, "--seed", "1", "--run-timeout", "20", "--switch", switch];
            let (status, report, said) = campaign(program, out.path(), &options);
            if status != Some(0) {
                return Err(format!("{} under {policy}, {switch}: exit status {status:?}\n{said}", program.name()));
            }
            reports.push(repeatable(report));
        }
        let [first, second] = &reports[..] else { unreachable!("two back-ends") };
        let uncontrolled = first["uncontrolled"].to_string();
        if let Some(expected) = program.get("uncontrolled") {
            if !uncontrolled.contains(expected) {
                return Err(format!("{}: {expected:?} is not named in {uncontrolled}", program.name()));
            }
        }
        if program.get("outside").is_some() {
            continue;
        }
        if first != second {
            return Err(format!("{} under {policy}: fibers gave\n{first}\nOS threads\n{second}", program.name()));
        }
    }
    Ok(())
}

fn must_fail(program: &Program) -> Result<(), String> {
    let out = tempfile::tempdir().expect("a folder for the campaign");
    let expected = program.get("expect").unwrap_or("deadlock");
    let mut found = false;
    for policy in POLICIES {
        let options = ["--policy", policy, "--runs", "2000", "--seed", "1", "--max-steps", "200000"];
        let (status, report, said) = campaign(program, out.path(), &options);
        let os: Vec<&str> = options.iter().copied().chain(["--switch", "os"]).collect();
        let (_, on_os, said_os) = campaign(program, out.path(), &os);
        if sketch(&report) != sketch(&on_os) {
            return Err(format!("{} under {policy}: fibers:\n{said}\nOS threads:\n{said_os}", program.name()));
        }
        if status == Some(0) {
            continue;
        }
        let failure = &report["failures"][0];
        if status != Some(1) || failure["kind"] != expected {
            return Err(format!(
                "{} under {policy}: expected {expected}, exit status {status:?}\n{said}",
                program.name()
            ));
        }
        found = true;
        let schedule = failure["schedule"].as_str().unwrap_or_default().to_owned();
        // A program that takes long says how many replays are enough.
        let replays = program.get("replays").unwrap_or("50");
        for switch in SWITCHES {
            let options = ["replay", "--switch", switch, "--runs", replays, "--json", "-"];
            let output = raddle(program, out.path(), &options, &[schedule.clone()]);
            let replayed: Value = serde_json::Deserializer::from_slice(&output.stdout)
                .into_iter::<Value>()
                .next()
                .and_then(Result::ok)
                .unwrap_or(Value::Null);
            if output.status.code() != Some(1) || replayed["happened_again"].as_u64() != replays.parse().ok() {
                let said = String::from_utf8_lossy(&output.stdout);
                let complained = String::from_utf8_lossy(&output.stderr);
                return Err(format!(
                    "{} under {policy}, {switch}: does not replay {replays} times of {replays}\n{said}{complained}",
                    program.name()
                ));
            }
        }
    }
    if found {
        Ok(())
    } else {
        Err(format!("{}: not found by any policy", program.name()))
    }
}

#[test]
fn pass_c() {
    each(&programs("pass", &["c"]), must_pass);
}

#[test]
fn pass_cpp() {
    each(&programs("pass", &["cc"]), must_pass);
}

#[test]
fn pass_rust() {
    each(&programs("pass", &["rs"]), must_pass);
}

#[test]
fn pass_crates() {
    each(&programs("crates/pass", &["rs"]), must_pass);
}

#[test]
fn fail_c() {
    each(&programs("fail", &["c"]), must_fail);
}

#[test]
fn fail_cpp() {
    each(&programs("fail", &["cc"]), must_fail);
}

#[test]
fn fail_rust() {
    each(&programs("fail", &["rs"]), must_fail);
}

#[test]
fn fail_crates() {
    each(&programs("crates/fail", &["rs"]), must_fail);
}
