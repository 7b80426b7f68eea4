//! Checks: the programs in `programs/checks` run many schedules in one process, with the real runtime.
//!
//! The header of a program says what it shows, and for one that fails the kind of the failure (`expect`), a part of its
//! message, the options that it needs (`options`) and how often it is replayed, if that can be done (`replays`).

mod support;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::Duration;

use serde_json::Value;
use support::{outcome, Folder};

const POLICIES: [&str; 2] = ["random", "pct"];
const SWITCHES: [&str; 2] = ["fiber", "os"];

/// The folder of the programs.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/checks").canonicalize().expect("the programs")
}

/// Where they are built.
fn build_folder() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_raddle")).ancestors().nth(2).expect("the target folder");
    let folder = target.join("programs/checks");
    std::fs::create_dir_all(&folder).expect("a folder for the binaries");
    folder
}

/// Compiles a program, once for all tests.
fn build(source: &str) -> PathBuf {
    static BUILT: LazyLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> = LazyLock::new(Mutex::default);
    let built = Arc::clone(BUILT.lock().expect("no panic").entry(source.to_owned()).or_default());
    let path = built.get_or_init(|| {
        let binary = build_folder().join(source.replace('.', "_"));
        let age = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let parts = [source, "body.h", "race.h", "../../include/raddle.h"];
        if parts.iter().all(|part| age(&binary) > age(&sources().join(part))) {
            return binary;
        }
        let (compiler, standard) = if source.ends_with(".cc") { ("g++", "c++20") } else { ("gcc", "gnu17") };
        let mut command = Command::new(compiler);
        command.arg(format!("-std={standard}")).args(["-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror", "-I"]);
        command.arg(sources().join("../../include")).arg(sources().join(source)).arg("-o").arg(&binary);
        assert!(command.status().expect("the compiler runs").success(), "{source} does not compile");
        binary
    });
    path.clone()
}

/// A test binary of the Rust package.
fn rust(name: &str) -> PathBuf {
    static BUILT: LazyLock<HashMap<String, PathBuf>> = LazyLock::new(|| {
        let output = cargo(&["test", "--no-run", "--message-format", "json"]).output().expect("cargo runs");
        assert!(output.status.success(), "the tests do not build: {}", String::from_utf8_lossy(&output.stderr));
        let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().flatten();
        let built = messages.filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            Some((name, PathBuf::from(message["executable"].as_str()?)))
        });
        built.collect()
    });
    BUILT[name].clone()
}

/// cargo, for the Rust package.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--quiet", "--locked", "--manifest-path"]).arg(sources().join("rust/Cargo.toml"));
    command.env("CARGO_TARGET_DIR", build_folder().join("rust")).env_remove("RUSTFLAGS").env_remove("RUST_BACKTRACE");
    command
}

