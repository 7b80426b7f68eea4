//! Campaigns and replays of small programs, with the real runtime.

mod support;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use raddle_core::policies;
use raddle_core::policy::Kind;
use serde_json::Value;
use support::{counting, outcome, Folder, DEADLOCK};

#[test]
fn a_deadlock_is_found_explained_and_replayed() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let report = folder.json(&["--seed", "1"], "./deadlock");
    let failure = &report["failures"][0];
    assert_eq!(failure["kind"], "deadlock", "{report}");
    assert_eq!(report["failing_runs"], 1);
    assert_eq!(report["first_failing_run"], report["runs"]);
    assert_eq!(failure["message"], "t1 waits for t2, t2 waits for t1");
    let places = failure["place"].as_str().expect("a place");
    assert!(places.contains("left (deadlock.c:6)") && places.contains("right (deadlock.c:13)"), "{places}");
    let waits_for = failure["threads"][1]["waits_for"].as_str().expect("waits");
    assert!(waits_for.starts_with("lock on mutex 0x") && waits_for.ends_with("held by t2 (deadlock)"), "{waits_for}");

    let schedule = failure["schedule"].as_str().expect("a schedule");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", schedule, "--runs", "100"]));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("the recorded deadlock happened in 100 of 100 runs"), "{said}");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", schedule, "--exec"]));
    assert_eq!(status, 1, "{said}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let sampling = policies::ALL.iter().filter(|policy| policy.kind == Kind::Sampling).map(|policy| policy.name);
    let optimised = ["pct:draw=uniform,phases=on,final-wait=on", "pct:sequential=on", "pct:d=0", "stride:ratio=0"];
    for policy in sampling.chain(optimised) {
        // Past the first block and the second, in which policies begin to use what they have learned.
        let options = ["--seed", "7", "--runs", "100", "--keep-going", "--policy", policy];
        let with = |more: &[&str]| folder.json(&[&options, more].concat(), "./deadlock");
        let alone = with(&[]);
        // No lock is held twice, and with so few runs the depth rule gives depth 1.
        let may_miss = ["atomfuzzer", "rpro", "pct:d=0"].contains(&policy);
        assert!(may_miss || alone["failing_runs"].as_u64() > Some(0), "{alone}");
        for more in [&["--jobs", "3"][..], &["--exec"], &["--switch", "os"]] {
            assert_eq!(with(more), alone, "{policy} {more:?}");
        }
    }
}

