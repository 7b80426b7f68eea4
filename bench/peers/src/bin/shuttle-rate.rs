//! `shuttle-rate <random|pct> <pairs> <atomics> <seconds>`: runs per second of shuttle.
//!
//! A run is main and 3 workers, each with so many lock/unlock pairs on one mutex and so many additions
//! to one atomic.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;

use raddle_peers::Rate;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicU64, Ordering::SeqCst};
use shuttle::sync::Mutex;
use shuttle::{current, thread, Config, FailurePersistence, MaxSteps, Runner};

const WORKERS: u64 = 3;
const SEED: u64 = 1;
const PCT_DEPTH: usize = 3;
const CALIBRATION: usize = 1000;

/// Scheduling decisions of all runs; not a shuttle atomic, which would be a scheduling point.
static STEPS: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
struct Shared {
    counter: Mutex<u64>,
    sum: AtomicU64,
}

fn body(pairs: u64, atomics: u64) {
    let mut shared = Arc::new(Shared::default());
    let works = |shared: Arc<Shared>| {
        move || {
            for _ in 0..pairs {
                *shared.counter.lock().unwrap() += 1;
            }
            for _ in 0..atomics {
                shared.sum.fetch_add(1, SeqCst);
            }
        }
    };
    let workers: Vec<_> = (0..WORKERS).map(|_| thread::spawn(works(shared.clone()))).collect();
    for worker in workers {
        worker.join().unwrap();
    }
    // By `get_mut`, because the check shall cost no scheduling points.
    let shared = Arc::get_mut(&mut shared).expect("main is alone");
    assert_eq!(*shared.counter.get_mut().unwrap(), WORKERS * pairs);
    assert_eq!(*shared.sum.get_mut(), WORKERS * atomics);
    STEPS.fetch_add(current::context_switches(), Relaxed);
}

/// The fastest that shuttle has: no bound on steps to check, and nothing to print or to persist (the
/// default would do so only for a failure). The stack size is the default, and stacks are reused. Its
/// vector clocks are off, being an optional feature, and so is its tracing (see Cargo.toml).
fn config() -> Config {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config
}

/// So many runs; the seconds they took.
fn run(policy: &str, pairs: u64, atomics: u64, iterations: usize) -> f64 {
    let body = move || body(pairs, atomics);
    let start = Instant::now();
    let done = if policy == "pct" {
        Runner::new(PctScheduler::new_from_seed(SEED, PCT_DEPTH, iterations), config()).run(body)
    } else {
        Runner::new(RandomScheduler::new_from_seed(SEED, iterations), config()).run(body)
    };
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(done, iterations);
    seconds
}

fn measure(arguments: &[String]) -> Option<Rate> {
    let [policy, pairs, atomics, seconds] = arguments else { return None };
    if !["random", "pct"].contains(&policy.as_str()) {
        return None;
    }
    let (pairs, atomics) = (pairs.parse().ok()?, atomics.parse().ok()?);
    let seconds: f64 = seconds.parse().ok()?;
    // A fixed count, because a time limit would cost a look at the clock per run.
    let calibration = run(policy, pairs, atomics, CALIBRATION);
    let iterations = (seconds / calibration * CALIBRATION as f64).ceil().max(1.0) as usize;
    STEPS.store(0, Relaxed);
    let seconds = run(policy, pairs, atomics, iterations);
    let steps_per_run = Some(STEPS.load(Relaxed) as f64 / iterations as f64);
    Some(Rate { tool: "shuttle", policy: policy.clone(), iterations, seconds, steps_per_run })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(rate) = measure(&arguments) else {
        eprintln!("usage: shuttle-rate <random|pct> <pairs> <atomics> <seconds>");
        return ExitCode::from(2);
    };
    rate.print();
    ExitCode::SUCCESS
}
