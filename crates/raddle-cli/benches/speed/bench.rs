//! What all sections share: programs, raddle on them, and the table.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use comfy_table::Table;
use serde_json::Value;

pub const REPETITIONS: usize = 5;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub table: Table,
}

impl Bench {
    pub fn program(&self, name: &str) -> PathBuf {
        let binary = self.folder.path().join(name);
        if !binary.exists() {
            let source = root().join("bench").join(format!("{name}.c"));
            let include = root().join("include");
            let mut gcc = Command::new("gcc");
            gcc.args(["-O2", "-pthread", "-I"]).arg(include).arg("-o").args([&binary, &source]);
            let status = gcc.status();
            assert!(status.expect("gcc runs").success(), "{name} does not compile");
        }
        binary
    }

    /// A campaign; its report.
    pub fn raddle(&self, options: &[&str], name: &str, arguments: &[&str]) -> Value {
        self.campaign(options, &self.program(name), arguments)
    }

    pub fn campaign(&self, options: &[&str], program: &Path, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["test", "--quiet", "--json", "-", "--max-steps", "50000000", "--run-timeout", "600"])
            .args(if options.contains(&"--seed") { &[][..] } else { &["--seed", "1"] })
            .args(options)
            .arg("--")
            .arg(program)
            .args(arguments)
            .env_remove("RADDLE_RUNTIME")
            .current_dir(self.folder.path())
            .output()
            .expect("raddle runs");
        let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
        json.and_then(Result::ok).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    pub fn runs_per_second(&self, options: &[&str], name: &str, argument: &str) -> f64 {
        self.raddle(options, name, &[argument])["runs_per_second"].as_f64().expect("runs_per_second")
    }

    /// Seconds of the one run of a campaign.
    pub fn seconds(&self, options: &[&str], name: &str, arguments: &[&str]) -> f64 {
        let options: Vec<&str> = ["--runs", "1", "--exec"].iter().chain(options).copied().collect();
        self.raddle(&options, name, arguments)["seconds"].as_f64().expect("seconds")
    }

    /// Plain fork and exec of the bare program, pinned to one core like a campaign.
    pub fn bare_runs_per_second(&self, name: &str, argument: &str, runs: usize) -> f64 {
        let program = self.program(name);
        let start = Instant::now();
        for _ in 0..runs {
            let status = Command::new(&program).arg(argument).stdout(Stdio::null()).status().expect("the program runs");
            assert!(status.success());
        }
        runs as f64 / start.elapsed().as_secs_f64()
    }

    pub fn row(&mut self, what: &str, measured: String, against: String, bar: &str) {
        self.table.add_row([what, &measured, &against, bar]);
    }
}

pub fn best(measure: impl FnMut() -> f64, better: fn(f64, f64) -> f64) -> f64 {
    std::iter::repeat_with(measure).take(REPETITIONS).reduce(better).expect("at least one")
}

/// Lets this process use all cores that it had at first.
pub fn unpin() {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..libc::CPU_SETSIZE as usize).for_each(|core| libc::CPU_SET(core, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

pub fn pin() {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&c| libc::CPU_ISSET(c, &allowed)).unwrap_or(0);
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// Runs a line of a shell in the bench's folder, in which $RADDLE is raddle.
pub fn shell(bench: &Bench, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", line]).env("RADDLE", env!("CARGO_BIN_EXE_raddle")).env("ROOT", root());
    for variable in ["RADDLE_CC", "RADDLE_VISIBLE"] {
        command.env_remove(variable);
    }
    let status = command.current_dir(bench.folder.path()).status().expect("sh runs");
    assert!(status.success(), "{line}");
}

/// Seconds of processor time of all processes that this one has started and that have ended. Unlike the wall clock
/// it does not count the turns of others.
pub fn cpu_time() -> f64 {
    // SAFETY: a structure on the stack, filled by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Policies and ways to switch threads.
pub const WAYS: [(&str, &str); 4] = [("random", "fiber"), ("pct", "fiber"), ("random", "os"), ("pct", "os")];
