//! The specification of instrumented programs: every program in `programs/memory/pass` survives every policy at
//! every level, and has the races that its header names and no others; every program in `programs/memory/fail` is
//! caught and replays.
//!
//! RADDLE_SUITE_ONLY runs only the programs whose path contains the text.

mod support;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::programs::{campaign, checking_runtime, each, instrumented, repeatable, replay, root, Program};
use support::{outcome, runtime, Folder, WATCHDOG};

const POLICIES: [&str; 2] = ["pct", "random"];
const SWITCHES: [&str; 2] = ["fiber", "os"];

/// A program with two builds.
type Pair = [Program; 2];

/// The programs that must pass.
fn pass() -> &'static [Pair] {
    static PROGRAMS: OnceLock<Vec<Pair>> = OnceLock::new();
    PROGRAMS.get_or_init(|| instrumented("memory/pass", &["c", "cc", "rs"]))
}

/// The programs with a bug.
fn fail() -> &'static [Pair] {
    static PROGRAMS: OnceLock<Vec<Pair>> = OnceLock::new();
    PROGRAMS.get_or_init(|| instrumented("memory/fail", &["c", "cc", "rs"]))
}

/// All builds of those programs that have something in their header.
fn with(key: &str) -> Vec<&'static Program> {
    pass().iter().chain(fail()).flatten().filter(|program| program.get(key).is_some()).collect()
}

/// Which build is tested with which policy at which level: each gets both policies and both levels.
const SQUARE: [(usize, &str, &str); 4] =
    [(0, "pct", "race"), (0, "random", "memory"), (1, "pct", "memory"), (1, "random", "race")];

#[test]
fn pass_on_both_back_ends_with_the_same_report() {
    each(pass(), |pair| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        for (build, policy, level) in SQUARE {
            let program = &pair[build];
            let runs = program.get("runs").unwrap_or("100");
            let [fibers, threads] = SWITCHES.map(|switch| {
                let options = ["--policy", policy, "--points", level, "--runs", runs, "--switch", switch];
                let options = [&options[..], &["--seed", "1", "--run-timeout", "20"]].concat();
                let (status, report, said) = campaign(program, &runtime(), out.path(), &options);
                (status, repeatable(report), said)
            });
            for (status, _, said) in [&fibers, &threads] {
                if *status != Some(0) {
                    return Err(format!("{}, {policy}, {level}: status {status:?}\n{said}", program.name()));
                }
            }
            if fibers.1 != threads.1 {
                let (fibers, threads) = (fibers.2, threads.2);
                return Err(format!("{}, {policy}, {level}: {fibers}\nOS threads:\n{threads}", program.name()));
            }
        }
        Ok(())
    });
}

/// Looks for races; the messages of those that were found.
fn races(program: &Program, out: &Path, options: &[&str]) -> Result<Vec<String>, String> {
    let common = ["--fail-on", "race", "--keep-going", "--seed", "1", "--run-timeout", "20"];
    let (status, report, said) = campaign(program, &runtime(), out, &[&common[..], options].concat());
    if !matches!(status, Some(0 | 1)) || report.is_null() {
        return Err(format!("{}, {options:?}: status {status:?}\n{said}", program.name()));
    }
    let failures = report["failures"].as_array().cloned().unwrap_or_default();
    let (found, other): (Vec<Value>, Vec<Value>) = failures.into_iter().partition(|failure| failure["kind"] == "race");
    if let Some(unexpected) = other.iter().find(|failure| program.get("expect") != failure["kind"].as_str()) {
        return Err(format!("{}, {options:?}: {unexpected:#}", program.name()));
    }
    Ok(found.iter().filter_map(|failure| failure["message"].as_str().map(str::to_owned)).collect())
}

#[test]
fn no_races_where_there_are_none() {
    each(&with("race-free"), |program| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        for policy in POLICIES {
            for level in ["race", "memory"] {
                let options = ["--policy", policy, "--points", level, "--runs", "50"];
                let found = races(program, out.path(), &options)?;
                if !found.is_empty() {
                    return Err(format!("{}, {policy}, {level}: {found:#?}", program.name()));
                }
            }
        }
        Ok(())
    });
}

/// The variable that a message names: `data` for "`data[3].next` (…): …", `COUNT` for "`program::COUNT`: …".
fn variable(message: &str) -> Option<&str> {
    let way = message.split('`').nth(1)?;
    let whole = way.split(['.', '[', ' ']).next()?;
    whole.rsplit("::").next()
}

