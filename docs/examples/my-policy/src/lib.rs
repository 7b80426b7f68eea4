//! A policy of one's own, in a runtime of one's own: the thread that runs goes on with probability
//! 0.9; otherwise any enabled thread does, uniformly.

#![no_std]

use raddle_core::policy::{Descriptor, Point, Policy, Run};
use raddle_core::{descriptor, Rng, ThreadId};

/// The probability that the thread that runs goes on.
const STAY: f64 = 0.9;

const STICKY: Descriptor = descriptor!(
    Sticky,
    // The command line offers the policies that come with raddle; a registered one of the same name
    // is found first.
    name: "random",
    summary: "stays with the thread that runs with probability 0.9, else any enabled thread",
    source: "an example",
    learns: false,
    parameters: &[]
);

raddle_runtime::register!(STICKY);

struct Sticky {
    rng: Rng,
}

impl Default for Sticky {
    fn default() -> Self {
        Sticky { rng: Rng::new(0) }
    }
}

impl Policy for Sticky {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        if point.enabled.contains(point.current) && self.rng.chance(STAY) {
            return point.current;
        }
        let k = self.rng.below(point.enabled.len() as u64) as usize;
        point.enabled.nth(k).unwrap_or(point.current)
    }
}
