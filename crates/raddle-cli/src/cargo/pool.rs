//! Several tests at once, each explored by a thread of its own, with results in the order of the tests.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use raddle_engine::os::sys;

use super::outcome::Outcome;
use crate::display::interrupt;

/// Explores tests `0..count`, a number of them at once, and hands over their results in order. `explore` is told which
/// core to use, unless a test may use the cores as it likes. After Ctrl-C no further test is begun; those that were not
/// are handed over as `None`.
pub fn explore(
    count: usize,
    at_once: usize,
    explore: impl Fn(usize, Option<usize>) -> Outcome + Sync,
    mut done: impl FnMut(usize, Option<Outcome>),
) {
    interrupt::listen();
    let cores = sys::cores_from_here();
    let at_once = at_once.min(count);
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<Outcome>> = (0..count).map(|_| None).collect();
    let mut handed = 0;
    thread::scope(|scope| {
        let (send, ended) = mpsc::channel();
        for slot in 0..at_once {
            // One test alone may use the cores as it likes.
            let core = cores.get(slot % cores.len().max(1)).copied().filter(|_| at_once > 1);
            let (send, next, explore) = (send.clone(), &next, &explore);
            scope.spawn(move || {
                while !interrupt::requested() {
                    let test = next.fetch_add(1, Ordering::Relaxed);
                    if test >= count {
                        break;
                    }
                    // A fault of ours must not take the results of other tests with it.
                    let outcome = panic::catch_unwind(AssertUnwindSafe(|| explore(test, core)));
                    // The receiver lives as long as the scope.
                    let _ = send.send((test, outcome.unwrap_or_else(|_| Outcome::lost("broke down"))));
                }
            });
        }
        drop(send);
        for (test, outcome) in ended {
            results[test] = Some(outcome);
            while handed < count && results[handed].is_some() {
                done(handed, results[handed].take());
                handed += 1;
            }
        }
    });
    for (test, result) in results.iter_mut().enumerate().skip(handed) {
        done(test, result.take());
    }
}