#[test]
fn races_are_found_and_have_the_names_of_their_variables() {
    each(&with("races"), |program| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        let expected: Vec<&str> = program.get("races").unwrap_or_default().split(", ").collect();
        // A run ends with its first race. Each variable's are the first when the others' do not count.
        for name in &expected {
            let others: String = expected.iter().filter(|n| *n != name).map(|n| format!("race:^{n}$\n")).collect();
            let file = out.path().join("suppressions");
            std::fs::write(&file, others).expect("a file");
            let file = file.display().to_string();
            let mut found = Vec::new();
            for policy in POLICIES {
                found.extend(races(
                    program,
                    out.path(),
                    &["--policy", policy, "--runs", "300", "--suppressions", &file],
                )?);
            }
            if found.is_empty() {
                return Err(format!("{}: no race on `{name}` in 300 runs of each policy", program.name()));
            }
            if let Some(wrong) = found.iter().find(|message| variable(message) != Some(name)) {
                return Err(format!("{}: a race on `{name}` is told as: {wrong}", program.name()));
            }
        }
        Ok(())
    });
}

/// A fail program is found by one of the policies in so many runs, unless its header says another number.
const WITHIN: &str = "1000";

#[test]
fn fail_and_replay_on_both_back_ends() {
    let programs: Vec<&Program> = fail().iter().flatten().collect();
    each(&programs, |program| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        let mut found = false;
        for policy in POLICIES {
            let runs = program.get("runs").unwrap_or(WITHIN);
            let options = ["--policy", policy, "--runs", runs, "--seed", "1"];
            let (status, report, said) = campaign(program, &runtime(), out.path(), &options);
            let failure = &report["failures"][0];
            match status {
                Some(0) => continue,
                Some(1) if failure["kind"].as_str() == program.get("expect") => found = true,
                _ => return Err(format!("{} under {policy}: status {status:?}\n{said}", program.name())),
            }
            let schedule = failure["schedule"].as_str().unwrap_or_default();
            for switch in SWITCHES {
                let (again, said) = replay(program, &runtime(), out.path(), switch, "20", schedule);
                if again != Some(20) {
                    let name = program.name();
                    return Err(format!("{name} under {policy}, {switch}: does not replay 20 of 20\n{said}"));
                }
            }
        }
        found.then_some(()).ok_or_else(|| format!("{}: not found by any policy", program.name()))
    });
}

#[test]
fn leases_change_nothing() {
    let checking = checking_runtime();
    let pairs: Vec<&Pair> = pass().iter().chain(fail()).collect();
    each(&pairs, |pair| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        for (policy, program) in POLICIES.iter().zip(pair.iter()) {
            // Many of the failing runs are cut short, so all are made.
            let options = ["--policy", policy, "--points", "memory", "--runs", "30", "--seed", "2", "--keep-going"];
            let [(_, with, said), (_, without, said_without)] = [runtime(), checking.clone()].map(|runtime| {
                campaign(program, &runtime, out.path(), &[&options[..], &["--run-timeout", "60"]].concat())
            });
            if with.is_null() || repeatable(with) != repeatable(without) {
                let name = program.name();
                return Err(format!("{name} under {policy}, with leases:\n{said}\nwithout:\n{said_without}"));
            }
        }
        Ok(())
    });
}

#[test]
fn racing_places_are_a_tenth_of_the_steps_and_find_more() {
    let name = "work-stealing-deque-with-work";
    let Some(deque) = fail().iter().flatten().find(|program| program.name().contains(name)) else {
        assert!(std::env::var_os("RADDLE_SUITE_ONLY").is_some(), "there is no {name}");
        return;
    };
    let [race, memory] = ["race", "memory"].map(|level| {
        let out = tempfile::tempdir().expect("a folder for the campaign");
        let reports = (1..=15).map(|seed: u32| {
            let seed = seed.to_string();
            let options = ["--policy", "pct", "--points", level, "--seed", &seed, "--runs", MOST];
            let (_, report, said) = campaign(deque, &runtime(), out.path(), &options);
            assert!(report.is_object(), "{said}");
            // Not found is worse than any run.
            let most = MOST.parse::<u64>().expect("a number");
            let first = report["first_failing_run"].as_u64().unwrap_or(most + 1);
            (first, report["steps_mean"].as_f64().expect("steps"))
        });
        let (mut runs, steps): (Vec<u64>, Vec<f64>) = reports.unzip();
        runs.sort_unstable();
        (runs[runs.len() / 2], steps.iter().sum::<f64>() / steps.len() as f64)
    });
    let told = format!("runs to the first failure, and steps: {race:?} at race, {memory:?} at memory");
    assert!(race.0 < memory.0 && race.1 * 10.0 <= memory.1, "{told}");
    println!("{told}");
}