/// Two threads at locks in all kinds of memory: a global variable, the heap, an arena of a worker's, the stacks of main
/// and of a worker, a mapped block, and thread-local storage. What is mapped lies elsewhere in every process, as it does
/// on another machine.
const PLACES: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define LOCKS 7
static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER, *locks[LOCKS];
static __thread pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready, done;
static int order[LOCKS];
static void put(int i, pthread_mutex_t *lock) {
    pthread_mutex_init(lock, 0);
    locks[i] = lock;
}
static void *works(void *number) {
    int id = (int)(long)number;
    pthread_mutex_t mine;
    if (id == 1) put(3, malloc(sizeof mine));
    if (id == 2) put(4, &mine), put(6, &local);
    pthread_barrier_wait(&ready);
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < LOCKS; k++) {
            int i = (k + id) % LOCKS;
            pthread_mutex_lock(locks[i]);
            order[i] = order[i] * 3 + id;
            pthread_mutex_unlock(locks[i]);
        }
    pthread_barrier_wait(&done);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_mutex_t mine;
    mmap(0, (size_t)(1 + getpid() % 97) << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_barrier_init(&ready, 0, 2);
    pthread_barrier_init(&done, 0, 2);
    put(0, &global);
    put(1, malloc(sizeof mine));
    put(2, &mine);
    put(5, mmap(0, 1 << 21, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, works, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return order[1] / 9 == 5 && order[5] / 9 == 7;
}
"#;

#[test]
fn objects_are_known_wherever_they_lie() {
    let folder = Folder::new();
    folder.program("places", PLACES);
    folder.program("deadlock", DEADLOCK);
    for policy in ["surw", "maple"] {
        // Several blocks in which objects that earlier ones have shown are looked for.
        let options = ["--seed", "7", "--runs", "200", "--keep-going", "--policy", policy];
        let with = |more: &[&str], program| folder.json(&[&options, more].concat(), program);
        let alone = with(&[], "./places");
        assert!(alone["failing_runs"].as_u64() > Some(0), "{alone}");
        for more in [&["--jobs", "3"][..], &["--exec"], &["--switch", "os"], &["--switch", "os", "--exec"]] {
            assert_eq!(with(more, "./places"), alone, "{policy} {more:?}");
        }
        // Whatever the policy calls them, a report has their addresses.
        let report = with(&[], "./deadlock");
        let waits_for = report["failures"][0]["threads"][1]["waits_for"].as_str().expect("waits");
        let address = waits_for.strip_prefix("lock on mutex 0x").and_then(|rest| rest.split(',').next());
        let address = usize::from_str_radix(address.expect("a mutex"), 16).expect("an address");
        assert!(address < 1 << 47, "{waits_for}");
    }
}

#[test]
fn places_that_race_are_named() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\nstatic int n;\nstatic void *adds(void *x) {\n    n++;\n    return x;\n}\n\
                  int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, adds, 0);\n    adds(0);\n    \
                  return pthread_join(t, 0);\n}\n";
    folder.file("race.c", source);
    let (status, said) = outcome(&mut folder.raddle(&["cc", "-O1", "-pthread", "race.c", "-o", "race"]));
    assert_eq!(status, 0, "{said}");
    let with = |more: &[&str]| folder.json(&[&["--seed", "1", "--runs", "100"], more].concat(), "./race");
    let report = with(&[]);
    assert_eq!(report["points"], "race");
    assert_eq!(report["offers"], serde_json::json!(["atomics", "memory"]));
    // The read and the write.
    let racing = report["racing"].as_array().expect("a list");
    assert_eq!(racing.len(), 2, "{report}");
    for place in racing {
        assert_eq!((&place["file"], &place["function"]), (&"race".into(), &"adds".into()));
        assert!(place["source"].as_str().is_some_and(|source| source.ends_with("race.c:4")), "{place}");
        assert!(place["address"].as_str().is_some_and(|address| address.starts_with("0x")), "{place}");
    }
    assert_eq!(with(&["--jobs", "2"]), report);
    let (_, said) = outcome(&mut folder.raddle_with_runtime(&["test", "-v", "--runs", "20", "--", "./race"]));
    assert!(said.contains("2 places seen to race\n  racing       adds ("), "{said}");
}

#[test]
fn orders_are_those_of_all_points() {
    let folder = Folder::new();
    folder.program("counting", &counting("return 0;"));
    let covered = |policy: &str| {
        let arguments =
            ["test", "--policy", policy, "--runs", "1", "--seed", "1", "--quiet", "--json", "-", "--no-guard"];
        let output = folder.raddle_with_runtime(&[&arguments[..], &["--", "./counting"]].concat()).output();
        let json: Value = serde_json::from_slice(&output.expect("raddle runs").stdout).expect("JSON");
        let pairs = &json["worth"]["event_pairs"];
        (pairs["covered"].as_u64().expect("a number"), pairs["possible"].as_u64().expect("a number"))
    };
    // Whoever goes first, a run has one order of each two points, also of those where nobody else could go on: three
    // locks and unlocks, at least, of each of two threads.
    let (one_by_one, possible) = covered("delay-bound:n=0");
    assert_eq!(2 * one_by_one, possible);
    assert!(one_by_one >= 36, "{one_by_one}");
    for policy in ["pct:d=1", "random", "preempt-always"] {
        assert_eq!(covered(policy), (one_by_one, possible), "{policy}");
    }
}

