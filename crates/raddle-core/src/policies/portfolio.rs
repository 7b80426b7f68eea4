//! A portfolio of complementary policies: each run is given to one of them.
//!
//! No policy dominates. A random walk is good at short local bugs and hopeless when one thread must run far ahead;
//! PCT is the opposite; URW wins with many threads, POS on long runs with few conflicts. Which of them suits a program
//! is not known before, so all have a share of the budget. (SURW is not among them: no identities are made ready for
//! policies that know objects from run to run, see [`Learns::Objects`], which would slow down all the others.) A bug
//! that a policy finds in its second run must have come to light after a few runs here, whoever finds it: so the first
//! runs are given to one policy each, and the shares of the next ones change several times. Who makes the first ones, and
//! the shares up to the last phase, were computed from the rates of all policies on our corpus of bugs, with the aim that
//! no program needs more than three times the runs of the policy that suits it best; `examples/shares.rs` of the command
//! line does it. After each block of runs the command line shifts the budget to those that keep finding schedules that no
//! run had before; none falls below a quarter of its share.
//!
//! Members take turns by the number of the run, as evenly as their shares allow, so that luck decides less. The same
//! seed gives the same campaign: shares come from complete blocks only, and count schedules, never time.

use core::mem::MaybeUninit;

use super::{
    atomfuzzer, delay_bound, pct, pos, preempt_always, preempt_bound, random, random_delay, rpro, stride, urw,
};
use crate::lessons::SHARES;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Point, Policy, Run, MAX_PARAMETERS};
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
    parameters: &[
        Parameter::choice("shares", 0, &["computed", "even"], "computed from rates on a corpus and shifted, or the same for all members in all runs, to measure these rates"),
    ]
);