/// How many runs the deque gets.
const MOST: &str = "1000";

#[test]
fn run_by_themselves() {
    let programs: Vec<&Program> = pass().iter().chain(fail()).flatten().collect();
    each(&programs, |program| {
        let mut command = Command::new(program.binary());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).env_remove("RADDLE_RUNTIME");
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.name()))?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait().expect("the program can be waited for") {
                Some(status) => break status,
                None if start.elapsed() > WATCHDOG => {
                    child.kill().expect("the program can be killed");
                    child.wait().expect("the program can be waited for");
                    return Err(format!("{}: does not end", program.name()));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        // A bug may show itself by chance: an assertion of C, or a panic.
        let by_chance =
            program.get("expect").is_some() && (status.signal() == Some(libc::SIGABRT) || status.code() == Some(101));
        if status.success() || by_chance {
            Ok(())
        } else {
            Err(format!("{}: {status}", program.name()))
        }
    });
}

/// A program of two files. The first counts with `counter`, the second with `other_counter`.
const HALVES: [(&str, &str); 2] = [
    (
        "main.c",
        r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
int counter;
extern int other_counter;
void other_counts(void);
static void *counts(void *unused) {
    counter++;
    other_counts();
    return unused;
}
int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, 0, counts, 0);
    counts(0);
    pthread_join(thread, 0);
    assert(argc < 2 || counter == 2);
    assert(argc < 3 || other_counter == 2);
    (void)argv;
    return 0;
}
"#,
    ),
    ("other.c", "int other_counter; void other_counts(void) { other_counter++; }\n"),
];

/// A folder in which programs are built by `raddle cc`.
struct Workshop(Folder);

impl Workshop {
    fn new(files: &[(&str, &str)]) -> Workshop {
        let workshop = Workshop(Folder::new());
        for (name, text) in files {
            workshop.0.file(name, text);
        }
        workshop
    }

    /// Runs a line of a shell, in which $RADDLE is raddle; it must work. What it prints.
    fn good(&self, line: &str) -> String {
        let (status, said) = self.shell(line);
        assert_eq!(status, 0, "{line}: {said}");
        said
    }

    fn shell(&self, line: &str) -> (i32, String) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("RADDLE", env!("CARGO_BIN_EXE_raddle")).env("RADDLE_RUNTIME", runtime());
        for variable in ["RADDLE_CC", "RADDLE_CXX", "RADDLE_VISIBLE"] {
            command.env_remove(variable);
        }
        outcome(&mut command)
    }

    /// A campaign that must find something: all that is printed.
    fn found(&self, line: &str) -> String {
        let (status, said) = self.shell(&format!("$RADDLE test --seed 1 {line}"));
        assert_eq!(status, 1, "{line}: {said}");
        said
    }
}

const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

#[test]
fn half_of_a_program_is_instrumented() {
    let workshop = Workshop::new(&HALVES);
    for cc in COMPILERS {
        workshop.good(&format!("$RADDLE cc {cc} -O1 -pthread -c main.c"));
        workshop.good(&format!("$RADDLE cc {cc} -O1 -pthread -fno-sanitize=thread -c other.c"));
        workshop.good(&format!("$RADDLE cc {cc} -pthread main.o other.o -o half"));
        workshop.good("./half");
        // The half that is seen.
        let said = workshop.found("-- ./half seen");
        assert!(said.contains("Assertion `argc < 2 || counter == 2' failed"), "{cc}: {said}");
        let said = workshop.found("--fail-on race -- ./half");
        assert!(said.contains("data race: `counter`"), "{cc}: {said}");
        // Nothing is made up about the other.
        workshop.0.file("counter", "race:^counter$\n");
        workshop.good("$RADDLE test --seed 1 --runs 200 --fail-on race --suppressions counter -- ./half");
        // And with the other half instrumented, it is seen as well.
        workshop.good(&format!("$RADDLE cc {cc} -O1 -pthread main.c other.c -o whole"));
        let said = workshop.found("--runs 200 --fail-on race --suppressions counter -- ./whole");
        assert!(said.contains("data race: `other_counter`"), "{cc}: {said}");
    }
}