#[test]
fn a_good_program_passes_and_one_without_threads_says_nothing() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    folder.program("alone", "int main(void) { return 0; }");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["test", "--runs", "50", "--", "./good"]));
    assert_eq!(status, 0, "{said}");
    assert!(said.starts_with("no failure in 50 runs"), "{said}");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["test", "--runs", "5", "--", "./alone"]));
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("the program never started a thread"), "{said}");
}

#[test]
fn each_kind_of_failure_has_its_name() {
    let folder = Folder::new();
    folder.program("aborts", &counting("if (first == 1) abort();"));
    folder.program("crashes", &counting("if (first == 1) *(volatile int *)16 = 1;"));
    folder.program("fails", &counting("if (first == 1) return 3;"));
    folder.program("prints", &counting("printf(\"%d\\n\", first);"));
    folder.program("spins", &counting("for (;;) ;"));
    folder.program("dies", &counting("kill(getpid(), SIGKILL);"));
    folder.file("zero", "0\n");
    let kind = |options: &[&str], program: &str| {
        let report = folder.json(&[&["--seed", "1", "--runs", "200"], options].concat(), program);
        let failure = &report["failures"][0];
        let text = |key: &str| failure[key].as_str().unwrap_or_default().to_string();
        (text("kind"), text("message"))
    };
    assert_eq!(kind(&[], "./aborts"), ("signal".into(), "SIGABRT".into()));
    assert_eq!(kind(&[], "./crashes"), ("signal".into(), "SIGSEGV at address 0x10".into()));
    assert_eq!(kind(&[], "./fails"), ("exit".into(), "exit status 3, expected 0".into()));
    let message = "standard output differs from zero: line 1 is \"1\\n\", expected \"0\\n\"";
    assert_eq!(kind(&["--expect-output", "zero"], "./prints"), ("output".into(), message.into()));
    let check = "grep -q 0 $RADDLE_STDOUT";
    let message = format!("the check `{check}` failed (exit status: 1)");
    assert_eq!(kind(&["--check", check], "./prints"), ("check".into(), message));
    assert_eq!(kind(&["--run-timeout", "0.3"], "./spins").0, "timeout");
    assert!(kind(&[], "./dies").1.starts_with("SIGKILL"));
}

