//! The starvation guard.
//!
//! NeedlePoint section 3.1.3: with a small probability per point, uniform and from the seed, the
//! policy's choice is overridden for one step, so that a program that waits busily goes on under
//! any policy. PCT section 4.1: a thread that yields again and again, or spins, is lowered with a
//! small probability. And a thread that goes on and on while others could, whatever it does, is lowered, too: one that
//! takes a lock now and then while it spins does not look as if it spun. All are counted, because PCT's guarantee holds
//! only for runs without them.

use crate::forward_policy;
use crate::policy::{Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// Operations without progress in a row after which a thread counts as spinning.
pub const SPINNING: u32 = 2;

/// The points in a row at which one thread may be chosen while others could run. With the usual probability one of them is
/// overridden ten times meanwhile.
const LONGEST: u64 = 10_000;

/// How often the guard intervenes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Settings {
    /// The probability per point that the choice is overridden for one step.
    pub override_probability: f64,
    /// The probability per point that a spinning thread is lowered.
    pub lower_probability: f64,
}

impl Settings {
    /// What a campaign uses when nothing else is asked for.
    pub const DEFAULT: Settings = Settings { override_probability: 0.001, lower_probability: 0.1 };
    /// The bare policy.
    pub const OFF: Settings = Settings { override_probability: 0.0, lower_probability: 0.0 };
}

/// A policy with the starvation guard around it.
#[derive(Debug)]
pub struct Guard<P> {
    /// The guarded policy.
    pub inner: P,
    settings: Settings,
    rng: Rng,
    /// The override probability in 2^-53, as [`Rng::chance`] compares it.
    override_below: u64,
    /// The thread that the policy chose last, and how often in a row.
    favourite: ThreadId,
    /// See `favourite`.
    stretch: u64,
    /// How often the guard changed something in this run.
    pub fired: u64,
}

impl<P> Guard<P> {
    /// Guards a policy.
    pub fn new(inner: P, settings: Settings) -> Guard<P> {
        let override_below = Rng::threshold(settings.override_probability);
        let favourite = ThreadId::MAIN;
        Guard { inner, settings, rng: Rng::new(0), override_below, favourite, stretch: 0, fired: 0 }
    }

    fn lowers(&self) -> bool {
        self.settings.lower_probability > 0.0
    }
}

impl<P: Policy> Policy for Guard<P> {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::for_purpose(run.seed, 1);
        self.fired = 0;
        self.stretch = 0;
        self.inner.start(run);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let lowers = self.lowers();
        if lowers && point.spins >= SPINNING && self.rng.chance(self.settings.lower_probability) {
            self.fired += 1;
            self.inner.lower(point.current);
        }
        if lowers && self.stretch >= LONGEST {
            self.fired += 1;
            self.stretch = 0;
            self.inner.lower(self.favourite);
        }
        // The inner policy is always asked, so that it sees each point. It does not learn that its choice is not taken
        // at this one.
        let chosen = self.inner.choose(point);
        let same = core::mem::replace(&mut self.favourite, chosen) == chosen;
        self.stretch = if same && point.enabled.len() > 1 { self.stretch + 1 } else { 0 };
        if self.override_below > 0 && self.rng.next_u64() >> 11 < self.override_below {
            self.fired += 1;
            let k = self.rng.below(point.enabled.len() as u64) as usize;
            return point.enabled.nth(k).unwrap_or(chosen);
        }
        chosen
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        let mut most = self.inner.lease(current, steps, most);
        if self.lowers() {
            most = most.min(LONGEST - self.stretch.min(LONGEST));
        }
        if self.override_below == 0 {
            return most;
        }
        // The generator's next numbers can be computed ahead.
        let mut rng = self.rng.clone();
        (0..most).find(|_| rng.next_u64() >> 11 < self.override_below).unwrap_or(most)
    }

    fn pass(&mut self, steps: u64) {
        if self.override_below > 0 {
            (0..steps).for_each(|_| _ = self.rng.next_u64());
        }
        self.stretch += steps;
        self.inner.pass(steps);
    }

    // A parallel run has a guard of its own, at the gate.
    forward_policy!(
        self => self.inner;
        created, lower, end, sees_every_point, no_choice, member, choose_waiter, pass_time, run_discarded, bound, gaps,
        exhausted,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::pct::Pct;
    use crate::toy;

    const PCT: [f64; 10] = [2.0, 27.0, 0.0, 0.0, 0.0, 0.0, 0.95, 0.0, 0.0, 0.0];

    #[test]
    fn off_means_the_bare_policy() {
        let program = toy::Program::straight(&[9, 9, 9]);
        for seed in 0..100 {
            let bare = toy::run(&mut *Pct::boxed(), &program, seed, &PCT);
            let mut guarded = Guard::new(Pct::boxed(), Settings::OFF);
            assert_eq!(toy::run(&mut guarded, &program, seed, &PCT), bare);
            assert_eq!(guarded.fired, 0);
        }
    }

    #[test]
    fn nobody_goes_on_for_ever() {
        let program = toy::Program::straight(&[50_000, 50_000]);
        let mut parameters = PCT;
        (parameters[0], parameters[1]) = (1.0, 100_000.0);
        for (lower_probability, times) in [(0.1, 8..=10), (0.0, 0..=0)] {
            let settings = Settings { override_probability: 0.0, lower_probability };
            let mut guarded = Guard::new(Pct::boxed(), settings);
            toy::run(&mut guarded, &program, 1, &parameters);
            assert!(times.contains(&guarded.fired), "{}", guarded.fired);
        }
    }

    #[test]
    fn overrides_at_the_given_rate() {
        let program = toy::Program::straight(&[500, 500]);
        let settings = Settings { override_probability: 0.01, lower_probability: 0.0 };
        let mut guarded = Guard::new(Pct::boxed(), settings);
        let mut parameters = PCT;
        (parameters[0], parameters[1]) = (1.0, 1000.0);
        let mut fired = 0;
        let mut steps = 0;
        for seed in 0..200 {
            steps += toy::run(&mut guarded, &program, seed, &parameters).steps;
            fired += guarded.fired;
        }
        let expected = steps as f64 * 0.01;
        assert!((fired as f64 - expected).abs() < 3.3 * expected.sqrt(), "{fired} of {expected}");
    }
}