const ENDS_WITH_ACCESSES: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <time.h>
static long words[500], first;
static void *adds(void *unused) { words[0]++; return unused; }
static void body(void *unused) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long now = time.tv_sec * 1000000000 + time.tv_nsec;
    if (first == 0) first = now;
    assert(now == first);
    pthread_t thread;
    pthread_create(&thread, 0, adds, unused);
    pthread_join(thread, 0);
    for (int i = 1; i < 500; i++) words[i] = words[i - 1] + i;
}
int main(void) { return raddle_check(body, 0); }
"#;

/// The last accesses of a check's body, which need not be asked for, are not counted in the run after it.
#[test]
fn a_lease_ends_with_its_run() {
    let workshop = Workshop::new(&[("ends.c", ENDS_WITH_ACCESSES)]);
    let include = root().join("include");
    workshop.good(&format!("$RADDLE cc gcc -O1 -pthread -I {} ends.c -o ends", include.display()));
    for level in ["race", "memory"] {
        workshop.good(&format!("$RADDLE test --seed 1 --runs 200 --points {level} -- ./ends"));
    }
}

const LOADS: &str = r#"
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void *(*counts)(void *);
int main(int argc, char **argv) {
    void *library = dlopen("./libcounts.so", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 9;
    }
    counts = (void *(*)(void *))dlsym(library, "counts");
    int *counter = dlsym(library, "counter");
    pthread_t thread;
    pthread_create(&thread, 0, counts, 0);
    counts(0);
    pthread_join(thread, 0);
    assert(*counter == 2);
    (void)argc, (void)argv;
    return 0;
}
"#;

#[test]
fn a_library_that_is_loaded_later() {
    let library = "int counter; void *counts(void *unused) { counter++; return unused; }\n";
    let workshop = Workshop::new(&[("main.c", LOADS), ("counts.c", library)]);
    for cc in COMPILERS {
        workshop.good(&format!("$RADDLE cc {cc} -O1 -fPIC -shared counts.c -o libcounts.so"));
        workshop.good(&format!("$RADDLE cc {cc} -O1 -pthread main.c -o seen -ldl"));
        workshop.good(&format!("{cc} -O1 -g -pthread main.c -o unseen -ldl"));
        for level in ["", "--points memory"] {
            workshop.good("./seen");
            let said = workshop.found(&format!("{level} -- ./seen"));
            assert!(said.contains("Assertion `*counter == 2' failed"), "{cc}, {level}: {said}");
            let said = workshop.found(&format!("{level} --fail-on race -- ./seen"));
            assert!(said.contains("data race: `counter`"), "{cc}, {level}: {said}");
        }
        // The library's hooks are used in a program that has none, too. But nothing of memory can be seen in it
        // before it starts, so the level is asked for.
        for level in ["race", "memory"] {
            workshop.good("./unseen");
            let said = workshop.found(&format!("--points {level} -- ./unseen"));
            assert!(said.contains("Assertion `*counter == 2' failed"), "{cc}, {level}: {said}");
        }
        let (status, said) = workshop.shell("$RADDLE test --points race --fail-on race -- ./unseen");
        assert!(status == 2 && said.contains("build it with raddle cc"), "{cc}: {status} {said}");
    }
}

#[test]
fn without_debug_information() {
    let source = root().join("programs/memory/fail/counter-plain.c");
    let workshop = Workshop::new(&[]);
    for cc in COMPILERS {
        workshop.good(&format!("$RADDLE cc {cc} -O1 -g0 -pthread {} -o named", source.display()));
        workshop.good("strip named -o stripped && ./named && ./stripped");
        // The symbol table has functions and variables, but no lines.
        let said = workshop.found("--fail-on race -- ./named");
        assert!(said.contains("data race: `counter`") && said.contains("in counts (named)"), "{cc}: {said}");
        // Nothing but addresses.
        let said = workshop.found("--fail-on race -- ./stripped");
        assert!(said.contains("data race: memory at 0x") && said.contains("(stripped)"), "{cc}: {said}");
        for program in ["named", "stripped"] {
            let said = workshop.found(&format!("-- ./{program}"));
            assert!(said.contains("assertion failure found"), "{cc}: {said}");
            let said = workshop.shell("$RADDLE replay --runs 20 --quiet .raddle/assert-*.schedule").1;
            assert!(said.contains("20 of 20 runs"), "{cc}, {program}: {said}");
            workshop.good("rm -r .raddle");
        }
    }
}

