//! Random walk: at each schedule point any enabled thread, uniformly.
//!
//! The naive randomisation of PCT section 2.4 and the random walk of the stride paper. Good at
//! short local bugs, hopeless when one thread must run far ahead.

use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    Random,
    name: "random",
    summary: "random walk: at each point any enabled thread, uniformly",
    source: "Abdelrasoul, ASE'17, as random walk",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[]
);

/// The random walk.
#[derive(Debug)]
pub struct Random {
    rng: Rng,
}

impl Default for Random {
    fn default() -> Self {
        Random { rng: Rng::new(0) }
    }
}

impl Policy for Random {
    #[link_section = "raddle_run"]
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
    }

    #[link_section = "raddle_run"]
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        any(point, &mut self.rng)
    }
}

/// Any enabled thread, uniformly.
#[inline(always)]
pub fn any(point: &Point<'_>, rng: &mut Rng) -> ThreadId {
    let k = rng.below(point.enabled.len() as u64) as usize;
    point.enabled.nth(k).unwrap_or(point.current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn every_interleaving_of_two_steps_is_equally_likely() {
        // Two threads of one step each: each order in half of the runs.
        let program = toy::Program::straight(&[1, 1]);
        let mut policy = Random::default();
        let first = (0..10_000).filter(|&seed| toy::run(&mut policy, &program, seed, &[]).schedule[0] == 0).count();
        // Binomial, 99.9%: 3.3 standard deviations of 50.
        assert!((4835..=5165).contains(&first), "{first}");
    }
}
