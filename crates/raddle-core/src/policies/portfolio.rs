//! A portfolio of complementary policies: each run is given to one of them.
//!
//! No policy dominates. A random walk is good at short local bugs and hopeless when one thread must run far ahead;
//! PCT is the opposite; URW wins with many threads, POS on long runs with few conflicts. Which of them suits a program
//! is not known before, so all have a share of the budget. (SURW is not among them: no identities are made ready for
//! policies that know objects from run to run, see [`Learns::Objects`], which would slow down all the others.) A bug
//! that a policy finds in its second run must have come to light after a few runs here, whoever finds it: so the first
//! runs are shared in another way than the next ones, and those in another way than all others. Who makes the first
//! ones, and the shares, were computed from the rates of all policies on our corpus of bugs, with the aim that no program
//! needs more than three times the runs of the policy that suits it best (see the docs). After each later block of runs the
//! command line shifts the budget to those that keep finding schedules that no run had before; none falls below a
//! quarter of its share.
//!
//! Members take turns by the number of the run, as evenly as their shares allow, so that luck decides less. The same
//! seed gives the same campaign: shares come from complete blocks only, and count schedules, never time.

use core::mem::MaybeUninit;

use super::{atomfuzzer, delay_bound, pct, pos, preempt_always, preempt_bound, random, rpro, stride, urw};
use crate::lessons::SHARES;
use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run, MAX_PARAMETERS};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Portfolio,
    name: "portfolio",
    summary: "shares the runs among complementary policies, and shifts them to those that keep finding new schedules",
    source: "raddle",
    kind: Kind::Sampling,
    learns: Learns::Lengths,
    parameters: &[]
);

/// A policy of the portfolio.
pub struct Member {
    /// The policy.
    pub policy: &'static Descriptor,
    /// Parameters that differ from the defaults: where they stand, and their values.
    pub parameters: &'static [(usize, f64)],
    /// Its share of the runs up to [`EARLY`].
    pub early: u32,
    /// Its share of the later ones at first.
    pub share: u32,
}

impl Member {
    /// All parameters, as the policy wants them.
    pub fn values(&self) -> [f64; MAX_PARAMETERS] {
        let mut values = [0.0; MAX_PARAMETERS];
        for (value, parameter) in values.iter_mut().zip(self.policy.parameters) {
            *value = parameter.default;
        }
        for &(at, value) in self.parameters {
            values[at] = value;
        }
        values
    }
}

/// The policies, and their shares at first.
pub static MEMBERS: [Member; 13] = [
    // Most bugs have depth 2, and so has what a campaign is worth.
    Member { policy: &pct::DESCRIPTOR, parameters: &[(0, 2.0)], early: 25, share: 54 },
    Member { policy: &pct::DESCRIPTOR, parameters: &[], early: 0, share: 3 },
    // The ratio for one least likely order: bugs that need two of them are those that `urw` finds.
    Member { policy: &stride::DESCRIPTOR, parameters: &[(0, 6.6)], early: 1, share: 30 },
    Member { policy: &urw::DESCRIPTOR, parameters: &[], early: 68, share: 4 },
    Member { policy: &delay_bound::DESCRIPTOR, parameters: &[], early: 0, share: 1 },
    // Near the end of the run.
    Member { policy: &delay_bound::DESCRIPTOR, parameters: &[(2, 2.0)], early: 2, share: 2 },
    // Those find a bug soon, or hardly ever: they make the first runs, and few of the others.
    Member { policy: &pos::DESCRIPTOR, parameters: &[], early: 2, share: 2 },
    Member { policy: &rpro::DESCRIPTOR, parameters: &[], early: 0, share: 1 },
    Member { policy: &random::DESCRIPTOR, parameters: &[], early: 2, share: 1 },
    Member { policy: &preempt_always::DESCRIPTOR, parameters: &[], early: 0, share: 1 },
    Member { policy: &preempt_bound::DESCRIPTOR, parameters: &[(0, 3.0)], early: 0, share: 1 },
    Member { policy: &atomfuzzer::DESCRIPTOR, parameters: &[], early: 0, share: 1 },
    // Nothing but an order of the threads.
    Member { policy: &pct::DESCRIPTOR, parameters: &[(0, 1.0)], early: 0, share: 0 },
];

/// Those who make the first runs.
const PCT: usize = 1;
const STRIDE: usize = 2;
const URW: usize = 3;
const POS: usize = 6;
const RANDOM: usize = 8;
const ALWAYS: usize = 9;
const BOUND: usize = 10;
const ATOMFUZZER: usize = 11;
const ORDER: usize = 12;

