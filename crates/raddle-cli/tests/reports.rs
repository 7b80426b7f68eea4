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
    let options = ["--seed", "1", "--runs", RUNS, "--switch", switch, "--keep-going"];
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
