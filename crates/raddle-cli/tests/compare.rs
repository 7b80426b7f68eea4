//! `raddle compare` on real programs, with the real runtime.

mod support;

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{counting, outcome, Folder, DEADLOCK, WATCHDOG};

/// A comparison as JSON, without what may differ from time to time.
fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let arguments = [&["compare", "--quiet", "--json", "-"], arguments].concat();
    let output = folder.raddle_with_runtime(&arguments).output().expect("raddle runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    forget_times(&mut value);
    value
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for time in ["seconds", "runs_per_second", "seconds_to_first_failure"] {
                fields.remove(time);
            }
            fields.values_mut().for_each(forget_times);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_times),
        _ => {}
    }
}

#[test]
fn the_number_of_jobs_changes_nothing_but_times() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let policies = "random;pct:d=2;stride;portfolio;ipb";
    let with = |jobs: &str, raw: &str| {
        let options = ["--seed", "5", "--runs", "150", "--repeat", "3", "--policies", policies, "--jobs", jobs];
        let value = json(&folder, &[&options[..], &["--raw", raw, "--", "./deadlock"]].concat());
        (value, std::fs::read_to_string(folder.path().join(raw)).expect("raw data"))
    };
    let (alone, raw) = with("1", "raw-1");
    let (three, raw_three) = with("3", "raw-3");
    assert_eq!(alone, three);
    // The seconds are the last column.
    let but_times = |raw: &str| {
        let lines = raw.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_string());
        lines.collect::<Vec<_>>()
    };
    let lines = but_times(&raw);
    assert_eq!(lines, but_times(&raw_three));
    let seconds = raw.lines().skip(1).map(|line| line.rsplit(',').next().and_then(|text| text.parse::<f64>().ok()));
    assert!(seconds.clone().all(|seconds| seconds.is_some_and(|seconds| seconds > 0.0)), "{raw}");
    let cells = alone["programs"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 5, "{alone}");
    for cell in &cells[..4] {
        assert_eq!((&cell["found"], &cell["runs"]), (&true.into(), &150.into()), "{cell}");
        assert_eq!(cell["repetitions"].as_array().map(Vec::len), Some(3), "{cell}");
    }
    // A search may be through with all schedules before, and there is nothing to repeat.
    let search = &cells[4];
    assert!(search["runs"].as_u64().is_some_and(|runs| runs <= 150), "{search}");
    assert_eq!((&search["found"], search["repetitions"].as_array().map(Vec::len)), (&true.into(), Some(1)), "{search}");
    // A line for each run: the first repetition has all, the others those up to their first failure.
    let runs = cells.iter().flat_map(|cell| cell["repetitions"].as_array().expect("repetitions"));
    let runs: u64 = runs.map(|repetition| repetition["runs"].as_u64().expect("a number")).sum();
    assert_eq!(raw.lines().count() as u64, 1 + runs);
    let failing = raw.lines().filter(|line| line.contains(",deadlock,")).count() as u64;
    let kinds: u64 = cells.iter().map(|cell| cell["kinds"]["deadlock"].as_u64().expect("a number")).sum();
    assert_eq!(failing, kinds);
    // Only a portfolio has members, and one of its first hundred runs is POS's.
    let column = |line: &str, from_the_end: usize| line.rsplit(',').nth(from_the_end).unwrap_or_default().to_string();
    assert!(lines[1..].iter().all(|line| column(line, 2).is_empty() != line.contains(",portfolio,")), "{raw}");
    assert!(lines.iter().any(|line| column(line, 2) == "pos"), "{raw}");
    // The first run is told nothing, later ones how many steps there were.
    assert_eq!(lines[0].split(',').rev().take(3).collect::<Vec<_>>(), ["told_k", "guard_fired", "member"]);
    assert_eq!((column(&lines[1], 0), column(&lines[1], 1)), ("0".to_string(), "0".to_string()), "{raw}");
    let told = |line: &String| column(line, 0).parse::<u64>().is_ok_and(|steps| steps > 0);
    assert!(lines.iter().any(|line| line.contains("pct:d=2") && told(line)), "{raw}");
}

