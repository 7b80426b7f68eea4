//! `loom-rate <seconds>`: executions per second of loom.
//!
//! Loom explores exhaustively, so that its test is small: main and 2 workers, each with 2 lock/unlock
//! pairs on one mutex and one addition to one atomic. The exploration is repeated until the time is up.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use loom::model::Builder;
use loom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use loom::sync::{Arc, Mutex};
use loom::thread;
use raddle_peers::Rate;

const WORKERS: u64 = 2;
const PAIRS: u64 = 2;

/// Executions of all explorations; not a loom atomic, which would be a part of the model.
static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);

fn body() {
    EXECUTIONS.fetch_add(1, Relaxed);
    let shared = Arc::new((Mutex::new(0), AtomicU64::new(0)));
    let works = |shared: Arc<(Mutex<u64>, AtomicU64)>| {
        move || {
            for _ in 0..PAIRS {
                *shared.0.lock().unwrap() += 1;
            }
            shared.1.fetch_add(1, SeqCst);
        }
    };
    let workers: Vec<_> = (0..WORKERS).map(|_| thread::spawn(works(shared.clone()))).collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(*shared.0.lock().unwrap(), WORKERS * PAIRS);
    assert_eq!(shared.1.load(SeqCst), WORKERS);
}

/// The defaults, whatever the environment says, are the fastest: no log, no locations, no checkpoints.
fn explore() {
    let mut builder = Builder::new();
    (builder.log, builder.location, builder.checkpoint_file) = (false, false, None);
    (builder.preemption_bound, builder.max_permutations, builder.max_duration) = (None, None, None);
    builder.max_threads = WORKERS as usize + 1;
    builder.check(body);
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(limit) = (arguments.len() == 1).then(|| arguments[0].parse::<f64>().ok()).flatten() else {
        eprintln!("usage: loom-rate <seconds>");
        return ExitCode::from(2);
    };
    let start = Instant::now();
    let seconds = loop {
        explore();
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= limit {
            break seconds;
        }
    };
    let iterations = EXECUTIONS.load(Relaxed);
    Rate { tool: "loom", policy: "exhaustive".into(), iterations, seconds, steps_per_run: None }.print();
    ExitCode::SUCCESS
}