/// What the header of a program says.
fn header(source: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(sources().join(source)).expect("the program");
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    let entries = lines.filter_map(|line| line.split_once(':'));
    entries.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// raddle with these options and a command.
fn raddle(folder: &Folder, options: &[&str], command: &[&str]) -> Command {
    let mut raddle = folder.raddle_with_runtime(&[options, &["--"], command].concat());
    // With backtraces, panics do many things more.
    raddle.env_remove("RUST_BACKTRACE");
    raddle
}

/// A campaign: the exit status, and the JSON without what differs from time to time.
fn campaign(folder: &Folder, options: &[&str], command: &[&str]) -> (i32, Value) {
    let seed: &[&str] = if options.contains(&"--seed") { &[] } else { &["--seed", "1"] };
    let options = [&["test", "--quiet", "--json", "-"], seed, options].concat();
    let output = raddle(folder, &options, command).output().expect("raddle runs");
    let parsed = serde_json::from_slice(&output.stdout);
    let mut report: Value =
        parsed.unwrap_or_else(|error| panic!("{command:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    let one = |report: &mut Value| {
        for key in ["seconds", "runs_per_second"] {
            report.as_object_mut().expect("an object").remove(key).expect("a time");
        }
    };
    match report["tests"].as_array_mut() {
        Some(tests) => tests.iter_mut().for_each(one),
        None => one(&mut report),
    }
    (output.status.code().unwrap_or(-1), report)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// Replays a schedule 20 times by each way to switch threads.
#[track_caller]
fn replays(folder: &Folder, report: &Value) {
    let schedule = report["failures"][0]["schedule"].as_str().unwrap_or_else(|| panic!("no schedule: {report}"));
    for switch in SWITCHES {
        let mut replay = folder.raddle_with_runtime(&["replay", schedule, "--switch", switch, "--runs", "20"]);
        let (status, said) = outcome(replay.env_remove("RUST_BACKTRACE"));
        assert_eq!(status, 1, "{switch}: {said}");
        assert!(said.contains(" happened in 20 of 20 runs"), "{switch}: {said}");
    }
}

/// A program that passes, natively and under raddle, where all that there is to say is the same whatever switches threads.
#[track_caller]
fn passes(source: &str) {
    let (folder, binary) = (Folder::new(), build(source));
    assert!(Command::new(&binary).stdout(Stdio::null()).status().expect("it runs").success(), "{source} natively");
    let header = header(source);
    assert!(header.contains_key("passes"), "{source} does not say what it shows");
    let runs = header.get("runs").map_or("1000", String::as_str);
    for policy in POLICIES {
        let reports = SWITCHES.map(|switch| {
            let options = ["--policy", policy, "--runs", runs, "--switch", switch];
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{source}, {policy}, {switch}: {report}");
            report
        });
        assert_eq!(reports[0], reports[1], "{source}, {policy}");
    }
}

/// A program that fails as its header says, with every policy and by each way to switch threads, and whose failure
/// replays.
#[track_caller]
fn fails(source: &str) {
    let (folder, binary, header) = (Folder::new(), build(source), header(source));
    let get = |key: &str| header.get(key).map_or("", String::as_str);
    assert!(header.contains_key("fails"), "{source} does not say what it shows");
    for policy in POLICIES {
        let mut traces = Vec::new();
        for switch in SWITCHES {
            let mut options = vec!["--policy", policy, "--runs", "2000", "--switch", switch];
            options.extend(get("options").split_whitespace());
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            let failure = &report["failures"][0];
            assert_eq!(status, 1, "{source}, {policy}, {switch}: {report}");
            assert_eq!(failure["kind"], get("expect"), "{source}, {policy}, {switch}: {report}");
            let message = failure["message"].as_str().expect("a message");
            assert!(message.contains(get("message")), "{source}, {policy}, {switch}: {message}");
            assert_eq!(report["first_failing_run"], report["runs"], "{report}");
            traces.push((report["trace"].clone(), report["runs"].clone()));
            // The other one finds the same.
            if get("replays") != "0" && switch == "fiber" {
                replays(&folder, &report);
            }
        }
        assert_eq!(traces[0], traces[1], "{source}, {policy}");
    }
}

macro_rules! programs {
    ($does:ident: $($name:ident $source:literal,)*) => {
        $(
            #[test]
            fn $name() {
                $does($source);
            }
        )*
    };
}

programs! { passes:
    threads_end_in_every_way "thread-ends.c",
    threads_that_nobody_joins "unjoined.c",
    thread_locals_of_c_are_fresh "thread-local.c",
    thread_locals_of_cpp_are_fresh "thread-local.cc",
    everything_to_wait_for "waits.c",
    stacks_of_all_sizes "stack-sizes.c",
    fifty_threads "many-threads.c",
    much_memory "malloc.c",
    bodies_may_print "prints.c",
    a_nested_check_is_refused "nested-check.c",
}

programs! { fails:
    an_assertion "assertion.c",
    a_deadlock "deadlock.c",
    an_abort "abort.c",
    a_segmentation_fault "segfault.c",
    an_exit "exit.c",
    an_exit_with_0 "exit-0.c",
    an_endless_loop "endless-loop.c",
    a_livelock "livelock.c",
    threads_left_behind "threads-left.c",
    leaking_state "leak.c",
    leaking_state_that_changes_the_threads "leak-decisions.c",
    an_exception "exception.cc",
    an_exception_of_another_type "other-exception.cc",
    an_exception_in_every_run "always-throws.cc",
    an_exception_in_another_thread "thread-exception.cc",
    an_exception_unless_somebody_is_preempted "usual-order.cc",
}

/// Like a global collector, it walks over what earlier runs have left there.
const COLLECTS: &str = r#"
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>
static atomic_int garbage;
static int runs;
static void *retires(void *unused) {
    for (int i = 0; i <= runs % 3; i++) garbage++;
    return unused;
}
static void body(void *unused) {
    pthread_t one, two;
    runs++;
    pthread_create(&one, 0, retires, unused);
    pthread_create(&two, 0, retires, unused);
    pthread_join(one, 0);
    pthread_join(two, 0);
}
int main(void) { return raddle_check(body, 0); }
"#;

#[test]
fn what_a_collector_keeps_is_no_failure() {
    let folder = Folder::new();
    folder.file("collects.c", COLLECTS);
    let (status, said) = outcome(&mut folder.raddle(&["cc", "-O1", "-pthread", "collects.c", "-o", "collects"]));
    assert_eq!(status, 0, "{said}");
    for jobs in ["1", "2"] {
        let (status, report) = campaign(&folder, &["--runs", "300", "--jobs", jobs], &["./collects"]);
        assert_eq!((status, &report["runs"]), (0, &300.into()), "{report}");
        assert!(report["uncontrolled"].to_string().contains("when it was repeated in the same process"), "{report}");
    }
}

#[test]
fn state_that_acts_now_and_then_is_no_failure() {
    passes("state-now-and-then.c");
    let (folder, binary) = (Folder::new(), build("state-now-and-then.c"));
    let (_, report) = campaign(&folder, &["--runs", "1000"], &[text(&binary)]);
    let expected = &header("state-now-and-then.c")["uncontrolled"];
    assert!(report["uncontrolled"].to_string().contains(expected.as_str()), "{report}");
}

#[test]
fn nothing_of_another_thread_is_seen() {
    passes("thread-state.c");
}

#[test]
fn all_runs_are_made_and_the_same_each_time() {
    let (folder, binary) = (Folder::new(), build("account.c"));
    for policy in POLICIES {
        let with = |more: &[&str]| {
            let options = [&["--policy", policy], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{report}");
            report
        };
        let once = with(&["--runs", "100000", "--jobs", "1"]);
        assert_eq!(once["runs"], 100_000);
        assert_eq!(once["threads_max"], 3);
        assert_eq!(once["failing_runs"], 0);
        assert!(once["distinct_schedules"].as_u64() > Some(20), "{once}");
        assert_eq!(with(&["--runs", "100000", "--jobs", "1"]), once);
        assert_eq!(with(&["--runs", "100000", "--jobs", "2"]), once);
        assert_ne!(with(&["--runs", "100000", "--seed", "2"])["trace"], once["trace"]);
        let fewer = with(&["--runs", "3000", "--switch", "fiber"]);
        assert_eq!(with(&["--runs", "3000", "--switch", "os"]), fewer);
        assert_eq!(with(&["--runs", "3000", "--switch", "os", "--jobs", "2"]), fewer);
    }
}

#[test]
fn objects_are_known_whatever_the_heap_was_used_for() {
    // Where the lock lies depends on what the runs before it in the same process have freed, and in which order.
    let (folder, binary) = (Folder::new(), build("malloc.c"));
    for policy in ["surw", "maple"] {
        let with = |more: &[&str]| {
            let options = [&["--policy", policy, "--seed", "7", "--runs", "200"], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{report}");
            report
        };
        let once = with(&["--jobs", "1"]);
        assert_eq!(with(&["--jobs", "3"]), once, "{policy}");
        assert_eq!(with(&["--switch", "os"]), once, "{policy}");
    }
}

#[test]
fn all_failing_runs_are_counted() {
    let folder = Folder::new();
    // An exception leaves the process alive, an assertion does not. The third one fails when nobody is preempted, as in the
    // first iteration of each process, which is no run.
    for source in ["exception.cc", "assertion.c", "usual-order.cc"] {
        let binary = build(source);
        let with = |more: &[&str]| {
            let options = [&["--runs", "300", "--keep-going"], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 1, "{report}");
            report
        };
        let report = with(&["--jobs", "1"]);
        assert_eq!(report["runs"], 300, "{report}");
        let failing = report["failing_runs"].as_u64().expect("a number");
        assert!((10..290).contains(&failing), "{report}");
        assert_eq!(report["failures"][0]["count"], failing);
        assert_eq!(with(&["--jobs", "2"])["trace"], report["trace"], "{source}");
        assert_eq!(with(&["--switch", "os"])["trace"], report["trace"], "{source}");
        replays(&folder, &report);
    }
}

#[test]
fn failing_bodies_go_on_in_the_same_process() {
    let folder = Folder::new();
    let binary = build("exception.cc");
    let options = ["test", "--seed", "1", "--runs", "20000", "--keep-going", "--quiet", "--json", "report"];
    let mut child = raddle(&folder, &options, &[text(&binary)]).stdout(Stdio::null()).spawn().expect("raddle runs");
    // One process makes all runs, another one before it asks what the check wants, and one after it looks for a second
    // check.
    let mut seen = std::collections::HashSet::new();
    while child.try_wait().expect("a child").is_none() {
        seen.extend(targets(&binary, child.id()));
    }
    assert!(seen.len() <= 3, "{seen:?}");
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report")).expect("read")).expect("JSON");
    assert_eq!(report["runs"], 20_000);
    assert!(report["failing_runs"].as_u64() > Some(1_000), "{report}");
}

#[test]
fn cut_runs_do_not_end_the_campaign() {
    let (folder, binary) = (Folder::new(), build("many-steps.c"));
    let with = |more: &[&str]| {
        let options = [&["--runs", "200", "--max-steps", "30"], more].concat();
        let (status, report) = campaign(&folder, &options, &[text(&binary)]);
        assert_eq!(status, 0, "{report}");
        report
    };
    let report = with(&["--jobs", "1"]);
    assert_eq!(report["runs"], 200);
    assert!((10..190).contains(&report["cut_runs"].as_u64().expect("a number")), "{report}");
    assert_eq!(with(&["--jobs", "2"]), report);
    assert_eq!(with(&["--switch", "os"]), report);
}

#[test]
fn every_check_of_a_program_is_explored() {
    let (folder, binary) = (Folder::new(), build("two-checks.c"));
    let (status, report) = campaign(&folder, &["--runs", "500"], &[text(&binary)]);
    assert_eq!(status, 0, "{report}");
    let tests = report["tests"].as_array().expect("a list");
    let names: Vec<_> = tests.iter().map(|test| (test["test"].as_str(), test["runs"].as_u64())).collect();
    assert_eq!(names, [(Some("the first one"), Some(500)), (Some("check 2"), Some(500))]);

    // The first one's abort does not keep the second one from being explored.
    let (status, report) = campaign(&folder, &["--runs", "500"], &[text(&binary), "bad"]);
    assert_eq!(status, 1, "{report}");
    let tests = report["tests"].as_array().expect("a list");
    let kinds: Vec<_> = tests.iter().map(|test| test["failures"][0]["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("signal"), Some("assert")]);
    tests.iter().for_each(|test| replays(&folder, test));
}

#[test]
fn other_threads_may_check() {
    let (folder, binary) = (Folder::new(), build("second-thread.c"));
    for switch in SWITCHES {
        let (status, report) = campaign(&folder, &["--runs", "500", "--switch", switch], &[text(&binary)]);
        assert_eq!(status, 0, "{report}");
        let traces: Vec<_> =
            report["tests"].as_array().expect("a list").iter().map(|test| test["trace"].clone()).collect();
        assert_eq!(traces.len(), 3, "{report}");
        assert!(traces.iter().all(|trace| *trace == traces[0]), "{report}");
    }
}

#[test]
fn a_check_that_is_not_reached_is_an_error() {
    let (folder, binary) = (Folder::new(), build("no-check.c"));
    let (status, said) = outcome(&mut raddle(&folder, &["test"], &[text(&binary)]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("error: the program ended without reaching its check"), "{said}");
    let (status, _) = campaign(&folder, &["--runs", "10"], &[text(&binary), "yes"]);
    assert_eq!(status, 0);
}

#[test]
fn a_check_says_what_it_wants_and_the_command_line_has_the_last_word() {
    let (folder, binary) = (Folder::new(), build("options.c"));
    let settings = |options: &[&str], arguments: &[&str]| {
        let options = [&["test", "--quiet", "--json", "-"], options].concat();
        let output = raddle(&folder, &options, &[&[text(&binary)], arguments].concat()).output().expect("raddle runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |key: &str| report[key].as_u64().expect("a number");
        assert_eq!(report["test"], "with options");
        (number("runs"), report["policy"].as_str().expect("a name").to_owned(), number("seed"), number("cut_runs"))
    };
    assert_eq!(settings(&[], &["123", "random", "7"]), (123, "random".into(), 7, 0));
    assert_eq!(settings(&[], &["123", "random", "0", "3"]), (123, "random".into(), 0, 123));
    let said = ["--runs", "50", "--policy", "pct", "--seed", "9", "--max-steps", "1000"];
    assert_eq!(settings(&said, &["123", "random", "7", "3"]), (50, "pct".into(), 9, 0));

    let (status, said) = outcome(&mut raddle(&folder, &["test"], &[text(&binary), "5", "nonsense"]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("nonsense"), "{said}");
}

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
fn targets(program: &Path, raddle: u32) -> Vec<u32> {
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

#[test]
fn rust_tests_pass_natively() {
    rust("passes");
    let (status, said) = outcome(&mut cargo(&["test", "--test", "passes"]));
    assert_eq!(status, 0, "{said}");
}

#[test]
fn rust_tests_pass_under_raddle() {
    let (folder, binary) = (Folder::new(), rust("passes"));
    let reports = SWITCHES.map(|switch| {
        let options = ["--runs", "200", "--switch", switch];
        let (status, report) = campaign(&folder, &options, &[text(&binary), "--test-threads=1"]);
        assert_eq!(status, 0, "{switch}: {report}");
        report
    });
    assert_eq!(reports[0], reports[1]);
    let tests = reports[0]["tests"].as_array().expect("a list");
    let names: Vec<_> = tests.iter().filter_map(|test| test["test"].as_str()).collect();
    for name in ["passes::mutex", "passes::channels", "passes::parking_lot", "passes::crossbeam", "passes::result"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(tests.iter().all(|test| test["runs"] == 200 && test["distinct_schedules"].as_u64() > Some(1)));
}

#[test]
fn what_fails_in_rust() {
    let (folder, binary) = (Folder::new(), rust("fails"));
    for (test, kind, message) in [
        ("two_withdrawals", "assert", "the test panicked at tests/fails.rs:"),
        ("error", "assert", "the test returned an error: \"out of order\""),
        ("thread_panics", "assert", "called `Result::unwrap()` on an `Err` value"),
        ("deadlock", "deadlock", "t0 waits in lock, t1 waits in lock"),
        ("abort", "signal", "SIGABRT"),
        ("threads_left", "threads", "t3 (forgotten) waits for park"),
        ("leak", "leak", "state leaks from one iteration to the next"),
    ] {
        let command = [text(&binary), "--test-threads=1", "--exact", test];
        let reports = SWITCHES.map(|switch| {
            let (status, report) = campaign(&folder, &["--runs", "1000", "--switch", switch], &command);
            assert_eq!(status, 1, "{test}, {switch}: {report}");
            let failure = &report["failures"][0];
            assert_eq!(report["test"], format!("fails::{test}"));
            assert_eq!(failure["kind"], kind, "{test}, {switch}: {report}");
            let said = failure["message"].as_str().expect("a message");
            assert!(said.contains(message), "{test}, {switch}: {said}");
            if kind != "leak" && switch == "fiber" {
                replays(&folder, &report);
            }
            report
        });
        assert_eq!(reports[0]["trace"], reports[1]["trace"], "{test}");
    }
    let (_, report) = campaign(&folder, &[], &[text(&binary), "--test-threads=1", "--exact", "two_withdrawals"]);
    let message = report["failures"][0]["message"].as_str().expect("a message");
    assert!(message.ends_with(": the balance is -10"), "{message}");
}

#[test]
fn panics_with_backtraces_replay() {
    let (folder, binary) = (Folder::new(), rust("fails"));
    let mut test = raddle(
        &folder,
        &["test", "--seed", "1", "--json", "report", "--quiet"],
        &[text(&binary), "--test-threads=1", "thread_panics"],
    );
    assert_eq!(outcome(test.env("RUST_BACKTRACE", "1")).0, 1);
    let report = std::fs::read(folder.path().join("report")).expect("read");
    replays(&folder, &serde_json::from_slice(&report).expect("JSON"));
}

#[test]
fn rust_tests_say_what_they_want_and_others_may_overrule_them() {
    let (folder, binary) = (Folder::new(), rust("passes"));
    let settings = |options: &[&str], variables: &[(&str, &str)]| {
        let options = [&["test", "--quiet", "--json", "-"], options].concat();
        let mut command = raddle(&folder, &options, &[text(&binary), "--test-threads=1", "options"]);
        let output = command.envs(variables.iter().copied()).output().expect("raddle runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |key: &str| report[key].as_u64().expect("a number");
        (number("runs"), report["policy"].as_str().expect("a name").to_owned(), number("seed"))
    };
    assert_eq!(settings(&[], &[]), (123, "random".into(), 7));
    assert_eq!(settings(&["--runs", "50"], &[]), (50, "random".into(), 7));
    assert_eq!(settings(&["--policy", "pct", "--seed", "8"], &[]), (123, "pct".into(), 8));
    let variables = [("RADDLE_RUNS", "60"), ("RADDLE_POLICY", "pct"), ("RADDLE_SEED", "9")];
    assert_eq!(settings(&[], &variables), (60, "pct".into(), 9));
    assert_eq!(settings(&["--runs", "50"], &variables), (50, "pct".into(), 9));
}
