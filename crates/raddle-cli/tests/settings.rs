//! What decides a run goes unchanged through all five places: from the words of a command line to the plan, into the
//! block that the runtime reads, into the schedule file, and into the command line that is printed for a person.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use raddle_cli::arguments::resolve::Resolved;
use raddle_cli::arguments::{self, Cli};
use raddle_cli::explore_again;
use raddle_engine::plan::{Plan, Switch};
use raddle_engine::replay::{Replay, ReplayOptions};
use raddle_engine::Subject;
use raddle_protocol::{RunSettings, Setting};
use raddle_schedule::Schedule;

use support::{counting, outcome, Folder, DEADLOCK};

/// Words that change a setting, and only that one. A new setting does not compile until it has some.
fn words(setting: Setting) -> &'static [&'static str] {
    match setting {
        Setting::Policy => &["--policy", "pct:d=5"],
        Setting::Guard => &["--guard", "0.25"],
        Setting::Seed => &["--seed", "7"],
        Setting::Points => &["--points", "memory"],
        Setting::FailOnRace => &["--fail-on", "race"],
        Setting::Cpus => &["--cpus", "2"],
        // A campaign takes the time of its start; there is no option that sets it.
        Setting::Realtime => &[],
        Setting::MaxSteps => &["--max-steps", "4321"],
        Setting::Yields => &["--yields", "3"],
        Setting::Lag => &["--lag", "50"],
        Setting::Dispatch => &["--no-dispatch"],
        Setting::Heap => &["--heap", "reuse"],
    }
}

/// The settings without the clock, which is another one in every plan.
fn timeless(settings: &RunSettings) -> RunSettings {
    RunSettings { realtime: 0, ..*settings }
}

/// The plan for a command line, made as `raddle test` makes it.
fn plan(line: &[String]) -> Plan {
    let cli = Cli::try_parse_from(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
    let arguments::Command::Test(test) = cli.command else { panic!("{line:?} is not a test") };
    let options = Resolved::of(test.options).unwrap_or_else(|error| panic!("{line:?}: {error}")).engine;
    Subject::new(test.command, options).unwrap_or_else(|error| panic!("{line:?}: {error}")).plan()
}

/// The command line with these options for a program.
fn test_of(program: &Path, options: &[&str]) -> Vec<String> {
    // Without a seed, each plan would draw its own.
    let seed: &[&str] = if options.contains(&"--seed") { &[] } else { &["--seed", "1"] };
    let program = program.to_str().expect("a path in UTF-8");
    [&["raddle", "test"], seed, options, &["--", program]].concat().into_iter().map(String::from).collect()
}

/// A line as a shell splits it into words.
fn split(line: &str) -> Vec<String> {
    let output = Command::new("sh").args(["-c", &format!("printf '%s\\0' {line}")]).output().expect("a shell");
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).expect("words in UTF-8");
    text.split_terminator('\0').map(String::from).collect()
}

/// The schedule file of a run with the settings of a plan, written and read again.
fn stored(plan: &Plan) -> RunSettings {
    let mut schedule = Schedule { settings: plan.settings, run: 1, ..Schedule::default() };
    schedule.command = vec![b"./program".to_vec()];
    (schedule.raddle, schedule.build_id) = ("0.1.0".into(), "none".into());
    schedule.failure.kind = "exit".into();
    raddle_schedule::parse(raddle_schedule::write(&schedule).as_bytes()).expect("a schedule file").settings
}

/// A program in which all kinds of settings make sense: an instrumented one.
fn instrumented(folder: &Folder) -> PathBuf {
    let source = folder.file("deadlock.c", DEADLOCK);
    let program = folder.path().join("deadlock");
    let mut compile = folder.raddle(&["cc", "-g", "-pthread", "-o"]);
    let (status, said) = outcome(compile.arg(&program).arg(source));
    assert_eq!(status, 0, "{said}");
    program
}

/// A plan has the same settings in all the places that follow it.
fn assert_carried(plan: &Plan) {
    assert_eq!(plan.block_settings().run, plan.settings);
    assert_eq!(stored(plan), plan.settings);
    let printed = explore_again(plan, 17);
    let again = self::plan(&split(&printed));
    assert_eq!(timeless(&again.settings), timeless(&plan.settings), "{printed}");
    assert_eq!((again.runs, &again.target.command), (17, &plan.target.command), "{printed}");
}

#[test]
fn every_setting_goes_through_all_five_places() {
    let folder = Folder::new();
    let program = instrumented(&folder);
    let default = plan(&test_of(&program, &[]));
    assert_carried(&default);
    for &changed in Setting::ALL.iter().filter(|&&setting| setting != Setting::Realtime) {
        let plan = plan(&test_of(&program, words(changed)));
        for &setting in Setting::ALL.iter().filter(|&&setting| setting != Setting::Realtime) {
            let alike = setting.is_alike(&plan.settings, &default.settings);
            assert_eq!(alike, setting != changed, "{setting:?}, asked for {:?}", words(changed));
        }
        assert_carried(&plan);
    }
}

