//! Campaigns that never were, for the tests of reports.

use std::collections::BTreeSet;
use std::time::Duration;

use raddle_core::block::Points;
use raddle_core::decorators::guard;
use raddle_core::policy::Profile;

use crate::campaign::findings::Finding;
use crate::campaign::plan::{Expectations, Plan, Target};
use crate::campaign::races::Place;
use crate::campaign::run_report::{Counts, Failure, Kind, RunReport, Verdict};
use crate::campaign::stdin::Stdin;
use crate::campaign::tally::Tally;
use crate::campaign::threads::ThreadView;
use crate::campaign::worth::Coverage;
use crate::campaign::{Campaign, End};
use crate::inspect::elf::{Language, Program};
use crate::options::Switch;
use crate::policy_choice::PolicyChoice;
use crate::sync_functions::SyncFunctions;

/// A campaign of 1,000 runs.
pub fn plan() -> Plan {
    Plan {
        target: Target {
            program: Program {
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
            },
            executable: "/home/ada/bank".into(),
            command: vec!["./bank".into(), "three accounts".into()],
            directory: "/home/ada".into(),
            own_directory: false,
            environment: Vec::new(),
            added: vec![("DEBUG".into(), "yes please".into())],
            runtime: "/usr/lib/raddle/libraddle_runtime.so".into(),
            stdin: Stdin::Null,
        },
        policy: PolicyChoice::parse("pct:d=4").expect("a policy"),
        guard: guard::Settings::DEFAULT,
        seed: 42,
        points: Points::Sync,
        fail_on_race: None,
        realtime: 0,
        cpus: 4,
        max_steps: 1_000_000,
        yields: 10,
        dispatch: true,
        switch: Switch::Fiber,
        sync_functions: SyncFunctions::default(),
        expect: Expectations::default(),
        runs: 1000,
        jobs: 1,
        time: None,
        run_timeout: Duration::from_secs(10),
        keep_going: false,
        exec: false,
        check: None,
        harness: 0,
        coverage: Coverage::Some,
        inspect: true,
        out: ".raddle".into(),
        recording: None,
    }
}

/// A campaign of so many runs without a failure.
pub fn campaign(runs: u64) -> Campaign {
    let mut tally = Tally::default();
    for run in 1..=runs {
        tally.add(&report(run, Verdict::Passed));
    }
    Campaign {
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
    let counts = Counts { steps: 100 + run, threads: 3, shared_points: 90, hash: run / 2, ..Counts::default() };
    let (stacks, racing, observed) = (Default::default(), Vec::new(), None);
    RunReport {
        run,
        verdict,
        counts,
        escapes: 0,
        output_cut: false,
        stacks,
        racing,
        observed,
        log: None,
        log_too_long: false,
    }
}

/// Two threads that wait for each other.
pub fn deadlock() -> Finding {
    let thread = |id, name: &str, waits_for: &str, backtrace: &[&str]| ThreadView {
        id,
        name: name.into(),
        state: "blocked".into(),
        waits_for: Some(waits_for.into()),
        backtrace: backtrace.iter().map(|line| (*line).to_string()).collect(),
        ..ThreadView::default()
    };
    Finding {
        failure: Failure {
            kind: Kind::Deadlock,
            message: "t1 waits for t2, t2 waits for t1".into(),
            place: "lock in deposit (bank.c:31); lock in withdraw (bank.c:44)".into(),
            step: 88,
            threads: vec![
                thread(0, "bank", "join of t1 (left)", &["main (/home/ada/bank.c:60)"]),
                thread(
                    1,
                    "left",
                    "lock on mutex 0x4040c0, held by t2 (right)",
                    &["deposit (/home/ada/bank.c:31)", "left (/home/ada/bank.c:50)"],
                ),
                thread(2, "right", "lock on mutex 0x404100, held by t1 (left)", &["withdraw (/home/ada/bank.c:44)"]),
            ],
            stderr: vec!["opening accounts".into()],
            run_seed: 7,
            profile: Profile::default(),
            stacks: Default::default(),
            racing: Vec::new(),
            log: None,
            log_is_full: false,
            also: Vec::new(),
            bound: None,
            serial: Default::default(),
        },
        count: 1,
        first_run: 17,
        schedule: Ok(".raddle/deadlock-1a2b3c4d.schedule".into()),
    }
}

/// An assertion that failed more than once.
pub fn assertion(schedule: Result<std::path::PathBuf, String>) -> Finding {
    let mut finding = deadlock();
    finding.failure.kind = Kind::Assert;
    finding.failure.message = "bank.c:70: main: Assertion `total == 300' failed".into();
    finding.failure.place = finding.failure.message.clone();
    finding.failure.threads.clear();
    finding.failure.stderr.clear();
    finding.count = 3;
    finding.first_run = 20;
    finding.schedule = schedule;
    finding
}
