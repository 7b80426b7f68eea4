//! Many runs leave nothing behind: memory, descriptors, mappings and shared segments of everything that a
//! campaign starts are looked at early and late. A few thousand runs always; ten million in one process and a
//! million forked ones by `make soak`.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::programs::{root, runtime};
use support::WATCHDOG;

/// What a process holds.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    /// Resident memory, in KiB.
    memory: u64,
    descriptors: usize,
    mappings: usize,
}

fn holds(pid: i32) -> Option<(String, Holds)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned());
    let memory = field("VmRSS:")?.trim_end_matches(" kB").trim().parse().ok()?;
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
    let mappings = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?.lines().count();
    Some((field("Name:")?, Holds { memory, descriptors, mappings }))
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// The campaign's processes that live long, by their depth below it: raddle, and the target or the fork server.
fn look(campaign: i32) -> BTreeMap<usize, Holds> {
    let mut found = BTreeMap::new();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        let line: Vec<i32> = std::iter::successors(Some(pid), |&pid| parent(pid)).take(5).collect();
        // Deeper ones are single runs, which come and go.
        if let Some(depth) = line.iter().position(|&pid| pid == campaign).filter(|&depth| depth <= 1) {
            if let Some((_, holds)) = holds(pid) {
                found.insert(depth, holds);
            }
        }
    }
    found
}

fn segments() -> usize {
    let shared = fs::read_dir("/dev/shm").map_or(0, Iterator::count);
    let system = fs::read_to_string("/proc/sysvipc/shm").map_or(0, |text| text.lines().count());
    shared + system
}

struct Soak {
    child: Child,
    _folder: tempfile::TempDir,
}

/// Starts a campaign on a benchmark's program.
fn start(name: &str, arguments: &[&str], runs: u64) -> Soak {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join(name);
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-pthread", "-I"]).arg(root().join("include")).arg("-o").arg(&binary);
    let status = gcc.arg(root().join("bench").join(format!("{name}.c"))).status().expect("gcc runs");
    assert!(status.success(), "{name} does not compile");
    let child = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["test", "--quiet", "--seed", "1", "--policy", "random", "--runs", &runs.to_string(), "--"])
        .arg(&binary)
        .args(arguments)
        .env("RADDLE_RUNTIME", runtime())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("raddle runs");
    Soak { child, _folder: folder }
}

/// Looks at a campaign after its start and again and again; nothing but raddle's own list of schedules may grow.
fn does_not_grow(name: &str, arguments: &[&str], runs: u64) {
    let before = segments();
    let mut soak = start(name, arguments, runs);
    let pid = soak.child.id() as i32;
    std::thread::sleep(Duration::from_millis(400));
    let early = look(pid);
    let (mut late, started) = (early.clone(), Instant::now());
    let status = loop {
        if let Some(status) = soak.child.try_wait().expect("a child") {
            break status;
        }
        let now = look(pid);
        if now.len() == early.len() {
            late = now;
        }
        assert!(started.elapsed() < 12 * WATCHDOG, "still running");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(status.success(), "{status}");
    assert_eq!(early.len(), 2, "raddle and the target: {early:?}");
    println!("{name}, {runs} runs: early {early:?}, late {late:?}");
    for (depth, early) in early {
        let late = late[&depth];
        assert!(late.descriptors <= early.descriptors + 1, "descriptors of {depth}: {early:?} {late:?}");
        assert!(late.mappings <= early.mappings + 4, "mappings of {depth}: {early:?} {late:?}");
        // The main process keeps a hash of every schedule, to count the distinct ones.
        if depth > 0 {
            assert!(late.memory <= early.memory + 2048, "memory of {depth}: {early:?} {late:?}");
        }
    }
    assert!(segments() <= before, "shared segments were left");
}

#[test]
fn forked_runs() {
    does_not_grow("locks", &["2"], 6_000);
}

#[test]
fn runs_in_one_process() {
    does_not_grow("check", &["5"], 500_000);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn a_million_forked_runs() {
    does_not_grow("locks", &["2"], 1_000_000);
}

#[test]
#[ignore = "takes minutes: make soak"]
fn ten_million_runs_in_one_process() {
    does_not_grow("check", &["5"], 10_000_000);
}
