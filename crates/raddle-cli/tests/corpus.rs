//! The corpus in `bugs/`: its headers are complete, its programs compile with and without their bug, the correct ones
//! pass, and the others fail in the way that the header says under the policies that it names.
//!
//! RADDLE_CORPUS_ONLY runs only the entries whose name contains the text.

mod support;

use std::sync::OnceLock;

use support::corpus::{entries, sources, Compiler, Entry, Source, Twin};
use support::programs::each;

/// Runs of a correct program under each policy.
const PASSES: &str = "60";
/// Of a program that takes long, or has many threads.
const FEWER_PASSES: &str = "15";
/// In so many runs a policy must find what the header says that it finds. The rarest of these are found in 0.3% of the
/// runs: with another seed they would be missed with a probability of 0.3%. With this one they are found or not, and
/// the same each time.
const RUNS: &str = "2000";
const SEED: &str = "1";
/// Seconds that a run may take on a busy machine.
const PATIENCE: &str = "60";

/// All sources, compiled in both ways with gcc. The buggy and the correct ones are tested in this build.
fn compiled() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let sources = sources();
        std::fs::create_dir_all(support::programs::root().join("target/programs")).expect("a folder for the binaries");
        each(&sources, |source| {
            source.compile(Twin::Buggy, Compiler::Gcc)?;
            source.compile(Twin::Fixed, Compiler::Gcc)
        });
        sources
    })
}

/// The policy with the bug's depth, when the header asks for none.
fn with_depth(policy: &str, entry: &Entry) -> String {
    if policy == "pct" {
        format!("pct:d={}", entry.pct_depth)
    } else {
        policy.to_owned()
    }
}

#[test]
fn headers_are_complete() {
    let sources = sources();
    let complaints: Vec<String> = sources.iter().flat_map(Source::complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let mut names: Vec<String> = entries().into_iter().map(|entry| entry.name).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "two entries have one name");
    let with = |ending: &str| sources.iter().filter(|s| s.path.extension().is_some_and(|e| e == ending)).count();
    assert!(with("cc") >= 6 && with("rs") >= 6, "the corpus is for all three languages");
}

#[test]
fn all_compile_without_warnings_with_both_compilers() {
    compiled();
    let others: Vec<Source> = sources().into_iter().filter(|s| s.path.extension().is_none_or(|e| e != "rs")).collect();
    each(&others, |source| {
        source.compile(Twin::Buggy, Compiler::Clang)?;
        source.compile(Twin::Fixed, Compiler::Clang)
    });
}

#[test]
fn without_their_bug_they_pass() {
    compiled();
    each(&entries(), |entry| {
        for policy in ["random", "pct", "pct:d=6"] {
            let runs = if entry.threads > 16 || entry.source.points() == "memory" { FEWER_PASSES } else { PASSES };
            let options = ["--policy", policy, "--runs", runs, "--seed", SEED, "--run-timeout", PATIENCE];
            let (status, report, said) = entry.campaign(Twin::Fixed, Compiler::Gcc, &options);
            if status != Some(0) {
                return Err(format!("{} under {policy}: exit status {status:?}\n{said}", entry.name));
            }
            if report["threads_max"].as_u64() != Some(entry.threads) {
                let seen = &report["threads_max"];
                return Err(format!("{}: {seen} threads, but the header says {}", entry.name, entry.threads));
            }
        }
        Ok(())
    });
}

/// Whether a policy finds the bug, as the kind that the header says.
fn finds(entry: &Entry, policy: &str) -> Result<bool, String> {
    let options = ["--policy", policy, "--runs", RUNS, "--seed", SEED, "--run-timeout", PATIENCE];
    let (status, report, said) = entry.campaign(Twin::Buggy, Compiler::Gcc, &options);
    match status {
        Some(0) => Ok(false),
        Some(1) if report["failures"][0]["kind"] == entry.source.get("kind").unwrap_or_default() => Ok(true),
        _ => Err(format!("{} under {policy}: exit status {status:?}\n{said}", entry.name)),
    }
}

#[test]
fn the_policies_that_a_header_names_find_the_bug() {
    compiled();
    each(&entries(), |entry| {
        let named = entry.source.found_by();
        for policy in named.iter().filter(|policy| policy.starts_with("pct") || **policy == "random") {
            let policy = with_depth(policy, entry);
            if !finds(entry, &policy)? {
                return Err(format!("{}: {policy} finds nothing in {RUNS} runs", entry.name));
            }
        }
        Ok(())
    });
}

#[test]
fn the_first_variant_of_each_is_found_by_random_or_pct() {
    compiled();
    let firsts: Vec<Entry> = entries().into_iter().filter(|entry| entry.first).collect();
    each(&firsts, |entry| {
        let policies = [with_depth("pct", entry), "random".to_owned()];
        for policy in &policies {
            if finds(entry, policy)? {
                return Ok(());
            }
        }
        Err(format!("{}: neither of {policies:?} finds anything in {RUNS} runs", entry.name))
    });
}