#[test]
fn all_settings_go_through_together() {
    let folder = Folder::new();
    let program = instrumented(&folder);
    let all: Vec<&str> = Setting::ALL.iter().flat_map(|&setting| words(setting)).copied().collect();
    let all = plan(&test_of(&program, &all));
    assert!(all.settings.realtime > 0);
    assert_carried(&all);
}

#[test]
fn every_policy_and_the_ends_of_the_guard_go_through() {
    let folder = Folder::new();
    let program = folder.program("deadlock", DEADLOCK);
    for policy in raddle_core::policies::ALL {
        // How many runs there are to be decides parameters that are left open, and the printed line asks for others.
        assert_carried(&plan(&test_of(&program, &["--policy", policy.name, "--runs", "50000"])));
    }
    assert_carried(&plan(&test_of(&program, &["--no-guard"])));
    assert_carried(&plan(&test_of(&program, &["--guard", "0"])));
}

#[test]
fn the_printed_line_finds_the_same_failure_again() {
    let folder = Folder::new();
    let program = instrumented(&folder);
    let known = folder.file("known races", "race:no_such_function\n");
    let known = known.to_str().expect("a path in UTF-8");
    let options = ["--points", "sync", "--fail-on", "race", "--suppressions", known, "--exec", "--switch", "os"];
    let more = ["--env", "A=it's two words", "--expect-exit", "3", "--check", "test $RADDLE_STATUS = 3", "--own-cwd"];
    let line = test_of(&program, &[&options[..], &more, &["--sync-function", "left"]].concat());
    let plan = self::plan(&line);
    let printed = explore_again(&plan, 5);
    for option in ["--points sync", "--fail-on race", "--suppressions ", "--exec", "--switch os"] {
        assert!(printed.contains(option), "{option} is missing: {printed}");
    }
    let again = self::plan(&split(&printed));
    let (told, asked) = (again.benign.expect("races are failures"), plan.benign.expect("races are failures"));
    assert_eq!(told.path, asked.path);
    assert_eq!((again.exec, again.switch), (true, Switch::Os));
    assert_eq!(again.target.added, plan.target.added);
    assert_eq!(again.target.own_directory, plan.target.own_directory);
    assert_eq!(again.sync_functions.names, plan.sync_functions.names);
    assert_eq!((again.expect.exit, again.expect.oracle), (plan.expect.exit, plan.expect.oracle));
}

#[test]
fn the_printed_line_is_the_way_to_a_failure_without_a_schedule() {
    let folder = Folder::new();
    folder.program("fails", &counting("if (first == 1) return 3;"));
    // By the time a schedule is written, the folder for it is a file.
    let check = "rm -rf found; touch found; test $RADDLE_STATUS = 0";
    let options = ["test", "--seed", "3", "--points", "sync", "--yields", "3", "--out", "found", "--check", check];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&[&options[..], &["--", "./fails"]].concat()));
    assert_eq!(status, 1, "{said}");
    let line = said.lines().find_map(|line| line.trim().strip_prefix("find it again: "));
    let line = line.unwrap_or_else(|| panic!("no line to find it again: {said}"));
    let words = split(line);
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let (status, again) = outcome(&mut folder.raddle_with_runtime(&arguments));
    assert_eq!(status, 1, "{line}\n{again}");
    let message = |text: &str| text.lines().find(|line| line.contains("exit status 3")).map(String::from);
    assert!(message(&said).is_some() && message(&said) == message(&again), "{said}\n{again}");
}

#[test]
fn a_schedule_that_was_found_with_yields_is_replayed_with_them() {
    let folder = Folder::new();
    // The model does not know tee(2). Its thread sleeps in the kernel until the child writes, for many more polls than
    // the default allows: only a replay with the same --yields also waits for it.
    let source = r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <pthread.h>
        #include <unistd.h>
        static int from[2], to[2], first;
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void notes(int number) {
            pthread_mutex_lock(&lock);
            if (!first) first = number;
            pthread_mutex_unlock(&lock);
        }
        static void *copies(void *x) { tee(from[0], to[1], 1, 0); notes(1); return x; }
        static void *counts(void *x) { for (int i = 0; i < 20; i++) notes(2); return x; }
        int main(void) {
            pthread_t a, b;
            if (pipe(from) || pipe(to)) return 1;
            if (!fork()) { usleep(50000); _exit(write(from[1], "x", 1) != 1); }
            pthread_create(&a, 0, copies, 0);
            pthread_create(&b, 0, counts, 0);
            pthread_join(a, 0);
            pthread_join(b, 0);
            return first == 2 ? 3 : 0;
        }
    "#;
    folder.program("copies", source);
    let test = ["test", "-q", "--seed", "1", "--yields", "100000", "--out", "found", "--", "./copies"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 1, "{said}");
    let mut files = std::fs::read_dir(folder.path().join("found")).expect("schedules").flatten();
    let file = files.next().expect("a schedule").path();
    let replay = Replay::open(&file, &ReplayOptions::default()).expect("can be replayed");
    assert_eq!(replay.plan.settings.yields, 100_000);
    assert_eq!(replay.plan.block_settings().run, replay.recorded.settings);
    let file = file.to_str().expect("a path in UTF-8");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", "--runs", "5", file]));
    assert!(status == 1 && said.contains("5 of 5"), "{status} {said}");
}