#[test]
fn a_call_that_never_comes_back_is_a_time_out_and_no_deadlock() {
    let folder = Folder::new();
    // Nobody models tee(2), and nobody writes into the pipe. The other thread is not held up.
    let source =
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n\
        static int from[2], to[2];\n\
        static void *copies(void *x) { tee(from[0], to[1], 1, 0); return x; }\n\
        static void *prints(void *x) { puts(\"on\"); fflush(stdout); return x; }\n\
        int main(void) { pthread_t a, b; if (pipe(from) || pipe(to)) return 1;\n\
          pthread_create(&a, 0, copies, 0); pthread_create(&b, 0, prints, 0);\n\
          pthread_join(b, 0); pthread_join(a, 0); return 0; }\n";
    folder.program("waits", source);
    for yields in ["1", "10"] {
        let options = ["--runs", "3", "--seed", "1", "--run-timeout", "1", "--yields", yields];
        let report = folder.json(&options, "./waits");
        assert_eq!(report["failures"][0]["kind"], "timeout", "{report}");
        let escaped = "a system call that may block was made outside the model";
        assert!(report["uncontrolled"].to_string().contains(escaped), "{report}");
    }
    let refused = outcome(&mut folder.raddle_with_runtime(&["test", "--yields", "0", "--", "./waits"]));
    assert_eq!(refused.0, 2);
}

#[test]
fn a_failure_that_is_expected_is_none() {
    let folder = Folder::new();
    folder.program("three", &counting("return 3;"));
    let test = ["test", "-q", "--runs", "5", "--expect-exit", "3", "--", "./three"];
    assert_eq!(outcome(&mut folder.raddle_with_runtime(&test)), (0, String::new()));
}

#[test]
fn standard_input_reaches_every_run_whole() {
    let folder = Folder::new();
    let source = counting("char text[99]; return read(0, text, 99) != 12 || memcmp(text, \"twelve bytes\", 12);");
    folder.program("reads", &source);
    let file = folder.file("input", "twelve bytes");
    for mode in [&[][..], &["--exec"], &["--jobs", "2"]] {
        let arguments = [&["test", "-q", "--runs", "30"], mode, &["--", "./reads"]].concat();
        let mut from_file = folder.raddle_with_runtime(&arguments);
        from_file.stdin(std::fs::File::open(&file).expect("opened"));
        assert_eq!(outcome(&mut from_file), (0, String::new()), "from a file, {mode:?}");

        let mut from_pipe = folder.raddle_with_runtime(&arguments);
        let mut child = from_pipe.stdin(Stdio::piped()).spawn().expect("raddle runs");
        child.stdin.take().expect("a pipe").write_all(b"twelve bytes").expect("written");
        assert!(child.wait().expect("ends").success(), "from a pipe, {mode:?}");
    }
}

#[test]
fn a_replay_of_another_program_diverges() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    folder.program("other", &counting(""));
    let report = folder.json(&["--seed", "1"], "./deadlock");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule").to_string();
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", &schedule, "--", "./other"]));
    assert_eq!(status, 4, "{said}");
    assert!(said.contains("the replay diverged at step"), "{said}");
    assert!(said.contains("the program has changed since the recording"), "{said}");
}

#[test]
fn a_damaged_schedule_names_the_line() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let report = folder.json(&["--seed", "1"], "./deadlock");
    let schedule = folder.path().join(report["failures"][0]["schedule"].as_str().expect("a schedule"));
    let text = std::fs::read_to_string(&schedule).expect("read");
    std::fs::write(&schedule, text.replace("cpus 4", "cpus 5")).expect("written");
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", schedule.to_str().expect("text")]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("the file is damaged"), "{said}");
}

#[test]
fn every_run_has_directories_of_its_own() {
    let folder = Folder::new();
    let source = counting(
        "char path[999]; snprintf(path, 999, \"%s/here\", getenv(\"TMPDIR\"));
         if (mkdir(path, 0) || mkdir(\"here\", 0700)) return 7;",
    );
    folder.program("makes", &source);
    for mode in [&[][..], &["--exec"], &["--jobs", "2"]] {
        let arguments = [&["test", "-q", "--runs", "20", "--own-cwd"], mode, &["--", "./makes"]].concat();
        assert_eq!(outcome(&mut folder.raddle_with_runtime(&arguments)), (0, String::new()), "{mode:?}");
    }
    assert!(!folder.path().join("here").exists());
}

#[test]
fn gigabytes_of_output_do_no_harm() {
    let folder = Folder::new();
    let source = counting(
        "static char block[1 << 20]; memset(block, 'x', sizeof block);
         for (int i = 0; i < 200; i++) if (write(1, block, sizeof block) < 0) return 9;",
    );
    folder.program("prints", &source);
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&["test", "--runs", "2", "--", "./prints"]));
    assert_eq!(status, 0, "{said}");
}

#[test]
fn a_schedule_that_cannot_be_written_does_not_hide_the_failure() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    // A folder that becomes a file while the campaign runs: the check does it.
    let check = format!("touch {}/out", folder.path().display());
    let arguments = ["test", "--seed", "1", "--out", "out", "--check", &check, "--", "./deadlock"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&arguments));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("there is no schedule file"), "{said}");
    assert!(said.contains("find it again: raddle test --policy portfolio --seed 1 --runs"), "{said}");
}

#[test]
fn nothing_outlives_a_campaign() {
    let folder = Folder::new();
    let source =
        counting("if (fork() == 0) { setsid(); signal(SIGTERM, SIG_IGN); if (fork() == 0) sleep(1000); sleep(1000); }");
    folder.program("leaves-children", &source);
    for mode in [&[][..], &["--exec"]] {
        let arguments = [&["test", "-q", "--runs", "3"], mode, &["--", "./leaves-children"]].concat();
        assert_eq!(outcome(&mut folder.raddle_with_runtime(&arguments)), (0, String::new()), "{mode:?}");
        assert_eq!(processes(&folder), Vec::<String>::new(), "{mode:?}");
    }
}