#[test]
fn a_cell_is_what_raddle_test_says() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let options = ["--seed", "9", "--runs", "200"];
    let compared =
        json(&folder, &[&options[..], &["--policies", "pct:d=2", "--repeat", "2", "--", "./deadlock"]].concat());
    let cell = &compared["programs"][0]["cells"][0];
    let tested = folder.json(&[&options[..], &["--policy", "pct:d=2", "--keep-going"]].concat(), "./deadlock");
    for field in ["runs", "failing_runs", "distinct_schedules", "threads_max", "steps_max", "steps_mean", "worth"] {
        assert_eq!(cell[field], tested[field], "{field}");
    }
    assert_eq!(cell["repetitions"][0]["first_failing_run"], tested["first_failing_run"]);
    let next = folder.json(&["--seed", "10", "--runs", "200", "--policy", "pct:d=2"], "./deadlock");
    assert_eq!(cell["repetitions"][1]["first_failing_run"], next["first_failing_run"]);
    assert_eq!(cell["repetitions"][1]["seed"], 10);
    // A guard of a search would decide by chance what the search wants to know.
    let options = [&options[..], &["--guard", "0.3"]].concat();
    let compared = json(&folder, &[&options[..], &["--policies", "dfs", "--", "./deadlock"]].concat());
    let cell = &compared["programs"][0]["cells"][0];
    let tested = folder.json(&[&options[..], &["--policy", "dfs", "--keep-going"]].concat(), "./deadlock");
    for field in ["runs", "failing_runs", "distinct_schedules", "steps_max"] {
        assert_eq!(cell[field], tested[field], "{field}");
    }
    assert_eq!(cell["guard_fired"], 0);
}

#[test]
fn a_table_a_page_and_csv() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let arguments =
        ["compare", "--seed", "1", "--runs", "50", "--policies", "random,pct:d=2,k=30", "--html", "page.html"];
    let arguments = [&arguments[..], &["--csv", "table.csv", "--", "./deadlock"]].concat();
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&arguments));
    assert_eq!(status, 0, "{said}");
    for text in ["deadlock: points sync", "│ random ", "│ pct:d=2,k=30", "★", "seed 1, 50 runs"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("<script"), "{page}");
    let csv = std::fs::read_to_string(folder.path().join("table.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.lines().nth(2).is_some_and(|line| line.starts_with("deadlock,\"pct:d=2,k=30")), "{csv}");
}

#[test]
fn a_suite_goes_on_past_programs_that_cannot_be_compared() {
    let folder = Folder::new();
    let suite = folder.path().join("suite");
    std::fs::create_dir_all(suite.join("locks")).expect("a folder");
    let write = |name: &str, header: &str, source: &str| {
        std::fs::write(suite.join(name), format!("{header}{source}")).expect("written");
    };
    let header = "// bug: x\n// kind: KIND\n// depth: 2\n";
    write("locks/deadlock.c", &header.replace("KIND", "deadlock"), DEADLOCK);
    let arguments = format!("{}// variants: one = 1; two = 2 [depth 4]\n", header.replace("KIND", "exit"));
    write("locks/counts.c", &arguments, &counting("if (first == 1) return atoi(argv[1]);"));
    let racy = "use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};\nstatic N: AtomicUsize = AtomicUsize::new(0);\n\
                fn adds() { let n = N.load(SeqCst); N.store(n + 1, SeqCst); }\nfn main() { let t = std::thread::spawn(adds); \
                adds(); t.join().unwrap(); assert_eq!(N.load(SeqCst), 2); }\n";
    write("locks/racy.rs", &format!("{}// points: atomic\n", header.replace("KIND", "assert")), racy);
    write("locks/broken.c", &header.replace("KIND", "exit"), "int main(void) { return x; }\n");
    write("locks/alone.c", &header.replace("KIND", "exit"), "int main(void) { return 0; }\n");
    write("locks/nameless.c", "", "int main(void) { return 0; }\n");
    let arguments = ["compare", "--seed", "1", "--runs", "60", "--repeat", "2", "--policies", "random;pct:d=depth"];
    let arguments = [&arguments[..], &["--suite", "suite", "--json", "out.json"]].concat();
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&arguments));
    assert_eq!(status, 0, "{said}");
    for text in [
        "note: broken is left out: it does not compile: suite/locks/broken.c",
        "note: alone is left out: nothing was under control: the program never started a thread",
        "note: locks/nameless.c is left out: it has no header with `// bug:` and `// kind:`",
        "│ found ",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("JSON");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let programs = report["programs"].as_array().expect("programs");
    let names: Vec<_> = programs.iter().map(|program| program["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["counts-one", "counts-two", "deadlock", "racy"]);
    for program in programs {
        assert!(program["cells"][0]["found"].as_bool().is_some_and(|found| found), "{program}");
        let kind = program["kind"].as_str().expect("a kind");
        assert!(program["cells"][0]["kinds"][kind].as_u64() > Some(0), "{program}");
    }
    assert!(programs[1]["cells"][1]["policy"].as_str().is_some_and(|policy| policy.starts_with("pct:d=4")), "{said}");
    assert_eq!(programs[3]["points"], "atomic");
    // What is built is used again; what is not asked for is not looked at.
    let only = [&arguments[..], &["--only", "deadlock"]].concat();
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&only));
    assert_eq!(status, 0, "{said}");
    assert!(!said.contains("compiled") && !said.contains("broken") && said.contains("deadlock: points sync"), "{said}");
}

