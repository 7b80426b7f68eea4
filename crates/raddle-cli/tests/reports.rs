//! What reports say: each program in `programs/reports` fails, and its header has what the report must name.
//!
//! `// says: A | B` are texts of the report, `// never: A | B` are none, and `// findings: N` is how many different failures
//! many runs show. Under `// needs: HEADER` a program is left out where that is not installed.

mod support;

use std::process::Command;

use support::programs::{campaign, each, programs_with, runtime, Program};
use support::Folder;

/// Runs in which every failure of these programs shows.
const RUNS: &str = "400";

fn texts<'a>(program: &'a Program, key: &str) -> Vec<&'a str> {
    program.get(key).map(|list| list.split(" | ").collect()).unwrap_or_default()
}

fn check(program: &Program, switch: &str) -> Result<(), String> {
    let folder = Folder::new();
    let many = program.get("findings").is_some();
    let heap = program.get("heap").unwrap_or("mixed");
    let options = ["--seed", "1", "--runs", RUNS, "--switch", switch, "--heap", heap, "--keep-going"];
    let options = if many { &options[..] } else { &options[..options.len() - 1] };
    let (status, report, said) = campaign(program, &runtime(), folder.path(), options);
    // The JSON comes first, and the JSON has everything twice.
    let text = said.split_once("\n}\n").map_or(said.as_str(), |(_, text)| text);
    let failures = report["failures"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<_> = failures.iter().filter_map(|failure| failure["kind"].as_str()).collect();
    let complain = |what: String| Err(format!("{} ({switch}): {what}:\n{text}", program.name()));
    if status != Some(1) || kinds.iter().any(|kind| Some(*kind) != program.get("expect")) {
        return complain(format!("status {status:?}, kinds {kinds:?}"));
    }
    let expected = program.get("findings").map_or(1, |count| count.parse().expect("a number"));
    if failures.len() != expected {
        return complain(format!("{} findings, not {expected}", failures.len()));
    }
    if let Some(missing) = texts(program, "says").into_iter().find(|needle| !text.contains(needle)) {
        return complain(format!("`{missing}` is missing"));
    }
    if let Some(wrong) = texts(program, "never").into_iter().find(|needle| text.contains(needle)) {
        return complain(format!("`{wrong}` is there"));
    }
    Ok(())
}

/// Whether what a program needs is installed.
fn is_installed(needed: &str) -> bool {
    let folder = Folder::new();
    let probe = folder.file("probe.cc", format!("#if !__has_include(<{needed}>)\n#error missing\n#endif\n"));
    let output = Command::new("g++").arg("-fsyntax-only").arg(probe).output().expect("g++ runs");
    if !output.status.success() {
        println!("skipped: <{needed}> is not installed");
    }
    output.status.success()
}

#[test]
fn reports_name_what_a_person_looks_for() {
    let programs = programs_with("reports", &["c", "cc", "rs"], is_installed);
    each(&programs, |program| ["fiber", "os"].iter().try_for_each(|switch| check(program, switch)));
}

/// A program that fails in every run: with status 1 where it may write core files, with 2 where not.
const CORE_LIMIT: &str = r#"
#include <pthread.h>
#include <sys/resource.h>
static void *nothing(void *unused) { return unused; }
int main(void) {
    pthread_t thread;
    struct rlimit limit;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    getrlimit(RLIMIT_CORE, &limit);
    return limit.rlim_cur > 1 ? 1 : 2;
}
"#;

#[test]
fn only_a_replay_of_one_run_may_write_a_core_file() {
    // SAFETY: plain system calls.
    let own = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_CORE, &mut limit);
        let all = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        libc::setrlimit(libc::RLIMIT_CORE, &all);
        limit.rlim_max
    };
    if own <= 1 {
        return println!("skipped: core files are forbidden here");
    }
    let folder = Folder::new();
    folder.program("limit", CORE_LIMIT);
    let report = folder.json(&["--seed", "1"], "./limit");
    assert_eq!(report["failures"][0]["message"], "exit status 2, expected 0", "{report}");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
    for (runs, status) in [("1", "exit status 1"), ("2", "exit status 2")] {
        let mut replay = folder.raddle_with_runtime(&["replay", schedule, "--runs", runs]);
        let output = replay.output().expect("raddle runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("{status}, expected 0")), "{runs}: {said}");
    }
}
