//! Preemption always (NeedlePoint section 3.2): at every schedule point another enabled thread, uniformly.
//!
//! One thread runs at a time. The same thread goes on only when no other is enabled.

use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    PreemptAlways,
    name: "preempt-always",
    summary: "at every point another enabled thread, uniformly",
    source: "Nagarakatte et al., PLDI'12, as PA",
    kind: Kind::Sampling,
    learns: Learns::Nothing,
    parameters: &[]
);

/// The policy's state.
pub struct PreemptAlways {
    rng: Rng,
}

impl Default for PreemptAlways {
    fn default() -> Self {
        PreemptAlways { rng: Rng::new(0) }
    }
}

/// An enabled thread other than this one, uniformly; there is one.
pub fn another(point: &Point<'_>, rng: &mut Rng) -> ThreadId {
    let others = point.enabled.len() - usize::from(point.enabled.contains(point.current));
    let k = rng.below(others.max(1) as u64) as usize;
    match point.enabled.nth(k) {
        // The current thread and those after it move up by one.
        Some(t) if point.enabled.contains(point.current) && t >= point.current => point.enabled.nth(k + 1),
        t => t,
    }
    .unwrap_or(point.current)
}

impl Policy for PreemptAlways {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        another(point, &mut self.rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy;

    #[test]
    fn never_the_same_thread_twice_while_there_is_another() {
        let program = toy::Program::straight(&[5, 5, 5]);
        let mut seen = [0; 3];
        for seed in 0..3_000 {
            let s = toy::run(&mut PreemptAlways::default(), &program, seed, &[]).schedule;
            let alone = |i: usize| s[i..].iter().all(|t| *t == s[i]);
            assert!((1..s.len()).all(|i| s[i] != s[i - 1] || alone(i - 1)), "{s:?}");
            seen[s[1]] += 1;
        }
        // The first point counts as main's: threads 1 and 2 are next, each with probability 1/2. The point after it
        // has main again. Three standard deviations of 3,000 draws of 1/4 are 71.
        assert!((1..3).all(|t| i32::abs(seen[t] - 750) < 80), "{seen:?}");
    }
}
