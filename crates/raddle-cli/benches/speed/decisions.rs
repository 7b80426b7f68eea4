//! What the policies' own code costs.

use std::time::Instant;

use raddle_core::lessons::{path_of_child, Lessons, ThreadLesson, MAIN_PATH};
use raddle_core::policy::{Descriptor, Kind, Profile, Run};
use raddle_core::{policies, EnabledSet, Event, EventKind, Point, ThreadId};

use super::bench::{best, Bench};

/// What the policies' own code costs: one decision, with all threads enabled but the one that has just run, which
/// comes back after the next. For every policy that samples; the bar is for those that it names.
pub fn decisions(bench: &mut Bench) {
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
    let profile = Profile {
        steps: DECISIONS,
        threads: threads as u64,
        points: DECISIONS,
        phase: DECISIONS,
        first: DECISIONS,
        delay_points: 0,
    };
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
