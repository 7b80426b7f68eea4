//! The systematic searches on real programs: what is proven, what is found, and what is said about it.

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::{json, Value};
use support::{counting, outcome, Folder, DEADLOCK};

/// Compiles a program of the suite in the folder.
fn suite(folder: &Folder, path: &str, name: &str) {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let (source, binary) = (programs.join(path), folder.path().join(name));
    let mut command = Command::new("cc");
    command.args(["-g", "-O1", "-pthread", "-I"]).arg(programs.join("../include")).arg(source).arg("-o").arg(binary);
    assert!(command.status().expect("cc runs").success(), "{path} does not compile");
}

fn search(folder: &Folder, policy: &str, more: &[&str], program: &str) -> Value {
    folder.json(&[&["--policy", policy, "--runs", "200000", "--seed", "1"], more].concat(), program)
}

const POLICIES: [&str; 5] = ["dfs", "dfs:reduction=sleep", "dfs:reduction=dpor", "ipb", "idb"];

#[test]
fn a_correct_program_is_proven_however_it_is_run() {
    let folder = Folder::new();
    suite(&folder, "pass/transfers-in-order.c", "transfers");
    let mut counts = Vec::new();
    for policy in POLICIES {
        let report = search(&folder, policy, &[], "./transfers");
        let exhausted = &report["exhausted"];
        assert_eq!((&exhausted["proof"], &exhausted["bound"]), (&json!(true), &Value::Null), "{report}");
        assert_eq!(exhausted["fair"], false, "{report}");
        let number = |key: &str| exhausted[key].as_u64().expect("a number");
        assert_eq!(report["runs"].as_u64(), Some(number("schedules") + number("redundant")));
        assert_eq!(report["distinct_schedules"], report["runs"]);
        counts.push(number("schedules"));
        for more in [&["--switch", "os"][..], &["--exec"], &["--jobs", "3"]] {
            assert_eq!(search(&folder, policy, more, "./transfers"), report, "{policy} {more:?}");
        }
    }
    // All of them explore the same; either transfer comes first.
    assert!(counts[0] > 30 && counts[3] == counts[0] && counts[4] == counts[0], "{counts:?}");
    assert_eq!(counts[1..3], [2, 2], "{counts:?}");
    let test = ["test", "--policy", "dfs", "--runs", "100000", "--", "./transfers"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 0, "{said}");
    assert!(said.starts_with(&format!("no failure: all {} schedules explored\n", counts[0])), "{said}");
    assert!(
        said.contains("none can fail, for the points of level sync, sequential consistency, these inputs"),
        "{said}"
    );
}

#[test]
fn a_deadlock_is_found_and_replayed() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    for (policy, bound) in POLICIES.into_iter().zip([None, None, None, Some(1), Some(1)]) {
        let report = search(&folder, policy, &[], "./deadlock");
        let failure = &report["failures"][0];
        assert_eq!(failure["kind"], "deadlock", "{report}");
        assert_eq!(failure["bound"].as_u64(), bound, "{report}");
        assert_eq!(report["exhausted"], Value::Null);
        let schedule = failure["schedule"].as_str().expect("a schedule");
        let (status, said) = outcome(&mut folder.raddle_with_runtime(&["replay", schedule, "--runs", "20"]));
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("happened in 20 of 20 runs"), "{said}");
    }
    let test = ["test", "--policy", "ipb", "--", "./deadlock"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains(", found with 1 preemption\n"), "{said}");
}

#[test]
fn a_bound_is_what_is_explored() {
    let folder = Folder::new();
    suite(&folder, "pass/transfers-in-order.c", "transfers");
    let report = search(&folder, "ipb:max=1", &[], "./transfers");
    assert_eq!((&report["exhausted"]["bound"], &report["exhausted"]["proof"]), (&json!(1), &json!(true)), "{report}");
    let test = ["test", "--policy", "idb:max=2", "--", "./transfers"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 0, "{said}");
    assert!(said.contains(" schedules with at most 2 delays explored\n"), "{said}");
}

#[test]
fn crashes_do_not_lose_the_search() {
    let folder = Folder::new();
    folder.program("good", &counting("").replace("i < 3", "i < 1").replace("!= 6", "!= 2"));
    let crash = counting("if (first == 1) *(volatile int *)16 = 1;");
    folder.program("crashes", &crash.replace("i < 3", "i < 1").replace("!= 6", "!= 2"));
    for policy in ["dfs", "ipb", "dfs:reduction=dpor"] {
        let good = search(&folder, policy, &[], "./good");
        for more in [&[][..], &["--exec"], &["--switch", "os"]] {
            let crashes = search(&folder, policy, &[&["--keep-going"], more].concat(), "./crashes");
            let failing = crashes["failing_runs"].as_u64().expect("a number");
            assert!(failing > 0 && failing < crashes["runs"].as_u64().expect("a number"), "{crashes}");
            assert_eq!(crashes["exhausted"], good["exhausted"], "{policy} {more:?}");
        }
    }
}

