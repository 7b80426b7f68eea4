//! Memory: how much of it a process takes, and what an access costs.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::bench::{cpu_time, shell, Bench, REPETITIONS};

pub fn memory(bench: &mut Bench) {
    for threads in ["64", "1000"] {
        let program = bench.program("memory");
        let native = Command::new(&program).arg(threads).output().expect("the program runs");
        let native: f64 = String::from_utf8_lossy(&native.stdout).trim().parse().expect("a number");
        // The check command sees what the run printed.
        let out = bench.folder.path().join("resident");
        let check = format!("cp \"$RADDLE_STDOUT\" {}", out.display());
        bench.raddle(&["--runs", "1", "--check", &check], "memory", &[threads]);
        let controlled: f64 = fs::read_to_string(&out).expect("the output").trim().parse().expect("a number");
        let measured = format!("{:.1} MiB", (controlled - native) / 1024.0);
        bench.row(
            &format!("memory of the runtime, {threads} threads"),
            measured,
            format!("{:.1} MiB bare", native / 1024.0),
            "8 MiB for 64 threads",
        );
    }
}

/// An access to memory, in processor time: bare, with hooks that do nothing, and with hooks that do something.
pub fn accesses(bench: &mut Bench) {
    // Vectors would make one access of two, with and without hooks.
    shell(
        bench,
        "FLAGS='-O2 -fno-tree-vectorize -pthread'; SOURCE=$ROOT/bench/accesses.c
        gcc $FLAGS $SOURCE -o bare
        gcc $FLAGS -fsanitize=thread $SOURCE -o tsan
        $RADDLE cc gcc $FLAGS $SOURCE -o hooks
        $RADDLE cc gcc $FLAGS -DLOOP -fPIC -shared $SOURCE -o libloop.so
        $RADDLE cc gcc $FLAGS -DMAIN $SOURCE -L. -lloop -Wl,-rpath,$PWD -o library",
    );
    let path = |name: &str| bench.folder.path().join(name);
    let native = |name: &str, thousands: u32| {
        let time = |thousands: u32| {
            let start = cpu_time();
            let status = Command::new(path(name)).arg(thousands.to_string()).status().expect("the program runs");
            assert!(status.success());
            cpu_time() - start
        };
        (time(thousands) - time(0)) / f64::from(thousands) * 1e6
    };
    // Without change points it depends on the seed whether PCT prefers the thread that works to the one that could.
    let run = |name: &str, level: &str, thousands: u32, threads: &str, seed: u32| {
        let seed = seed.to_string();
        let options =
            ["--runs", "1", "--exec", "--policy", "pct:d=1,k=1", "--no-guard", "--points", level, "--seed", &seed];
        bench.campaign(&options, &path(name), &[&thousands.to_string(), threads])
    };
    let steps = |report: &Value| report["steps_max"].as_u64().expect("steps");
    let seeds = ["1", "2"].map(|threads| {
        let counted = |seed: &u32| steps(&run("hooks", "memory", 1, threads, *seed)) > 1000;
        (1..100).find(|seed| counted(seed) == (threads == "2")).expect("one of a hundred seeds does it")
    });
    let controlled = |name: &str, level: &str, thousands: u32, threads: usize| {
        let time = |thousands: u32| {
            let start = cpu_time();
            let report = run(name, level, thousands, &threads.to_string(), seeds[threads - 1]);
            let spent = cpu_time() - start;
            // What only one thread can do is no step.
            let all = threads == 2 && level == "memory" && thousands > 0;
            assert_eq!(steps(&report) > 1000, all, "{level}, {threads} threads");
            spent
        };
        (time(thousands) - time(0)) / f64::from(thousands) * 1e6
    };
    type Measure<'a> = (&'static str, &'static str, Box<dyn Fn() -> f64 + 'a>);
    let measures: [Measure; 10] = [
        ("bare", "-", Box::new(|| native("bare", 100_000))),
        ("hooks, without raddle", "-", Box::new(|| native("hooks", 50_000))),
        ("hooks in a library, without raddle", "-", Box::new(|| native("library", 50_000))),
        ("level memory, nobody else can run", "3 ns over bare", Box::new(|| controlled("hooks", "memory", 40_000, 1))),
        ("level memory, another could run", "-", Box::new(|| controlled("hooks", "memory", 10_000, 2))),
        ("level memory, in a library", "3 ns over bare", Box::new(|| controlled("library", "memory", 40_000, 1))),
        ("level race, nobody else can run", "10x hooks", Box::new(|| controlled("hooks", "race", 10_000, 1))),
        ("level race, another could run", "10x hooks", Box::new(|| controlled("hooks", "race", 10_000, 2))),
        ("level race, in a library", "10x hooks", Box::new(|| controlled("library", "race", 10_000, 1))),
        ("for scale: ThreadSanitizer", "-", Box::new(|| native("tsan", 10_000))),
    ];
    let mut costs = [f64::INFINITY; 10];
    for _ in 0..REPETITIONS {
        for (cost, (.., measure)) in costs.iter_mut().zip(&measures) {
            *cost = cost.min(measure());
        }
    }
    let (bare, hooks) = (costs[0], costs[1]);
    let rows: Vec<(&'static str, &'static str)> = measures.iter().map(|(what, bar, _)| (*what, *bar)).collect();
    drop(measures);
    for ((what, bar), cost) in rows.into_iter().zip(costs) {
        let measured = format!("{cost:.2} ns ({:.1}x)", cost / bare);
        let against = format!("{:+.2} ns over bare, {:.1}x hooks", cost - bare, cost / hooks);
        bench.row(&format!("an access, {what}"), measured, against, bar);
    }
}

/// Points at racing places against points everywhere, on a deque with a bug.
pub fn deque(bench: &mut Bench) {
    let source = "$ROOT/programs/memory/fail/work-stealing-deque-with-work.c";
    shell(bench, &format!("$RADDLE cc gcc -O2 -pthread {source} -o deque"));
    const MOST: u64 = 1000;
    let [race, memory] = ["race", "memory"].map(|level| {
        let reports: Vec<Value> = (1..=15)
            .map(|seed| {
                let (runs, seed) = (MOST.to_string(), seed.to_string());
                let options = ["--points", level, "--runs", &runs, "--seed", &seed];
                bench.campaign(&options, &bench.folder.path().join("deque"), &[])
            })
            .collect();
        let sum = |field: &str| reports.iter().filter_map(|report| report[field].as_f64()).sum::<f64>();
        let mut first: Vec<u64> =
            reports.iter().map(|report| report["first_failing_run"].as_u64().unwrap_or(MOST + 1)).collect();
        first.sort_unstable();
        (sum("steps_mean") / 15.0, first[7], sum("seconds"))
    });
    let median = |first: u64| if first > MOST { format!("more than {MOST}") } else { first.to_string() };
    bench.row(
        "a deque with a bug, steps of a run at level race",
        format!("{:.0} steps ({:.2}x)", race.0, race.0 / memory.0),
        format!("{:.0} at level memory", memory.0),
        "0.1x",
    );
    bench.row(
        "a deque with a bug, runs to the first failure, median of 15",
        format!("{} runs", median(race.1)),
        format!("{} at level memory", median(memory.1)),
        "fewer",
    );
    bench.row(
        "a deque with a bug, seconds of all 15 campaigns",
        format!("{:.1} s", race.2),
        format!("{:.1} s at level memory", memory.2),
        "-",
    );
}
