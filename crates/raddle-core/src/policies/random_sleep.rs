//! Random sleep: threads run freely on all cores, and before a step each sleeps for a moment with a small
//! probability.
//!
//! NeedlePoint section 3.2 (RS, probability 1/30) and PCT section 5.1.2 (1/50). Neither says how long the sleep
//! is: a millisecond is long enough for other threads to pass many points.

use super::stress::any;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    RandomSleep,
    name: "random-sleep",
    summary: "threads run in parallel, and each sleeps before a step with probability p",
    source: "Nagarakatte et al., PLDI'12, as RS",
    kind: Kind::Parallel,
    learns: Learns::Nothing,
    parameters: &[
        Parameter::number("p", 1.0 / 30.0, 0.0, 1.0, "the probability of a sleep before a step; PCT's paper has 1/50"),
        Parameter::number("us", 1000.0, 0.0, 1e6, "how long a sleep is, in microseconds of real time"),
    ]
);

#[derive(Debug)]
pub struct RandomSleep {
    rng: Rng,
    probability: f64,
    nanoseconds: u64,
}

impl Default for RandomSleep {
    fn default() -> Self {
        RandomSleep { rng: Rng::new(0), probability: 0.0, nanoseconds: 0 }
    }
}

impl Policy for RandomSleep {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.probability = run.parameters[0];
        self.nanoseconds = (run.parameters[1] * 1000.0) as u64;
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        any(&mut self.rng, point)
    }

    fn sleep_nanoseconds(&mut self) -> u64 {
        if self.rng.chance(self.probability) {
            self.nanoseconds
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::Lessons;
    use crate::policy::Profile;

    #[test]
    fn sleeps_as_often_and_as_long_as_it_is_told() {
        let mut policy = RandomSleep::default();
        let (profile, lessons) = (Profile::default(), Lessons::none());
        policy.start(&Run { number: 1, seed: 4, parameters: &[1.0 / 30.0, 250.0], profile, lessons });
        let pauses: Vec<u64> = (0..30_000).map(|_| policy.sleep_nanoseconds()).filter(|&pause| pause > 0).collect();
        assert!(pauses.iter().all(|&pause| pause == 250_000));
        // Binomial with mean 1000, 99.9%: 3.3 standard deviations of 31.
        assert!((898..=1102).contains(&pauses.len()), "{}", pauses.len());
    }
}
