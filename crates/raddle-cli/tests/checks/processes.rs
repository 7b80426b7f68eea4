//! The processes that make the runs of checks: they hold no more with every run, and nothing is left of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::subjects::{build, raddle, text, SWITCHES};
use super::support::{outcome, Folder};

#[test]
fn time_ends_a_campaign_and_nothing_is_left() {
    let (folder, binary) = (Folder::new(), build("account.c"));
    let own = folder.path().join("account");
    std::fs::copy(&binary, &own).expect("copied");
    // This many runs would take hours, so only the option can end the campaign.
    let options = ["test", "--runs", "1000000000", "--time", "0.5", "--jobs", "2"];
    let (status, said) = outcome(&mut raddle(&folder, &options, &["./account"]));
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("no failure in "), "{said}");

    let options = ["test", "--runs", "1000000000"];
    let mut command = raddle(&folder, &options, &["./account"]);
    let child = command.stdout(Stdio::piped()).spawn().expect("raddle runs");
    while targets(&own, child.id()).is_empty() {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(300));
    // SAFETY: sends a signal to a child of ours.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let (pid, output) = (child.id(), child.wait_with_output().expect("ends"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("(interrupted)"), "{said}");
    assert_eq!(targets(&own, pid), Vec::<u32>::new());
}

/// The processes that run a program for a raddle.
pub fn targets(program: &Path, raddle: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = pids.filter(|&pid| {
        let exe = std::fs::read_link(format!("/proc/{pid}/exe"));
        exe.is_ok_and(|exe| exe == program) && std::iter::successors(Some(pid), |&pid| parent(pid)).any(|p| p == raddle)
    });
    ours.collect()
}

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    kilobytes: i64,
    descriptors: usize,
    mappings: usize,
}

impl Held {
    fn by(pid: u32) -> Option<Held> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(Held {
            kilobytes: kilobytes.trim().trim_end_matches(" kB").parse().ok()?,
            descriptors: std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(),
            mappings: std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?.lines().count(),
        })
    }
}

/// What the process that makes the runs holds after a tenth of them and at the end is the same.
#[track_caller]
fn does_not_grow(source: &str, runs: &str, switch: &str) {
    let (folder, binary) = (Folder::new(), build(source));
    let program = folder.path().join(source);
    std::fs::copy(&binary, &program).expect("copied");
    let options = ["test", "--quiet", "--seed", "1", "--runs", runs, "--switch", switch];
    let mut child = raddle(&folder, &options, &[text(&program)]).spawn().expect("raddle runs");
    let mut samples: BTreeMap<u32, Vec<Held>> = BTreeMap::new();
    while child.try_wait().expect("a child").is_none() {
        for pid in targets(&program, child.id()) {
            samples.entry(pid).or_default().extend(Held::by(pid));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().expect("a child").success(), "{source}, {switch}");
    // The other process only asked what the check wants.
    let samples = samples.into_values().max_by_key(Vec::len).expect("a process");
    assert!(samples.len() >= 8, "{source}, {switch}: {samples:?}");
    let (early, late) = (samples[samples.len() / 10], samples[samples.len() - 2]);
    assert!(late.kilobytes - early.kilobytes < 1024, "{source}, {switch}: {early:?}, {late:?}");
    assert!(late.descriptors <= early.descriptors, "{source}, {switch}: {early:?}, {late:?}");
    // Threads that are there when somebody looks have stacks.
    assert!(late.mappings <= early.mappings + 20, "{source}, {switch}: {early:?}, {late:?}");
}

#[test]
fn two_million_runs_need_no_more_memory_than_some() {
    does_not_grow("account.c", "2000000", "fiber");
}

#[test]
fn threads_that_leave_through_libc_are_all_given_back() {
    for switch in SWITCHES {
        does_not_grow("unjoined.c", "10000", switch);
        does_not_grow("thread-ends.c", "5000", switch);
    }
}