#[test]
fn with_thread_sanitizers_own_runtime() {
    let source = root().join("programs/memory/pass/counter-mutex.c");
    let workshop = Workshop::new(&[]);
    let reason = "ThreadSanitizer's own runtime";
    // Without symbols, a runtime that gcc links in statically cannot be told from the program. It says itself that it
    // does not start.
    let stripped = "FATAL: ThreadSanitizer";
    let builds =
        [("gcc", reason), ("gcc -static-libtsan", reason), ("gcc -static-libtsan -s", stripped), ("clang-19", reason)];
    for (cc, reason) in builds {
        workshop.good(&format!("{cc} -O1 -g -pthread -fsanitize=thread {} -o program", source.display()));
        for level in ["", "--points sync"] {
            let (status, said) = workshop.shell(&format!("$RADDLE test {level} -- ./program"));
            assert!(status == 2 && said.contains(reason), "{cc}: {status} {said}");
        }
        workshop.good(&format!("$RADDLE cc {cc} -O1 -g -pthread -fsanitize=thread {} -o program", source.display()));
        workshop.good("$RADDLE test --runs 50 --fail-on race -- ./program");
    }
}

/// Two variables that race, at two places each.
const TWO_RACES: &str = "#include <pthread.h>\n\
     static int first, second, third;\n\
     static void adds(void) { first++; }\n\
     static void more(void) { second++; }\n\
     static void *worker(void *unused) { adds(); more(); third++; return unused; }\n\
     int main(void) { pthread_t thread; pthread_create(&thread, 0, worker, 0); adds(); more();\n\
         pthread_join(thread, 0); return third - 1; }\n";

#[test]
fn all_races_of_a_run_are_told() {
    let workshop = Workshop::new(&[("two.c", TWO_RACES), ("benign", "race:adds\n")]);
    for cc in COMPILERS {
        workshop.good(&format!("$RADDLE cc {cc} -O0 -g -pthread two.c -o two"));
        let said = workshop.found("--fail-on race --json report.json -- ./two");
        let report = std::fs::read_to_string(workshop.0.path().join("report.json")).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        assert_eq!((&report["runs"], &report["failing_runs"]), (&1.into(), &1.into()), "{cc}: {said}");
        let failures = report["failures"].as_array().expect("failures");
        assert_eq!(failures.len(), 2, "{cc}: {said}");
        for (failure, name) in failures.iter().zip(["first", "second"]) {
            let message = failure["message"].as_str().unwrap_or_default();
            assert!(message.starts_with(&format!("`{name}`: ")), "{cc}: {message}");
            assert_eq!((&failure["first_run"], &failure["count"]), (&1.into(), &1.into()), "{cc}: {said}");
            let schedule = failure["schedule"].as_str().expect("a schedule");
            let (status, said) = workshop.shell(&format!("$RADDLE replay --runs 5 {schedule}"));
            assert!(status == 1 && said.contains("data race happened in 5 of 5 runs"), "{cc}: {said}");
            assert!(
                said.contains("in addition: data race: `") && !said.contains("a different failure"),
                "{cc}: {said}"
            );
        }
        let said = workshop.found("--fail-on race --suppressions benign -- ./two");
        assert!(said.contains("data race: `second`") && !said.contains("`first`"), "{cc}: {said}");
        workshop.good("rm -r .raddle");
    }
}

#[test]
fn with_address_sanitizer() {
    let source = root().join("programs/fail/address-sanitizer-use-after-free.cc");
    let workshop = Workshop::new(&[]);
    for cxx in ["g++", "clang++-19"] {
        let line =
            format!("$RADDLE c++ {cxx} -std=c++20 -O1 -pthread -fsanitize=address {} -o program", source.display());
        let said = workshop.good(&line);
        assert!(said.contains("warning: -fsanitize=address excludes"), "{said}");
        let said = workshop.found("-- ./program");
        assert!(said.contains("heap-use-after-free"), "{cxx}: {said}");
        let said = workshop.shell("$RADDLE replay --runs 5 --quiet .raddle/*.schedule").1;
        assert!(said.contains("5 of 5 runs"), "{cxx}: {said}");
        workshop.good("rm -r .raddle");
    }
}