#[test]
fn a_check_is_proven_in_one_process() {
    let folder = Folder::new();
    suite(&folder, "checks/account.c", "account");
    let mut counts = Vec::new();
    for policy in POLICIES {
        let report = search(&folder, policy, &[], "./account");
        assert_eq!(report["exhausted"]["proof"], true, "{report}");
        assert_eq!(search(&folder, policy, &["--switch", "os", "--jobs", "2"], "./account"), report);
        counts.push(report["exhausted"]["schedules"].as_u64().expect("a number"));
    }
    assert!(counts[0] > 30 && counts[3] == counts[0] && counts[4] == counts[0], "{counts:?}");
    assert_eq!(counts[1..3], [2, 2], "{counts:?}");
    // One that crashes its process goes on in the next one.
    suite(&folder, "checks/segfault.c", "segfault");
    let report = search(&folder, "ipb:max=1", &["--keep-going"], "./segfault");
    assert_eq!(report["exhausted"]["proof"], true, "{report}");
    assert!(report["failing_runs"].as_u64() > Some(1), "{report}");
    assert_eq!(report["distinct_schedules"], report["runs"]);
}

#[test]
fn what_is_no_proof_is_not_called_one() {
    let folder = Folder::new();
    let lacks = |policy: &str, more: &[&str], program: &str| {
        let report = search(&folder, policy, more, program);
        let exhausted = &report["exhausted"];
        assert_eq!(exhausted["proof"], false, "{report}");
        exhausted["lacks"].to_string()
    };
    folder.program("good", &counting("").replace("i < 3", "i < 1").replace("!= 6", "!= 2"));
    assert!(lacks("dfs", &["--max-steps", "4"], "./good").contains("cut at the step limit"));
    let sleeps = counting("").replace("i < 3", "i < 1").replace("!= 6", "!= 2");
    folder.program("sleeps", &sleeps.replace("pthread_mutex_lock", "usleep(10); pthread_mutex_lock"));
    assert!(lacks("dfs:reduction=dpor", &[], "./sleeps").contains("waits for time"));
    let whole = search(&folder, "dfs", &[], "./sleeps");
    assert_eq!(whole["exhausted"]["proof"], true, "{whole}");
    // A child process goes its own way.
    folder.program("forks", &counting("system(\"true\");").replace("i < 3", "i < 1").replace("!= 6", "!= 2"));
    assert!(lacks("dfs:reduction=dpor", &[], "./forks").contains("child processes run outside control"));
    // A program that is not the same twice.
    let counter = folder.path().join("counter").display().to_string();
    let body = format!(
        "{{ int n = 0; FILE *f = fopen(\"{counter}\", \"a+\"); fseek(f, 0, SEEK_END); n = ftell(f); \
                        fputc('x', f); fclose(f); if (n % 2) pthread_mutex_lock(&lock); }}"
    );
    let unstable = counting("").replace("pthread_t threads[2];", &format!("pthread_t threads[2]; {body}"));
    let unstable = unstable.replace("i < 3", "i < 1").replace(
        "for (int i = 0; i < 2; i++) pthread_join",
        "pthread_mutex_unlock(&lock); for (int i = 0; i < 2; i++) pthread_join",
    );
    folder.program("unstable", &unstable.replace("count != 6", "0"));
    let (status, said) =
        outcome(&mut folder.raddle_with_runtime(&["test", "--policy", "dfs", "--runs", "200", "--", "./unstable"]));
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("and it would not be a proof: the program did not always do the same"), "{said}");
}

#[test]
fn an_end_that_was_not_seen_is_not_claimed() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    let test = ["test", "--policy", "dfs", "--runs", "30", "--verbose", "--jobs", "2", "--", "./good"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 0, "{said}");
    assert!(
        said.contains("no failure in 30 runs") && said.contains("the end was not reached; --runs allows more"),
        "{said}"
    );
    assert!(said.contains("dfs makes one run at a time, in one job"), "{said}");
}

#[test]
fn threads_that_spin_have_an_end() {
    let folder = Folder::new();
    let source = r#"
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static int is_ready(void) {
    pthread_mutex_lock(&lock);
    int now = ready;
    pthread_mutex_unlock(&lock);
    return now;
}
static void *sets(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sets, 0);
    while (!is_ready()) sched_yield();
    return pthread_join(thread, 0);
}
"#;
    folder.program("spins", source);
    for policy in ["dfs", "ipb", "idb"] {
        let report = search(&folder, policy, &[], "./spins");
        assert_eq!((&report["exhausted"]["proof"], &report["cut_runs"]), (&json!(true), &json!(0)), "{report}");
        assert_eq!(report["exhausted"]["fair"], true, "{report}");
    }
    let test = ["test", "--policy", "ipb", "--runs", "100000", "--", "./spins"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
    assert_eq!(status, 0, "{said}");
    assert!(
        said.contains(" fair schedules explored\n")
            && said.contains("none can fail, for schedules in which busy-waiting threads let others run, the points"),
        "{said}"
    );
}