#[test]
fn a_signal_ends_with_the_summary_and_its_exit_status() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    for (signal, status) in [(libc::SIGINT, 130), (libc::SIGTERM, 143), (libc::SIGHUP, 129)] {
        // This many runs would take hours, so only the signal can end the campaign.
        let arguments = ["test", "--runs", "100000000", "--jobs", "2", "--json", "it.json", "--", "./good"];
        let mut command = folder.raddle_with_runtime(&arguments);
        // A group of its own, as `timeout` and shells make it.
        let child = command.stdout(Stdio::piped()).process_group(0).spawn().expect("raddle runs");
        std::thread::sleep(Duration::from_millis(500));
        let id = child.id() as i32;
        // As `timeout` does it: to the process, and then to the group, which it is in.
        // SAFETY: sends signals to a child of ours and to its group.
        unsafe {
            libc::kill(id, signal);
            libc::kill(-id, signal);
        }
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.starts_with("no failure in ") && said.contains("(interrupted)"), "{said}");
        let text = std::fs::read_to_string(folder.path().join("it.json")).expect("a file");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&report["end"], &report["runs_planned"]), (&"interrupted".into(), &100_000_000.into()));
        assert_eq!(processes(&folder), Vec::<String>::new());
    }
}

#[test]
fn what_is_ignored_stays_ignored() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    let mut command = folder.raddle_with_runtime(&["test", "--runs", "100000000", "--time", "2", "--", "./good"]);
    // SAFETY: between fork and exec, signal is allowed.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        })
    };
    let child = command.stdout(Stdio::piped()).spawn().expect("raddle runs");
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: sends a signal to a child of ours.
    unsafe { libc::kill(child.id() as i32, libc::SIGHUP) };
    let output = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("(time ran out)"), "{said}");
}

#[test]
fn without_a_run_nothing_has_passed() {
    let folder = Folder::new();
    folder.program("late", &counting("for (;;) ;"));
    let arguments = ["test", "--time", "0.3", "--run-timeout", "60", "--json", "it.json", "--", "./late"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&arguments));
    assert_eq!(status, 3, "{said}");
    assert!(said.starts_with("nothing was explored: time ran out"), "{said}");
    let text = std::fs::read_to_string(folder.path().join("it.json")).expect("a file");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["runs"], &report["end"]), (&0.into(), &"time".into()));
    let options = ["compare", "--policies", "random", "--repeat", "1", "--run-timeout", "60", "--time", "0.3"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&[&options[..], &["--", "./late"]].concat()));
    assert_eq!(status, 3, "{said}");
}