#[test]
fn wrong_input_is_named() {
    let folder = Folder::new();
    folder.program("alone", "int main(void) { return 0; }");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let check = |arguments: &[&str], text: &str| {
        let arguments = [&["compare"], arguments].concat();
        let (status, said) = outcome(&mut folder.raddle_with_runtime(&arguments));
        assert_eq!(status, 2, "{arguments:?}: {said}");
        assert!(said.contains(text), "{arguments:?}: {said}");
    };
    check(&[], "there is nothing to compare");
    check(&["--policies", "random,ptc", "--", "./alone"], "there is no policy `ptc`; did you mean `pct`?");
    check(&["--", "./nothing-here"], "there is no such file");
    check(&["--", "./alone"], "alone cannot be compared: nothing was under control");
    check(&["--repeat", "0", "--", "./alone"], "--repeat 0 is not valid");
    check(&["--time", "-1", "--", "./alone"], "--time -1 is not valid");
    check(&["--suite", "empty"], "empty has no matching program");
    check(&["--suite", "nowhere"], "cannot read nowhere");
    check(&["--suite", "empty", "--", "./alone"], "exclude each other");
    check(&["--raw", "no/such/folder", "--", "./alone"], "cannot write no/such/folder");
}

#[test]
fn the_time_and_an_interrupt_keep_what_there_is() {
    let folder = Folder::new();
    folder.program("good", &counting(""));
    let options = ["compare", "--runs", "1000000000", "--policies", "random;pct", "--json", "out.json"];
    let (status, said) =
        outcome(&mut folder.raddle_with_runtime(&[&options[..], &["--time", "0.7", "--", "./good"]].concat()));
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("time ran out: these are the results so far"), "{said}");
    let mut command = folder.raddle_with_runtime(&[&options[..], &["--", "./good"]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("raddle runs");
    std::thread::sleep(Duration::from_secs(2));
    // SAFETY: a child of ours that we have not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let deadline = Instant::now() + WATCHDOG;
    let status = loop {
        match child.try_wait().expect("waited for") {
            Some(status) => break status,
            None if Instant::now() > deadline => panic!("it goes on for ever"),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let mut said = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted: these are the results so far") && said.contains("│ random "), "{said}");
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("JSON");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["end"], "interrupted");
    assert!(report["programs"][0]["cells"][0]["runs"].as_u64() > Some(0), "{report}");
}

/// Where the other thread does not run first, longer than a cell of a second has, and than runs may take after that.
const SLOW_IF_LATE: &str = r#"
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *other(void *unused) { done = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    for (int i = 0; i < 10; i++) { pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); }
    if (!done) for (volatile long i = 0; i < 20000000000; i++) {}
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn a_policy_without_time_keeps_its_place() {
    let folder = Folder::new();
    folder.program("slow", SLOW_IF_LATE);
    let policies = "delay-bound:n=0,points=uniform;preempt-always";
    let options = ["--runs", "5", "--repeat", "1", "--no-guard", "--limit", "1", "--policies", policies];
    let value = json(&folder, &[&options[..], &["--", "./slow"]].concat());
    let cells = value["programs"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2, "{value}");
    assert!(cells[0]["policy"].as_str().is_some_and(|name| name.starts_with("delay-bound")), "{value}");
    assert!(cells[0]["error"].as_str().is_some_and(|error| error.contains("no time for a single run")), "{value}");
    assert_eq!((&cells[1]["policy"], &cells[1]["runs"]), (&"preempt-always".into(), &5.into()), "{value}");
}

#[test]
fn a_limit_cuts_cells_short_and_not_the_comparison() {
    let folder = Folder::new();
    folder.program("deadlock", DEADLOCK);
    let arguments = ["compare", "--policies", "random,pct", "--runs", "10000000", "--repeat", "1", "--limit", "0.3"];
    let more = ["--seed", "1", "--json", "-", "--", "./deadlock"];
    let output = folder.raddle_with_runtime(&[&arguments[..], &more].concat()).output().expect("raddle runs");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["end"], "complete");
    let cells = json["programs"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2);
    assert!(cells.iter().all(|cell| cell["cut_short"] == true && cell["runs"].as_u64() > Some(0)), "{json}");
}