#[test]
fn a_lock_that_is_tried_in_a_loop_makes_a_proof_about_fair_schedules() {
    let folder = Folder::new();
    let tries = counting("").replace("i < 3", "i < 1").replace("!= 6", "!= 2");
    folder.program("tries", &tries.replace("pthread_mutex_lock(&lock);", "while (pthread_mutex_trylock(&lock)) {}"));
    for policy in POLICIES {
        let report = search(&folder, policy, &[], "./tries");
        assert_eq!(report["exhausted"]["fair"], true, "{report}");
    }
}

#[test]
fn points_that_are_learned_are_searched() {
    let folder = Folder::new();
    let source = "#include <pthread.h>\n#include <assert.h>\nstatic int n;\nstatic void *adds(void *x) {\n    n++;\n    \
                  return x;\n}\nint main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, adds, 0);\n    adds(0);\n    \
                  pthread_join(t, 0);\n    assert(n == 2);\n    return 0;\n}\n";
    folder.file("race.c", source);
    folder.file("good.c", source.replace("n++", "__atomic_add_fetch(&n, 1, 5)"));
    for name in ["race", "good"] {
        let compile = ["cc", "-O1", "-pthread", &format!("{name}.c"), "-o", name];
        let (status, said) = outcome(&mut folder.raddle(&compile));
        assert_eq!(status, 0, "{said}");
    }
    for policy in POLICIES {
        let good = search(&folder, policy, &[], "./good");
        assert_eq!(good["exhausted"]["proof"], true, "{good}");
        // The lost update needs the points that the first runs teach.
        let race = search(&folder, policy, &[], "./race");
        assert_eq!((&race["points"], &race["failing_runs"]), (&json!("race"), &json!(1)), "{race}");
        let whole = search(&folder, policy, &["--keep-going"], "./race");
        assert_eq!(whole["exhausted"]["proof"], true, "{whole}");
    }
}

/// Two threads wait on a condition, and main wakes one; `ORACLE` is what is asked about who that was.
const SIGNAL: &str = r#"
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t waiting;
static int tokens, first;
static void *waits(void *number) {
    pthread_mutex_lock(&lock);
    sem_post(&waiting);
    while (tokens == 0) pthread_cond_wait(&condition, &lock);
    tokens--;
    if (first == 0) first = (int)(long)number;
    pthread_mutex_unlock(&lock);
    return 0;
}
static void gives(void) {
    pthread_mutex_lock(&lock);
    tokens++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
}
int main(void) {
    pthread_t threads[2];
    sem_init(&waiting, 0, 0);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, waits, (void *)(i + 1));
    for (int i = 0; i < 2; i++) sem_wait(&waiting);
    gives();
    gives();
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return ORACLE;
}
"#;

#[test]
fn who_is_woken_is_explored_and_replayed() {
    let folder = Folder::new();
    folder.program("good", &SIGNAL.replace("ORACLE", "first == 0"));
    let explored = |policy| {
        let report = search(&folder, policy, &[], "./good");
        assert_eq!(report["exhausted"]["proof"], true, "{report}");
        report["exhausted"]["schedules"].as_u64().expect("a number")
    };
    assert_eq!(explored("dfs:reduction=dpor"), explored("dfs:reduction=sleep"));
    // Either can be the first, and without a preemption only by being woken.
    for oracle in ["first == 1", "first == 2"] {
        folder.program("fails", &SIGNAL.replace("ORACLE", oracle));
        for (policy, more) in [("ipb:max=0", &[][..]), ("ipb:max=0", &["--exec", "--switch", "os"]), ("dfs", &[])] {
            let report = search(&folder, policy, more, "./fails");
            let failure = &report["failures"][0];
            assert_eq!(failure["kind"], "exit", "{report}");
            let schedule = failure["schedule"].as_str().expect("a schedule");
            let text = std::fs::read_to_string(folder.path().join(schedule)).expect("the schedule");
            assert!(policy == "dfs" || text.contains("woken"), "{text}");
            for how in [&["--runs", "10"][..], &["--exec", "--switch", "os"]] {
                let replay = [&["replay", schedule], how].concat();
                let (status, said) = outcome(&mut folder.raddle_with_runtime(&replay));
                assert_eq!(status, 1, "{said}");
            }
        }
    }
}