/// Who makes the first runs, in the first ten of which nothing has been learned yet: members and their shares of all
/// campaigns. In each campaign the run's seed draws one of them.
const FIRST: [&[(usize, u32)]; 16] = [
    &[(POS, 19), (ATOMFUZZER, 1)],
    &[(ALWAYS, 4), (POS, 1)],
    &[(ORDER, 19), (ATOMFUZZER, 1)],
    &[(POS, 13), (ALWAYS, 7)],
    &[(ALWAYS, 1)],
    &[(POS, 1)],
    &[(BOUND, 1)],
    &[(BOUND, 9), (ALWAYS, 1)],
    &[(BOUND, 1)],
    &[(RANDOM, 11), (BOUND, 9)],
    &[(RANDOM, 1)],
    &[(URW, 3), (STRIDE, 2)],
    &[(RANDOM, 2), (PCT, 1)],
    &[(RANDOM, 1)],
    &[(RANDOM, 1)],
    &[(PCT, 1)],
];

/// The last run that goes by the early shares: the end of the first block whose runs have something to learn from.
const EARLY: u64 = 74;

const _: () = assert!(MEMBERS.len() <= SHARES, "there is room for the shares");

/// The purpose of the numbers that draw a member: its own must not depend on them.
const PURPOSE: u64 = 4;

/// The fraction of the golden ratio, in 2^-64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes of all members' states.
const MEMORY: usize = {
    let (mut total, mut i) = (0, 0);
    while i < MEMBERS.len() {
        total = place(total);
        total += MEMBERS[i].policy.layout.size();
        i += 1;
    }
    total
};

/// States start where no two share a line of the cache, whatever they hold.
const fn place(after: usize) -> usize {
    after.next_multiple_of(64)
}

/// The portfolio. Valid when zeroed.
#[repr(C, align(64))]
pub struct Portfolio {
    memory: [u8; MEMORY],
    /// The members that have been built, and where.
    built: [bool; MEMBERS.len()],
    policies: [MaybeUninit<*mut dyn Policy>; MEMBERS.len()],
    member: usize,
}

impl Portfolio {
    /// The policy of this run.
    fn get(&mut self) -> &mut dyn Policy {
        if !self.built[self.member] {
            self.build(self.member);
        }
        // SAFETY: built, in memory of this structure, which does not move: the runtime and the tests make it where
        // it stays.
        unsafe { &mut *self.policies[self.member].assume_init() }
    }

    fn build(&mut self, member: usize) {
        let mut at = 0;
        for earlier in &MEMBERS[..member] {
            at = place(at) + earlier.policy.layout.size();
        }
        // SAFETY: zeroed memory of the policy's layout at its own place, which `MEMORY` counts; the whole is aligned
        // to a line, which is enough for every policy.
        let policy = unsafe { (MEMBERS[member].policy.build)((&raw mut self.memory).cast::<u8>().add(place(at))) };
        self.policies[member].write(policy);
        self.built[member] = true;
    }
}

/// The member that a number below the sum of all shares belongs to.
fn belongs(mut number: u64, shares: impl Iterator<Item = (usize, u32)>) -> usize {
    for (member, share) in shares {
        match number.checked_sub(share.into()) {
            Some(rest) => number = rest,
            None => return member,
        }
    }
    0
}

/// Who makes this run, if it is one of the first.
fn first(run: &Run<'_>) -> Option<usize> {
    let members = FIRST.get((run.number as usize).wrapping_sub(1))?;
    let total = members.iter().map(|(_, share)| u64::from(*share)).sum();
    Some(belongs(Rng::for_purpose(run.seed, PURPOSE).below(total), members.iter().copied()))
}

impl Policy for Portfolio {
    fn start(&mut self, run: &Run<'_>) {
        let mut shares = MEMBERS.each_ref().map(|member| member.share);
        if run.number <= EARLY {
            shares = MEMBERS.each_ref().map(|member| member.early);
        } else if run.lessons.shares.iter().any(|&share| share > 0) {
            shares.copy_from_slice(&run.lessons.shares[..MEMBERS.len()]);
        }
        self.member = match first(run) {
            Some(member) => member,
            // Multiples of the golden ratio fall evenly between 0 and 1, whatever part of them is looked at.
            None => {
                let total = shares.iter().map(|&share| u64::from(share)).sum::<u64>();
                let part = u128::from(run.number.wrapping_mul(GOLDEN)) * u128::from(total);
                belongs((part >> 64) as u64, shares.into_iter().enumerate())
            }
        };
        let parameters = MEMBERS[self.member].values();
        self.get().start(&Run { parameters: &parameters, ..*run });
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        self.get().choose(point)
    }

    fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.get().created(parent, child);
    }

    fn lower(&mut self, thread: ThreadId) {
        self.get().lower(thread);
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        if !self.built[self.member] {
            return 0;
        }
        // SAFETY: as for `get`.
        unsafe { &*self.policies[self.member].assume_init() }.lease(current, steps, most)
    }

    fn pass(&mut self, steps: u64) {
        self.get().pass(steps);
    }

    fn member(&self) -> u32 {
        self.member as u32
    }

    fn end(&mut self) {
        self.get().end();
    }
}

/// The shares after a block: `runs` and `new` are how many runs each member had so far and how many of their
/// schedules were new, the later blocks weighing more.
pub fn shift(runs: &[f64], new: &[f64]) -> [u32; MEMBERS.len()] {
    core::array::from_fn(|i| {
        // One success more than was seen: who has had no run yet is thought to find something new.
        let novelty = (new[i] + 1.0) / (runs[i] + 1.0);
        // In hundredths of the first share, so that rounding does not matter.
        (f64::from(MEMBERS[i].share) * 100.0 * (0.25 + 0.75 * novelty)) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::Lessons;
    use crate::toy;

    #[test]
    fn members_have_their_shares() {
        let program = toy::Program::straight(&[4, 4]);
        let mut policy = toy::built(&DESCRIPTOR);
        let count = |policy: &mut Box<dyn Policy>, known| {
            let mut seen = [0u32; MEMBERS.len()];
            for seed in 0..10_000 {
                toy::run_with(policy, &program, seed, &[], known, |_, _| {});
                seen[policy.member() as usize] += 1;
            }
            seen
        };
        let near = |seen: [u32; MEMBERS.len()], shares: [u32; MEMBERS.len()]| {
            let total: u32 = shares.iter().sum();
            // But for the early ones and a few for rounding, each has its share exactly.
            seen.iter()
                .zip(shares)
                .all(|(&seen, share)| (f64::from(seen) - 1e4 * f64::from(share) / f64::from(total)).abs() < 60.0)
        };
        let first = MEMBERS.each_ref().map(|member| member.share);
        assert!(near(count(&mut policy, toy::UNKNOWN), first));
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        let mut other = [0; MEMBERS.len()];
        (other[0], other[2], other[5]) = (7, 1, 2);
        lessons.shares[..MEMBERS.len()].copy_from_slice(&other);
        assert!(near(count(&mut policy, toy::Known { profile: Default::default(), lessons: Some(&lessons) }), other));
    }

    #[test]
    fn the_first_runs_are_drawn_by_their_shares() {
        const SEEDS: u64 = 20_000;
        let lessons = Lessons::none();
        for (i, members) in FIRST.iter().enumerate() {
            let mut seen = [0u32; MEMBERS.len()];
            for seed in 0..SEEDS {
                let number = i as u64 + 1;
                let run = Run { number, seed, parameters: &[], profile: Default::default(), lessons };
                seen[first(&run).expect("one of the first")] += 1;
            }
            let total: u32 = members.iter().map(|(_, share)| share).sum();
            for &(member, share) in *members {
                let p = f64::from(share) / f64::from(total);
                let (expected, deviation) = (SEEDS as f64 * p, (SEEDS as f64 * p * (1.0 - p)).sqrt());
                // Five standard deviations: by chance once in a million times.
                assert!((f64::from(seen[member]) - expected).abs() <= 5.0 * deviation, "run {}: {seen:?}", i + 1);
            }
            assert_eq!(members.iter().map(|&(member, _)| u64::from(seen[member])).sum::<u64>(), SEEDS);
        }
        let number = FIRST.len() as u64 + 1;
        assert_eq!(first(&Run { number, seed: 0, parameters: &[], profile: Default::default(), lessons }), None);
    }

    #[test]
    fn a_run_is_that_of_its_member() {
        let program = toy::Program::straight(&[6, 6, 6]);
        let mut portfolio = toy::built(&DESCRIPTOR);
        for seed in 0..300 {
            let run = toy::run(&mut portfolio, &program, seed, &[]);
            let member = &MEMBERS[portfolio.member() as usize];
            assert_eq!(toy::run(&mut toy::built(member.policy), &program, seed, &member.values()), run);
        }
    }

    #[test]
    fn the_budget_goes_to_who_finds_something_new() {
        let runs = [100.0; MEMBERS.len()];
        let mut new = [0.0; MEMBERS.len()];
        new[2] = 100.0;
        let shares = shift(&runs, &new);
        assert!(shares[2] > 99 * MEMBERS[2].share);
        assert!((0..MEMBERS.len()).all(|i| shares[i] >= 25 * MEMBERS[i].share));
        assert!(shares[0] < 27 * MEMBERS[0].share);
        assert_eq!(shift(&[0.0; MEMBERS.len()], &[0.0; MEMBERS.len()])[2], 100 * MEMBERS[2].share);
    }
}
