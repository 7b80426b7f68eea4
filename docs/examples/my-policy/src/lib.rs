//! A policy of one's own, in a runtime of one's own: the thread that runs goes on with probability
//! `stay`; otherwise any enabled thread does, uniformly.

#![no_std]

use raddle_core::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use raddle_core::{descriptor, Rng, ThreadId};

const DESCRIPTOR: Descriptor = descriptor!(
    Sticky,
    name: "sticky",
    summary: "stays with the thread that runs, or goes to any enabled one",
    source: "an example",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[Parameter::number("stay", 0.9, 0.0, 1.0, "the probability that the thread that runs goes on")]
);

raddle_runtime::register!(DESCRIPTOR);

struct Sticky {
    rng: Rng,
    stay: f64,
}

impl Default for Sticky {
    fn default() -> Self {
        Sticky { rng: Rng::new(0), stay: 0.0 }
    }
}

impl Policy for Sticky {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.stay = run.parameters[0];
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        if point.enabled.contains(point.current) && self.rng.chance(self.stay) {
            return point.current;
        }
        let k = self.rng.below(point.enabled.len() as u64) as usize;
        point.enabled.nth(k).unwrap_or(point.current)
    }
}
