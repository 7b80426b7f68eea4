//! Campaigns that never were, for the tests of reports.

use std::collections::BTreeSet;
use std::time::Duration;

use raddle_core::policy::Profile;
use raddle_inspect::elf::{Language, Program};
use raddle_protocol::RunSettings;
use raddle_report::FailureKind;

use crate::campaign::tally::Tally;
use crate::campaign::{End, Finding, Outcome};
use crate::plan::coverage::Coverage;
use crate::plan::place::Place;
use crate::plan::policy_choice::PolicyChoice;
use crate::plan::stdin::Stdin;
use crate::plan::sync_functions::SyncFunctions;
use crate::plan::{Expectations, Plan, Switch, Target};
use crate::run::frames::FrameView;
use crate::run::report::{Counts, Failure, RunReport, Verdict};
use crate::run::said::Said;
use crate::run::threads::ThreadView;

/// A program in C that needs nothing.
pub fn program() -> Program {
    Program {
        path: "/home/ada/bank".into(),
        build_id: Some("6f1c0e".into()),
        interpreter: None,
        needed: Vec::new(),
        undefined: Vec::new(),
        language: Language::C,
        preload_first: Vec::new(),
        offers: 0,
        debug_info: true,
        checks: false,
    }
}

/// A campaign of 1,000 runs.
pub fn plan() -> Plan {
    let policy = PolicyChoice::parse("pct:d=4").expect("a policy");
    Plan {
        target: Target {
            program: program(),
            executable: "/home/ada/bank".into(),
            command: vec!["./bank".into(), "three accounts".into()],
            directory: "/home/ada".into(),
            own_directory: false,
            environment: Vec::new(),
            added: vec![("DEBUG".into(), "yes please".into())],
            kept: Vec::new(),
            runtime: "/usr/lib/raddle/libraddle_runtime.so".into(),
            stdin: Stdin::Null,
        },
        settings: RunSettings { seed: 42, ..RunSettings::of(policy.settings()) },
        policy,
        benign: None,
        switch: Switch::Fiber,
        sync_functions: SyncFunctions::default(),
        look_at: None,
        expect: Expectations::default(),
        runs: 1000,
        jobs: 1,
        cores: None,
        time: None,
        run_timeout: Duration::from_secs(10),
        keep_going: false,
        exec: false,
        check: None,
        harness: 0,
        coverage: Coverage::Some,
        inspect: true,
        out: ".raddle".into(),
        record: true,
        core_dumps: false,
        recording: None,
    }
}

/// A campaign of so many runs without a failure.
pub fn campaign(runs: u64) -> Outcome {
    let mut tally = Tally::default();
    for run in 1..=runs {
        tally.add(&report(run, Verdict::Passed));
    }
    Outcome {
        tally,
        findings: Vec::new(),
        divergence: None,
        fallback: Vec::new(),
        racing: Default::default(),
        os_threads: Vec::new(),
        random_addresses: false,
        seconds: 0.42,
        explored: None,
        end: End::Complete,
        output: None,
    }
}

/// Two places, in files that are not there.
pub fn racing() -> BTreeSet<Place> {
    [("bank", 0x11d5), ("libaccounts.so", 0x2040)]
        .map(|(file, address)| Place { file: file.to_string(), address })
        .into()
}

/// A run of three threads.
pub fn report(run: u64, verdict: Verdict) -> RunReport {
    let counts =
        Counts { steps: 100 + run, threads: 3, points: 120, shared_points: 90, hash: run / 2, ..Counts::default() };
    RunReport { verdict, counts, ..RunReport::new(run) }
}

/// A failure of which nothing is known but its kind.
pub fn failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        message: String::new(),
        place: String::new(),
        step: 1,
        threads: Vec::new(),
        assertion: None,
        said: Default::default(),
        run_seed: 0,
        profile: Profile::default(),
        stacks: Default::default(),
        delays: Vec::new(),
        racing: Vec::new(),
        log: None,
        log_is_full: false,
        also: Vec::new(),
        bound: None,
        serial: Default::default(),
        heap: Default::default(),
    }
}

fn frame(function: &str, line: u32) -> FrameView {
    let (file, module) = (Some("/home/ada/bank.c".to_string()), "bank".to_string());
    FrameView { function: function.to_string(), file, line: Some(line), module, folded: 0 }
}

/// Two threads that wait for each other.
pub fn deadlock() -> Finding {
    let thread = |id, name: &str, waits_for: &str, stack: &[(&str, u32)]| ThreadView {
        id,
        name: name.into(),
        state: "blocked".into(),
        waits_for: Some(waits_for.into()),
        frames: stack.iter().map(|(function, line)| frame(function, *line)).collect(),
        ..ThreadView::default()
    };
    Finding {
        failure: Failure {
            message: "t1 waits for t2, t2 waits for t1".into(),
            place: "lock in deposit (bank.c:31); lock in withdraw (bank.c:44)".into(),
            step: 88,
            threads: vec![
                thread(0, "bank", "join of t1 (left)", &[("main", 60)]),
                thread(1, "left", "lock on mutex 0x4040c0, held by t2 (right)", &[("deposit", 31), ("left", 50)]),
                thread(2, "right", "lock on mutex 0x404100, held by t1 (left)", &[("withdraw", 44)]),
            ],
            said: Said { stdout: Vec::new(), stderr: vec!["opening accounts".into()] },
            run_seed: 7,
            ..failure(FailureKind::Deadlock)
        },
        count: 1,
        first_run: 17,
        schedule: Ok(".raddle/deadlock-1a2b3c4d.schedule".into()),
    }
}

/// An assertion that failed more than once.
pub fn assertion(schedule: Result<std::path::PathBuf, String>) -> Finding {
    let mut finding = deadlock();
    finding.failure.kind = FailureKind::Assert;
    finding.failure.message = "bank.c:70: main: Assertion `total == 300' failed".into();
    finding.failure.place = finding.failure.message.clone();
    finding.failure.threads.clear();
    finding.failure.said = Said { stdout: vec!["3 accounts".into()], stderr: Vec::new() };
    finding.count = 3;
    finding.first_run = 20;
    finding.schedule = schedule;
    finding
}