#[test]
fn a_replay_elsewhere_does_not_read_as_fixed() {
    let folder = Folder::new();
    folder.program("asks", &counting("if (getenv(\"MODE\") && first == 1) abort();"));
    folder.file("input", "1");
    let found = |options: &[&str]| {
        let arguments = [&["test", "--quiet", "--json", "-"], options, &["--", "./asks", "input"]].concat();
        let output = folder.raddle_with_runtime(&arguments).env("MODE", "fast").env("TOKEN", "hunter2").output();
        let report: Value = serde_json::from_slice(&output.expect("raddle runs").stdout).expect("JSON");
        report["failures"][0]["schedule"].as_str().expect("a schedule").to_string()
    };
    let schedule = found(&["--seed", "1"]);
    let text = std::fs::read_to_string(folder.path().join(&schedule)).expect("a file");
    assert!(text.contains("\"MODE\" 0x") && text.contains("file \"input\" 0x"), "{text}");
    assert!(!text.contains("hunter2") && !text.contains("fast"), "{text}");
    let replay = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = folder.raddle_with_runtime(&[&["replay", &schedule, "--json", "it.json"], options].concat());
        outcome(command.env_remove("MODE").env_remove("TOKEN").envs(variables.iter().copied()))
    };
    assert_eq!(replay(&[("MODE", "fast"), ("TOKEN", "hunter2")], &[]).0, 1);
    // What differs is no reason to doubt a failure that happens.
    assert_eq!(replay(&[("MODE", "slow")], &[]).0, 1);
    let (status, said) = replay(&[("TOKEN", "hunter2")], &[]);
    assert!(status == 4 && said.contains("did not happen\nbut this differs from the recording"), "{status}: {said}");
    assert!(said.contains("  the variable MODE is not set here\n") && !said.contains("TOKEN"), "{said}");
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("it.json")).expect("a file")).expect("JSON");
    assert_eq!(report["differences"], serde_json::json!(["the variable MODE is not set here"]));
    folder.file("input", "2");
    let (status, said) = replay(&[("TOKEN", "hunter2")], &["--any-env"]);
    assert!(status == 4 && said.contains("the file input has changed since the recording"), "{status}: {said}");
    assert!(!said.contains("MODE"), "{said}");
    // Another run with the same failure has a file of its own.
    let kept = found(&["--seed", "2", "--keep-env", "MO*"]);
    assert!(kept != schedule && folder.path().join(&schedule).exists(), "{kept}");
    let mut command = folder.raddle_with_runtime(&["replay", &kept]);
    assert_eq!(outcome(command.env_remove("MODE")).0, 1);
    assert_eq!(std::fs::read_to_string(folder.path().join(".raddle/.gitignore")).expect("a file"), "*\n");
}

#[test]
fn a_bound_says_what_it_is_about() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    let arguments = ["test", "--runs", "20", "--policy", "pct:d=2", "--seed", "1"];
    let (_, said) = outcome(&mut folder.raddle_with_runtime(&[&arguments[..], &["--", "./good"]].concat()));
    let worth = said.lines().find(|line| line.contains("missed with probability")).expect("a bound");
    let hidden = "atomics and memory accesses are not seen: build with raddle cc";
    assert!(worth.contains("): locks and calls") && worth.contains(hidden), "{worth}");
    assert!(said.contains(&format!("uncontrolled {hidden}")), "{said}");
    let report = folder.json(&arguments[1..], "./good");
    let scope = report["worth"]["bound"]["scope"].as_str().expect("a text");
    assert!(scope.starts_with("bugs that show at the points raddle saw (up to ") && scope.contains(hidden), "{scope}");
    assert_eq!(report["uncontrolled"], serde_json::json!([hidden]));
    let small = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic void *locks(void *x) {\n    \
                 pthread_mutex_lock(&m);\n    pthread_mutex_unlock(&m);\n    return x;\n}\nint main(void) {\n    \
                 pthread_t t;\n    pthread_create(&t, 0, locks, 0);\n    locks(0);\n    return pthread_join(t, 0);\n}\n";
    folder.program("small", small);
    let report = folder.json(&["--runs", "5000", "--policy", "dfs"], "./small");
    let (proof, scope) = (&report["exhausted"]["proof"], &report["exhausted"]["scope"]);
    assert!(proof == true && scope.as_str().is_some_and(|scope| scope.contains(hidden)), "{report}");
}

#[test]
fn a_project_file_sets_defaults() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    folder.file("raddle.toml", "[test]\nruns = 7\nseed = 5\npolicy = \"random\"\n");
    let report = folder.json(&["--seed", "6"], "./good");
    let values = [&report["runs"], &report["seed"], &report["policy"]];
    assert_eq!(values, [&Value::from(7), &Value::from(6), &Value::from("random")]);
}

/// Processes whose program is in the folder.
fn processes(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let programs = entries.filter_map(|entry| {
        let exe = std::fs::read_link(entry.path().join("exe")).ok()?;
        exe.starts_with(folder.path()).then(|| exe.display().to_string())
    });
    programs.collect()
}
