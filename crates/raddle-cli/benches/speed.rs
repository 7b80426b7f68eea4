//! `make bench`: what control costs, as ratios within one run, because machines are shared and noisy.
//!
//! Every figure is the best of several measurements, interleaved with what it is compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use comfy_table::{presets, Table};
use raddle_core::lessons::{path_of_child, Lessons, ThreadLesson, MAIN_PATH};
use raddle_core::policy::{Descriptor, Kind, Profile, Run};
use raddle_core::{policies, EnabledSet, Event, EventKind, Point, ThreadId};
use serde_json::Value;

const REPETITIONS: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

struct Bench {
    folder: tempfile::TempDir,
    table: Table,
}

impl Bench {
    fn program(&self, name: &str) -> PathBuf {
        let binary = self.folder.path().join(name);
        if !binary.exists() {
            let source = root().join("bench").join(format!("{name}.c"));
            let include = root().join("include");
            let mut gcc = Command::new("gcc");
            gcc.args(["-O2", "-pthread", "-I"]).arg(include).arg("-o").args([&binary, &source]);
            let status = gcc.status();
            assert!(status.expect("gcc runs").success(), "{name} does not compile");
        }
        binary
    }

    /// A campaign; its report.
    fn raddle(&self, options: &[&str], name: &str, arguments: &[&str]) -> Value {
        self.campaign(options, &self.program(name), arguments)
    }

    fn campaign(&self, options: &[&str], program: &Path, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["test", "--quiet", "--json", "-", "--max-steps", "50000000", "--run-timeout", "600"])
            .args(if options.contains(&"--seed") { &[][..] } else { &["--seed", "1"] })
            .args(options)
            .arg("--")
            .arg(program)
            .args(arguments)
            .env_remove("RADDLE_RUNTIME")
            .current_dir(self.folder.path())
            .output()
            .expect("raddle runs");
        let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
        json.and_then(Result::ok).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn runs_per_second(&self, options: &[&str], name: &str, argument: &str) -> f64 {
        self.raddle(options, name, &[argument])["runs_per_second"].as_f64().expect("runs_per_second")
    }

    /// Seconds of the one run of a campaign.
    fn seconds(&self, options: &[&str], name: &str, arguments: &[&str]) -> f64 {
        let options: Vec<&str> = ["--runs", "1", "--exec"].iter().chain(options).copied().collect();
        self.raddle(&options, name, arguments)["seconds"].as_f64().expect("seconds")
    }

    /// Plain fork and exec of the bare program, pinned to one core like a campaign.
    fn bare_runs_per_second(&self, name: &str, argument: &str, runs: usize) -> f64 {
        let program = self.program(name);
        let start = Instant::now();
        for _ in 0..runs {
            let status = Command::new(&program).arg(argument).stdout(Stdio::null()).status().expect("the program runs");
            assert!(status.success());
        }
        runs as f64 / start.elapsed().as_secs_f64()
    }

    fn row(&mut self, what: &str, measured: String, against: String, bar: &str) {
        self.table.add_row([what, &measured, &against, bar]);
    }
}

fn best(measure: impl FnMut() -> f64, better: fn(f64, f64) -> f64) -> f64 {
    std::iter::repeat_with(measure).take(REPETITIONS).reduce(better).expect("at least one")
}