/// A policy of the portfolio.
pub struct Member {
    /// The policy.
    pub policy: &'static Descriptor,
    /// Parameters that differ from the defaults: where they stand, and their values.
    pub parameters: &'static [(usize, f64)],
    /// Its shares of the runs, in hundredths, as long as nothing is known of what it finds: up to each of [`ENDS`], and
    /// of all runs after them.
    pub shares: [u32; ENDS.len() + 1],
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

/// The policies, and their shares.
pub static MEMBERS: [Member; 14] = [
    // Most bugs have depth 2, and so has what a campaign is worth.
    Member { policy: &pct::DESCRIPTOR, parameters: &[(0, 2.0)], shares: [23, 69, 22, 72, 35] },
    Member { policy: &pct::DESCRIPTOR, parameters: &[], shares: [2, 2, 2, 2, 8] },
    // Nothing but an order of the threads.
    Member { policy: &pct::DESCRIPTOR, parameters: &[(0, 1.0)], shares: [0, 0, 0, 0, 0] },
    Member { policy: &stride::DESCRIPTOR, parameters: &[], shares: [3, 3, 3, 3, 15] },
    // Short strides, however long the threads are.
    Member { policy: &stride::DESCRIPTOR, parameters: &[(1, 6.0)], shares: [1, 1, 1, 16, 5] },
    Member { policy: &urw::DESCRIPTOR, parameters: &[], shares: [67, 21, 3, 3, 14] },
    Member { policy: &pos::DESCRIPTOR, parameters: &[], shares: [2, 2, 2, 2, 8] },
    Member { policy: &random::DESCRIPTOR, parameters: &[], shares: [1, 1, 66, 1, 5] },
    Member { policy: &random_delay::DESCRIPTOR, parameters: &[], shares: [1, 1, 1, 1, 4] },
    // Those find a bug soon, or hardly ever.
    Member { policy: &delay_bound::DESCRIPTOR, parameters: &[], shares: [0, 0, 0, 0, 2] },
    Member { policy: &rpro::DESCRIPTOR, parameters: &[(0, 3.0)], shares: [0, 0, 0, 0, 1] },
    Member { policy: &preempt_always::DESCRIPTOR, parameters: &[], shares: [0, 0, 0, 0, 1] },
    Member { policy: &preempt_bound::DESCRIPTOR, parameters: &[(0, 3.0)], shares: [0, 0, 0, 0, 1] },
    Member { policy: &atomfuzzer::DESCRIPTOR, parameters: &[], shares: [0, 0, 0, 0, 1] },
];

/// Those who make the first runs.
const PCT_1: usize = 2;
const STRIDE: usize = 3;
const URW: usize = 5;
const POS: usize = 6;
const RANDOM: usize = 7;
const RANDOM_DELAY: usize = 8;
const ALWAYS: usize = 11;
const BOUND: usize = 12;
const ATOMFUZZER: usize = 13;

/// Who makes the first runs: members and their shares of all campaigns. In each campaign the run's seed draws one of
/// them.
pub const FIRST: [&[(usize, u32)]; 16] = [
    &[(POS, 72), (RANDOM_DELAY, 28)],
    &[(ALWAYS, 60), (ATOMFUZZER, 38)],
    &[(PCT_1, 56), (POS, 30), (URW, 14)],
    &[(RANDOM, 1)],
    &[(PCT_1, 74), (URW, 26)],
    &[(POS, 61), (URW, 39)],
    &[(URW, 1)],
    &[(URW, 1)],
    &[(URW, 1)],
    &[(BOUND, 89), (URW, 11)],
    &[(BOUND, 1)],
    &[(STRIDE, 1)],
    &[(BOUND, 1)],
    &[(BOUND, 1)],
    &[(BOUND, 1)],
    &[(STRIDE, 82), (URW, 18)],
];

/// Where the shares change.
pub const ENDS: [u64; 4] = [36, 74, 110, 228];

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

/// Who makes this run, drawn by these shares.
fn drawn(run: &Run<'_>, members: impl Iterator<Item = (usize, u32)> + Clone) -> usize {
    let total = members.clone().map(|(_, share)| u64::from(share)).sum();
    belongs(Rng::for_purpose(run.seed, PURPOSE).below(total), members)
}

/// How the runs around this one are shared.
fn shares(run: &Run<'_>) -> [u32; MEMBERS.len()] {
    let phase = ENDS.iter().filter(|&&end| end < run.number).count();
    let known = run.lessons.shares.iter().any(|&worth| worth > 0);
    core::array::from_fn(|i| {
        let worth = if known { run.lessons.shares[i] } else { WORTH };
        MEMBERS[i].shares[phase] * worth
    })
}

/// Who makes this run when its turn comes: multiples of the golden ratio fall evenly between 0 and 1, whatever part of
/// them is looked at.
fn in_turn(run: &Run<'_>) -> usize {
    let shares = shares(run);
    let total = shares.iter().map(|&share| u64::from(share)).sum::<u64>();
    let part = u128::from(run.number.wrapping_mul(GOLDEN)) * u128::from(total);
    belongs((part >> 64) as u64, shares.into_iter().enumerate())
}

impl Policy for Portfolio {
    fn start(&mut self, run: &Run<'_>) {
        let even = run.parameters.first().is_some_and(|&shares| shares > 0.0);
        self.member = match FIRST.get((run.number as usize).wrapping_sub(1)) {
            _ if even => drawn(run, (0..MEMBERS.len()).map(|member| (member, 1))),
            Some(members) => drawn(run, members.iter().copied()),
            None => in_turn(run),
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

/// What a member is worth that finds nothing but new schedules: it has its whole share.
const WORTH: u32 = 100;

/// What each member is worth after a block, at most [`WORTH`] and at least a quarter of it: `runs` and `new` are how many
/// runs it had so far and how many of their schedules were new, the later blocks weighing more.
pub fn shift(runs: &[f64], new: &[f64]) -> [u32; MEMBERS.len()] {
    core::array::from_fn(|i| {
        // One success more than was seen: who has had no run yet is thought to find something new.
        let novelty = (new[i] + 1.0) / (runs[i] + 1.0);
        (f64::from(WORTH) * (0.25 + 0.75 * novelty)) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::Lessons;
    use crate::toy;

    /// How often each member has one of these runs.
    fn count(runs: core::ops::RangeInclusive<u64>, lessons: &Lessons) -> [u32; MEMBERS.len()] {
        let program = toy::Program::straight(&[4, 4]);
        let mut policy = toy::built(&DESCRIPTOR);
        let mut seen = [0u32; MEMBERS.len()];
        for run in runs {
            let known = toy::Known { profile: Default::default(), lessons: Some(lessons) };
            toy::run_with(&mut policy, &program, run - 1, &[], known, |_, _| {});
            seen[policy.member() as usize] += 1;
        }
        seen
    }

    /// Whether members had their shares of so many runs, but for a few because of rounding.
    fn near(seen: [u32; MEMBERS.len()], shares: [u32; MEMBERS.len()], off: f64) -> bool {
        let (runs, total): (u32, u32) = (seen.iter().sum(), shares.iter().sum());
        let expected = |share| f64::from(runs) * f64::from(share) / f64::from(total);
        seen.iter().zip(shares).all(|(&seen, share)| (f64::from(seen) - expected(share)).abs() < off)
    }

    #[test]
    fn members_have_their_shares() {
        let nothing = Lessons::none();
        let mut from = FIRST.len() as u64 + 1;
        for (phase, end) in ENDS.into_iter().chain([10_000]).enumerate() {
            let shares = MEMBERS.each_ref().map(|member| member.shares[phase]);
            assert_eq!(shares.iter().sum::<u32>(), 100, "phase {phase}");
            let seen = count(from..=end, nothing);
            assert!(near(seen, shares, if end == 10_000 { 10.0 } else { 3.0 }), "phase {phase}: {seen:?}");
            from = end + 1;
        }
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        (lessons.shares[0], lessons.shares[2], lessons.shares[5]) = (25, 100, 50);
        let shares = core::array::from_fn(|i| MEMBERS[i].shares[ENDS.len()] * lessons.shares[i]);
        assert!(near(count(1_001..=10_000, &lessons), shares, 10.0));
    }

    #[test]
    fn the_first_runs_are_drawn_by_their_shares() {
        const SEEDS: u64 = 20_000;
        let lessons = Lessons::none();
        let mut policy = toy::built(&DESCRIPTOR);
        for (i, members) in FIRST.iter().enumerate() {
            let mut seen = [0u32; MEMBERS.len()];
            for seed in 0..SEEDS {
                let number = i as u64 + 1;
                policy.start(&Run { number, seed, parameters: &[], profile: Default::default(), lessons });
                seen[policy.member() as usize] += 1;
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
    }

    #[test]
    fn members_have_all_their_parameters() {
        for member in &MEMBERS {
            let mut resolved = member.values();
            crate::policies::resolve(member.policy.name, &mut resolved, 1_000);
            assert_eq!(
                resolved,
                member.values(),
                "{}: what follows from the number of runs is not known here",
                member.policy.name
            );
        }
    }

    #[test]
    fn even_shares_are_even() {
        let mut policy = toy::built(&DESCRIPTOR);
        let mut seen = [0u32; MEMBERS.len()];
        for number in 1..=30_000 {
            let (profile, lessons) = (Default::default(), Lessons::none());
            policy.start(&Run { number, seed: number, parameters: &[1.0], profile, lessons });
            seen[policy.member() as usize] += 1;
        }
        let p = 1.0 / MEMBERS.len() as f64;
        let deviation = (30_000.0 * p * (1.0 - p)).sqrt();
        assert!(seen.iter().all(|&n| (f64::from(n) - 30_000.0 * p).abs() < 5.0 * deviation), "{seen:?}");
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
        let worth = shift(&runs, &new);
        assert_eq!(worth[2], WORTH);
        assert!((0..MEMBERS.len()).filter(|&i| i != 2).all(|i| (25..27).contains(&worth[i])));
        // Who has had no run yet may find something new.
        assert_eq!(shift(&[0.0; MEMBERS.len()], &[0.0; MEMBERS.len()]), [WORTH; MEMBERS.len()]);
    }
}