fn pin() {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&c| libc::CPU_ISSET(c, &allowed)).unwrap_or(0);
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// Lets this process use all cores that it had at first.
fn unpin() {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (0..libc::CPU_SETSIZE as usize).for_each(|core| libc::CPU_SET(core, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

fn main() {
    pin();
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["what", "measured", "against", "bar"]);
    let mut bench = Bench { folder: tempfile::tempdir().expect("a folder"), table };
    // `cargo bench --bench speed -- in_process cores` measures these only.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    type Section = (&'static str, fn(&mut Bench));
    let sections: [Section; 11] = [
        ("whole_runs", whole_runs),
        ("heap", heap),
        ("in_process", in_process),
        ("cores", cores),
        ("points", points),
        ("switches", switches),
        ("memory", memory),
        ("accesses", accesses),
        ("deque", deque),
        ("decisions", decisions),
        ("parallel", parallel),
    ];
    for (name, measure) in sections {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure(&mut bench);
        }
    }
    println!("{}", bench.table);
    println!("{}", machine());
}

fn whole_runs(bench: &mut Bench) {
    for (workers, bar) in [("2", "4,500/s and 3x"), ("3", "-")] {
        let (mut bare, mut exec) = (0f64, 0f64);
        let mut server = [0f64; 4];
        for _ in 0..REPETITIONS {
            bare = bare.max(bench.bare_runs_per_second("locks", workers, 300));
            exec = exec.max(bench.runs_per_second(&["--runs", "300", "--exec"], "locks", workers));
            for (rate, (policy, switch)) in server.iter_mut().zip(WAYS) {
                let options = ["--runs", "3000", "--policy", policy, "--switch", switch];
                *rate = rate.max(bench.runs_per_second(&options, "locks", workers));
            }
        }
        let against = format!("{bare:.0} runs/s fork+exec of the bare program");
        let what = format!("main and {workers} workers, 20 lock pairs each");
        for (rate, (policy, switch)) in server.into_iter().zip(WAYS) {
            let measured = format!("{rate:.0} runs/s ({:.2}x)", rate / bare);
            let bar = if switch == "fiber" { bar } else { "-" };
            bench.row(&format!("fork server, {what}, {policy}, {switch}"), measured, against.clone(), bar);
        }
        bench.row(
            &format!("one exec per run, {what}"),
            format!("{exec:.0} runs/s ({:.2}x)", exec / bare),
            against,
            "-",
        );
    }
}

/// Whole runs whose freed memory is held back, all of them or half, against runs that leave the heap alone, in processor
/// time. Each way is measured next to what it is compared with, and the median of the ratios counts.
fn heap(bench: &mut Bench) {
    const TIMES: usize = 9;
    for frees in [0, 50, 100, 500, 1000, 5000, 10_000] {
        // About the same time for each.
        let runs = (200_000 / (100 + frees)).max(60).to_string();
        let frees = frees.to_string();
        let time = |how: &str| {
            let start = cpu_time();
            bench.raddle(&["--runs", &runs, "--heap", how], "frees", &[&frees]);
            cpu_time() - start
        };
        let [mixed, hold, reuse] = ["mixed", "hold", "reuse"].map(|how| {
            let mut ratios = [0f64; TIMES].map(|_| time(how) / time("off"));
            ratios.sort_by(f64::total_cmp);
            ratios[TIMES / 2]
        });
        bench.row(
            &format!("a run with {frees} frees, freed memory held back in half of the runs"),
            format!("{mixed:.2}x"),
            format!("the heap left alone; {hold:.2}x held back in all, {reuse:.2}x in none"),
            if frees.len() < 3 || frees == "100" { "1.10x" } else { "-" },
        );
    }
}

/// What the policies' own code costs: one decision, with all threads enabled but the one that has just run, which
/// comes back after the next. For every policy that samples; the bar is for those that it names.
fn decisions(bench: &mut Bench) {
    const SIZES: [usize; 4] = [2, 8, 64, 512];
    for policy in policies::ALL.iter().filter(|policy| policy.kind == Kind::Sampling) {
        let cost = SIZES.map(|threads| best(|| decision(policy, threads), f64::min));
        let barred = ["random", "pct", "stride"].contains(&policy.name);
        bench.row(
            &format!("a decision of {} with 8 threads", policy.name),
            format!("{:.1} ns", cost[1]),
            format!("{:.1} with 2, {:.1} with 64, {:.1} with 512", cost[0], cost[2], cost[3]),
            if barred { "30 ns" } else { "-" },
        );
    }
}

/// Nanoseconds of one decision.
fn decision(descriptor: &Descriptor, threads: usize) -> f64 {
    const DECISIONS: u64 = 200_000;
    // SAFETY: zeroed memory of the policy's layout, which the box gives back with the same layout.
    let mut policy = unsafe { Box::from_raw((descriptor.build)(std::alloc::alloc_zeroed(descriptor.layout))) };
    let parameters: Vec<f64> = descriptor.parameters.iter().map(|parameter| parameter.default).collect();
    let profile =
        Profile { steps: DECISIONS, threads: threads as u64, points: DECISIONS, phase: DECISIONS, first: DECISIONS };
    // SAFETY: valid when zeroed.
    let mut lessons: Box<Lessons> = unsafe { Box::new(std::mem::zeroed()) };
    let thread = |t: u32| {
        let path = if t == 0 { MAIN_PATH } else { path_of_child(MAIN_PATH, t - 1) };
        ThreadLesson { path, parent: 0, steps: (DECISIONS / threads as u64) as u32 }
    };
    lessons.set_threads(&(0..threads as u32).map(thread).collect::<Vec<_>>());
    policy.start(&Run { number: 1, seed: 7, parameters: &parameters, profile, lessons: &lessons });
    let mut enabled = EnabledSet::new();
    for t in (0..threads as u16).map(ThreadId) {
        enabled.set(t, true);
        if t != ThreadId::MAIN {
            policy.created(ThreadId::MAIN, t);
        }
    }
    let pending: Vec<Event> = (1..=threads).map(|object| Event::new(EventKind::Lock, object)).collect();
    let (mut current, mut away) = (ThreadId::MAIN, None);
    let start = Instant::now();
    for step in 0..DECISIONS {
        let points = step + 1;
        let point = Point { current, enabled: &enabled, pending: &pending, spins: 0, step, opened: false, points };
        current = policy.choose(&point);
        enabled.settle();
        if threads > 2 {
            if let Some(back) = away.replace(current) {
                enabled.set(back, true);
            }
            enabled.set(current, false);
        }
    }
    start.elapsed().as_secs_f64() * 1e9 / DECISIONS as f64
}

/// Policies and ways to switch threads.
const WAYS: [(&str, &str); 4] = [("random", "fiber"), ("pct", "fiber"), ("random", "os"), ("pct", "os")];

/// Checks in one process, and the peers on the same test.
fn in_process(bench: &mut Bench) {
    let peers = peers();
    for (pairs, atomics, bar) in [("5", "0", "300,000/s"), ("20", "4", "3x Shuttle")] {
        for policy in ["random", "pct"] {
            let (mut ours, mut os, mut shuttle) = (0f64, 0f64, 0f64);
            for _ in 0..REPETITIONS {
                let options = ["--runs", "300000", "--policy", policy];
                let rate = |report: Value| report["runs_per_second"].as_f64().expect("runs_per_second");
                ours = ours.max(rate(bench.raddle(&options, "check", &[pairs, atomics])));
                let options = ["--runs", "5000", "--policy", policy, "--switch", "os"];
                os = os.max(rate(bench.raddle(&options, "check", &[pairs, atomics])));
                shuttle = shuttle.max(peer(&peers, "shuttle-rate", &[policy, pairs, atomics, "1"]));
            }
            let what = format!("in one process, 3 threads, {pairs} lock pairs, {atomics} atomics each, {policy}");
            let measured = format!("{ours:.0} runs/s ({:.2}x)", ours / shuttle);
            bench.row(&what, measured, format!("{shuttle:.0} runs/s Shuttle 0.9"), bar);
            bench.row(&format!("{what}, os"), format!("{os:.0} runs/s"), "-".into(), "-");
        }
    }
    let loom = best(|| peer(&peers, "loom-rate", &["1"]), f64::max);
    bench.row(
        "for scale: Loom, 2 threads, 2 lock pairs, 1 atomic each",
        format!("{loom:.0} runs/s"),
        "exhaustive".into(),
        "-",
    );
}

/// Builds the peers; where their binaries are.
fn peers() -> PathBuf {
    let target = root().join("target/peers");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(root().join("bench/peers/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        .status();
    assert!(status.expect("cargo runs").success(), "the peers do not build");
    target.join("release")
}

/// The rate that a peer says.
fn peer(folder: &Path, name: &str, arguments: &[&str]) -> f64 {
    let output = Command::new(folder.join(name)).args(arguments).output().expect("the peer runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    report["runs_per_second"].as_f64().expect("runs_per_second")
}

/// Two jobs on two cores against one.
fn cores(bench: &mut Bench) {
    unpin();
    for (what, name, arguments, runs) in
        [("fork server", "locks", &["2"][..], "6000"), ("in one process", "check", &["5", "0"][..], "600000")]
    {
        let (mut one, mut two) = (0f64, 0f64);
        for _ in 0..REPETITIONS {
            for (rate, jobs) in [(&mut one, "1"), (&mut two, "2")] {
                let report = bench.raddle(&["--runs", runs, "--jobs", jobs], name, arguments);
                *rate = rate.max(report["runs_per_second"].as_f64().expect("runs_per_second"));
            }
        }
        let measured = format!("{two:.0} runs/s ({:.2}x)", two / one);
        bench.row(&format!("two cores, {what}"), measured, format!("{one:.0} runs/s on one"), "1.8x");
    }
    pin();
}

/// A kernel of `programs/parallel` with its arguments after the number of workers, and the threads that it has beside
/// the workers.
struct Kernel {
    name: &'static str,
    arguments: &'static [&'static str],
    others: usize,
}

impl Kernel {
    fn program(&self, bench: &Bench) -> PathBuf {
        let binary = bench.folder.path().join(self.name);
        if !binary.exists() {
            let source = root().join("programs/parallel").join(format!("{}.c", self.name));
            let mut gcc = Command::new("gcc");
            gcc.args(["-std=gnu17", "-O2", "-pthread", "-o"]).args([&binary, &source]);
            assert!(gcc.status().expect("gcc runs").success(), "{} does not compile", self.name);
        }
        binary
    }

    fn arguments<'a>(&self, workers: &'a str) -> Vec<&'a str>
    where
        'static: 'a,
    {
        [workers].into_iter().chain(self.arguments.iter().copied()).collect()
    }

    /// How many runs are averaged: enough that each thread is the low one about equally often.
    fn runs(&self, workers: usize) -> usize {
        (2 * (workers + self.others)).max(240 / workers)
    }

    /// Seconds of an average run.
    fn seconds(&self, bench: &Bench, policy: &str, workers: usize) -> f64 {
        let runs = self.runs(workers).to_string();
        let options = ["--policy", policy, "--runs", &runs, "--no-guard"];
        let report = bench.campaign(&options, &self.program(bench), &self.arguments(&workers.to_string()));
        assert_eq!(report["failing_runs"], 0, "{} is correct", self.name);
        report["seconds"].as_f64().expect("seconds") / report["runs"].as_f64().expect("runs")
    }

    /// Seconds of an average run of the bare program.
    fn bare(&self, bench: &Bench, workers: usize) -> f64 {
        let (program, runs) = (self.program(bench), self.runs(workers));
        let start = Instant::now();
        for _ in 0..runs {
            let status = Command::new(&program).args(self.arguments(&workers.to_string())).status();
            assert!(status.expect("the program runs").success());
        }
        start.elapsed().as_secs_f64() / runs as f64
    }
}

/// PPCT against PCT, and both against the bare program. Depths above 1, one core, and a model of more cores are in
/// `raddle-lab needlepoint-8`.
fn parallel(bench: &mut Bench) {
    // Of the last two nobody can expect 2W/(W+1): main, when it is low, creates the workers one by one; stages wait
    // for the low one, each behind the other.
    const KERNELS: [Kernel; 5] = [
        // Long enough that the kernel spreads three threads over two cores.
        Kernel { name: "fork-join", arguments: &["6000000", "2"], others: 1 },
        Kernel { name: "barrier", arguments: &["1000000", "4"], others: 1 },
        Kernel { name: "pipeline", arguments: &["2000000", "8"], others: 2 },
        Kernel { name: "create-join", arguments: &["4000000"], others: 1 },
        Kernel { name: "stages", arguments: &["300000", "12"], others: 2 },
    ];
    unpin();
    for kernel in KERNELS {
        for workers in [2, 4, 8, 16] {
            let ppct = format!("ppct:d=1,n={}", workers + kernel.others);
            let mut best = [f64::MAX; 4];
            for _ in 0..2 {
                let measured = [
                    kernel.seconds(bench, "pct:d=1", workers),
                    kernel.seconds(bench, &ppct, workers),
                    kernel.seconds(bench, "stress", workers),
                    kernel.bare(bench, workers),
                ];
                best.iter_mut().zip(measured).for_each(|(best, now)| *best = best.min(now));
            }
            let [pct, ppct, stress, bare] = best;
            let possible = 2.0 * workers as f64 / (workers as f64 + 1.0);
            let independent = !["create-join", "stages"].contains(&kernel.name);
            let bar = |bar: &'static str| if independent { bar } else { "-" };
            let what = format!("{} of {workers}, depth 1, two cores", kernel.name);
            let share = format!("{:.0}% of {possible:.2}x", 100.0 * pct / ppct / possible);
            let against = format!("{share}; pct {:.1} ms", 1e3 * pct);
            bench.row(&what, format!("{:.2}x of pct's speed", pct / ppct), against, bar("85%"));
            let measured = format!("{:.2}x, stress {:.2}x of the bare time", ppct / bare, stress / bare);
            bench.row("", measured, format!("{:.1} ms bare", 1e3 * bare), bar("1.5x"));
        }
    }
    pin();
}

fn points(bench: &mut Bench) {
    const POINTS: f64 = 2_000_000.0;
    let mut first = 0.0;
    for threads in ["1", "8", "64", "512", "1000"] {
        let options = ["--policy", "pct:d=1,k=1"];
        let run = |points: &str| best(|| bench.seconds(&options, "points", &[points, threads]), f64::min);
        let cost = (run("2000000") - run("0")) / POINTS * 1e9;
        if first == 0.0 {
            first = cost;
        }
        let against = format!("{:.2}x of 2 threads", cost / first);
        bench.row(
            &format!("a point without a switch, {threads} other threads"),
            format!("{cost:.0} ns"),
            against,
            "100 ns; logarithmic",
        );
    }
}

fn switches(bench: &mut Bench) {
    const ROUNDS: f64 = 100_000.0;
    random_switches(bench);
    let options = ["--policy", "pct:d=1,k=1", "--switch", "os"];
    let run = |rounds: &str| best(|| bench.seconds(&options, "switches", &[rounds]), f64::min);
    let cost = (run("100000") - run("0")) / ROUNDS / 2.0 * 1e6;
    let program = bench.program("switches");
    let native = best(
        || {
            let start = Instant::now();
            let status = Command::new(&program).arg("100000").status().expect("the program runs");
            assert!(status.success());
            start.elapsed().as_secs_f64()
        },
        f64::min,
    ) / ROUNDS
        / 2.0
        * 1e6;
    bench.row(
        "a switch of OS threads (with two points)",
        format!("{cost:.2} µs"),
        format!("{native:.2} µs for the bare program's own"),
        "2.5 µs",
    );
}

/// Threads with mutexes of their own, under the random walk: every step is a pick, and three of four are switches.
fn random_switches(bench: &mut Bench) {
    const STEPS: f64 = 4_000_000.0;
    let options = ["--policy", "random", "--no-guard"];
    let run = |pairs: &str| {
        bench.raddle(&["--runs", "1", "--exec"].iter().chain(&options).copied().collect::<Vec<_>>(), "picks", &[pairs])
    };
    let cost = best(
        || {
            let seconds = |pairs: &str| run(pairs)["seconds"].as_f64().expect("seconds");
            (seconds("500000") - seconds("0")) / STEPS * 1e9
        },
        f64::min,
    );
    bench.row("a step of fibers with a random pick, 3 of 4 a switch", format!("{cost:.0} ns"), "-".into(), "70 ns");
}

fn memory(bench: &mut Bench) {
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

/// Runs a line of a shell in the bench's folder, in which $RADDLE is raddle.
fn shell(bench: &Bench, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", line]).env("RADDLE", env!("CARGO_BIN_EXE_raddle")).env("ROOT", root());
    for variable in ["RADDLE_CC", "RADDLE_VISIBLE"] {
        command.env_remove(variable);
    }
    let status = command.current_dir(bench.folder.path()).status().expect("sh runs");
    assert!(status.success(), "{line}");
}

/// Seconds of processor time of all processes that this one has started and that have ended. Unlike the wall clock
/// it does not count the turns of others.
fn cpu_time() -> f64 {
    // SAFETY: a structure on the stack, filled by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// An access to memory, in processor time: bare, with hooks that do nothing, and with hooks that do something.
fn accesses(bench: &mut Bench) {
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
fn deque(bench: &mut Bench) {
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

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    format!("{}, {cores} cores, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}
