//! A portfolio of complementary policies: each run is given to one of them.
//!
//! No policy dominates. A random walk is good at short local bugs and hopeless when one thread must run far ahead; PCT
//! is the opposite; URW wins with many threads, POS on long runs with few conflicts. (SURW is not among them: no
//! identities are made ready for policies that know objects from run to run, see [`Learns::Objects`], which would slow
//! down all the others.) Which of them suits a program is not known before, but some of it can be told from the
//! program's size. So the first run preempts no thread: it shows how many threads and steps there are, and where the
//! end is. From then on members have shares of the runs by the number of the run and by the [class] that the
//! program's size puts it in. The shares were computed from the rates of all members on our corpus of bugs, with the
//! aim that no program needs more than three times the runs of the policy that suits it best: `shares.rs` has them, and
//! `raddle-shares` of raddle-lab writes that file. Every member has a part of the runs in each class, and
//! beyond the last computed run all programs are alike. After each round the engine shifts the budget to those
//! that keep finding schedules that no run had before; none falls below a quarter of its share.
//!
//! The first of these runs are drawn, later ones are given in turn by the number of the run, as evenly as shares allow,
//! so that luck decides less. The same seed gives the same campaign: shares come from complete rounds only, and count
//! schedules, never time.

mod shares;

use core::mem::MaybeUninit;

use super::{
    atomfuzzer, delay_bound, pct, pos, preempt_always, preempt_bound, random, random_delay, rpro, stride, urw,
};
use crate::forward_policy;
use crate::lessons::SHARES;
use crate::policy::{Descriptor, Kind, Learns, Parameter, Policy, Profile, Run, MAX_PARAMETERS};
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
        Parameter::choice("shares", 0, &["computed", "even"], "computed from rates on a corpus and shifted, or the same for all members in all runs after the first, to measure these rates"),
    ]
);

/// A policy of the portfolio.
pub struct Member {
    /// How it is called here.
    pub name: &'static str,
    pub policy: &'static Descriptor,
    /// Parameters that differ from the defaults: where they stand, and their values.
    pub parameters: &'static [(usize, f64)],
    /// Its share of the runs, in hundredths, where nothing is computed: what we believe to be good for programs that we
    /// do not know.
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

macro_rules! members {
    ($($(#[doc = $doc:literal])* $name:ident, $policy:ident, $parameters:expr, $share:expr;)*) => {
        /// The members of the portfolio.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Name {
            $($(#[doc = $doc])* $name,)*
        }

        /// The policies, by [`Name`].
        pub static MEMBERS: [Member; [$(Name::$name),*].len()] = [$(Member {
            name: stringify!($name),
            policy: &$policy::DESCRIPTOR,
            parameters: &$parameters,
            share: $share,
        },)*];
    };
}

members! {
    /// Most bugs have depth 2, and so has what a campaign is worth.
    Pct2, pct, [(0, 2.0)], 33;
    /// A bug of depth 3.
    Pct3, pct, [], 8;
    /// Nothing but an order of the threads.
    Pct1, pct, [(0, 1.0)], 0;
    /// The order that is the opposite of what is usual. There is one such schedule.
    Newest, pct, [(0, 1.0), (9, 1.0)], 0;
    /// Strides as long as threads allow.
    Stride, stride, [], 15;
    /// Short strides, however long the threads are.
    Short, stride, [(1, 6.0)], 5;
    /// All interleavings alike.
    Urw, urw, [], 13;
    /// Random priorities of events.
    Pos, pos, [], 8;
    /// The random walk.
    Random, random, [], 5;
    /// Delays as in random sleep.
    Delays, random_delay, [], 4;
    /// One delay anywhere.
    Delay, delay_bound, [], 2;
    /// One delay at the end, and the process ends when no other thread can run.
    Last, delay_bound, [(2, 3.0), (3, 1.0)], 1;
    /// Two delays, the first of them at the end.
    LastTwo, delay_bound, [(0, 2.0), (2, 3.0)], 1;
    /// Changes close together.
    Rpro, rpro, [(0, 3.0)], 1;
    /// Another thread at every point.
    Always, preempt_always, [], 1;
    /// Two preemptions.
    Bound2, preempt_bound, [], 1;
    /// Three preemptions.
    Bound3, preempt_bound, [(0, 3.0)], 1;
    /// A pause before locks that were held before.
    AtomFuzzer, atomfuzzer, [], 1;
    /// No thread is preempted. There is one such schedule.
    Nobody, delay_bound, [(0, 0.0)], 0;
}

/// Where the shares change: up to each of these runs, from the second one on, there are others.
pub const ENDS: [u64; 12] = [2, 3, 4, 5, 6, 9, 10, 18, 36, 63, 120, 228];

/// The last run of the first round is not shared by rates: it draws an order of the threads and keeps to it. Such a run
/// may be much longer than others, and from what it shows PCT and others draw their points until the next round is
/// over.
pub const TEACHES: (u64, Name) = (10, Name::Pct1);

/// Up to this run members are drawn, after it they have their turns.
const DRAWN: u64 = 18;

/// The classes of programs, by their size, for people.
pub const CLASSES: [&str; 6] = [
    "two threads, short runs",
    "two threads, long runs",
    "three or four threads, short runs",
    "three or four threads, long runs",
    "five threads or more, short runs",
    "five threads or more, long runs",
];

/// A run of more schedule points is long.
const LONG: u64 = 512;

/// The class of a program of this size. Points are counted and not steps, because there are about as many of them in
/// each run: a first run without preemptions has few steps with two threads enabled.
pub fn class(profile: &Profile) -> usize {
    let threads = match profile.threads {
        0..=2 => 0,
        3 | 4 => 1,
        _ => 2,
    };
    2 * threads + usize::from(profile.points > LONG)
}

/// Members and their shares.
pub type Row = &'static [(Name, u32)];

/// The shares of a run, as far as they are computed.
pub fn row(run: u64, class: usize) -> Option<Row> {
    let slot = ENDS.iter().position(|&end| run <= end)?;
    Some(shares::COMPUTED[class][slot])
}

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
fn belongs(mut number: u64, shares: &[u32; MEMBERS.len()]) -> usize {
    for (member, &share) in shares.iter().enumerate() {
        match number.checked_sub(share.into()) {
            Some(rest) => number = rest,
            None => return member,
        }
    }
    0
}

/// How the runs around this one are shared.
fn shares(run: &Run<'_>) -> [u32; MEMBERS.len()] {
    let mut shares = [0; MEMBERS.len()];
    match row(run.number, class(&run.profile)) {
        Some(row) => row.iter().for_each(|&(name, share)| shares[name as usize] = share),
        None => shares.iter_mut().zip(&MEMBERS).for_each(|(share, member)| *share = member.share),
    }
    let known = run.lessons.shares.iter().any(|&worth| worth > 0);
    for (share, &worth) in shares.iter_mut().zip(&run.lessons.shares) {
        *share *= if known { worth } else { WORTH };
    }
    shares
}

/// The member that makes this run. A number of the run's own decides; or its turn, since multiples of the golden ratio
/// fall evenly between 0 and 1, whatever part of them is looked at.
fn chosen(run: &Run<'_>, shares: &[u32; MEMBERS.len()], drawn: bool) -> usize {
    let total = shares.iter().map(|&share| u64::from(share)).sum::<u64>();
    let number = if drawn { Rng::for_purpose(run.seed, PURPOSE).next_u64() } else { run.number.wrapping_mul(GOLDEN) };
    belongs(((u128::from(number) * u128::from(total)) >> 64) as u64, shares)
}

impl Policy for Portfolio {
    fn start(&mut self, run: &Run<'_>) {
        let even = run.parameters.first().is_some_and(|&shares| shares > 0.0);
        self.member = match run.number {
            1 => Name::Nobody as usize,
            _ if even => chosen(run, &[1; MEMBERS.len()], true),
            number => chosen(run, &shares(run), number <= DRAWN),
        };
        let parameters = MEMBERS[self.member].values();
        self.get().start(&Run { parameters: &parameters, ..*run });
    }

    fn lease(&self, current: ThreadId, steps: u64, most: u64) -> u64 {
        if !self.built[self.member] {
            return 0;
        }
        // SAFETY: as for `get`.
        unsafe { &*self.policies[self.member].assume_init() }.lease(current, steps, most)
    }

    fn member(&self) -> u32 {
        self.member as u32
    }

    forward_policy!(self => self.get(); choose, created, lower, pass, end, no_choice);

    fn sees_every_point(&self) -> bool {
        // SAFETY: as for `get`; a run has started, so its member is built.
        self.built[self.member] && unsafe { &*self.policies[self.member].assume_init() }.sees_every_point()
    }
}

/// What a member is worth that finds nothing but new schedules: it has its whole share.
const WORTH: u32 = 100;

/// What each member is worth after a round, at most `WORTH` and at least a quarter of it: `runs` and `new` are how
/// many runs it had so far and how many of their schedules were new, the later rounds weighing more.
pub fn shift(runs: &[f64], new: &[f64]) -> [u32; MEMBERS.len()] {
    core::array::from_fn(|i| {
        // One success more than was seen: a member without a run yet is thought to find something new.
        let novelty = (new[i] + 1.0) / (runs[i] + 1.0);
        (f64::from(WORTH) * (0.25 + 0.75 * novelty)) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::Lessons;
    use crate::toy;

    /// A size for each class.
    fn sizes() -> [Profile; CLASSES.len()] {
        core::array::from_fn(|i| {
            let profile = Profile {
                threads: 2 + i as u64 / 2 * 2,
                points: if i % 2 == 0 { 20 } else { 900 },
                ..Profile::default()
            };
            assert_eq!(class(&profile), i);
            profile
        })
    }

    /// How often each member has one of these runs, given by number and seed.
    fn count(
        runs: impl Iterator<Item = (u64, u64)>,
        profile: Profile,
        lessons: &Lessons,
        even: f64,
    ) -> [u32; MEMBERS.len()] {
        let mut policy = toy::built(&DESCRIPTOR);
        let mut seen = [0u32; MEMBERS.len()];
        for (number, seed) in runs {
            policy.start(&Run { number, seed, parameters: &[even], profile, lessons });
            seen[policy.member() as usize] += 1;
        }
        seen
    }

    fn as_shares(row: Row) -> [u32; MEMBERS.len()] {
        let mut shares = [0; MEMBERS.len()];
        row.iter().for_each(|&(name, share)| shares[name as usize] += share);
        shares
    }

    /// Whether members had their shares of `runs` runs, within a number of standard deviations, if they were drawn, or
    /// for a few because of rounding.
    fn near(seen: [u32; MEMBERS.len()], shares: [u32; MEMBERS.len()], deviations: f64, few: f64) -> bool {
        let (runs, total): (u32, u32) = (seen.iter().sum(), shares.iter().sum());
        seen.iter().zip(shares).all(|(&seen, share)| {
            let part = f64::from(share) / f64::from(total);
            let deviation = (f64::from(runs) * part * (1.0 - part)).sqrt();
            (f64::from(seen) - f64::from(runs) * part).abs() <= deviations * deviation + few
        })
    }

    #[test]
    fn members_have_their_shares() {
        let last = MEMBERS.each_ref().map(|member| member.share);
        assert_eq!(last.iter().sum::<u32>(), 100);
        for (class, profile) in sizes().into_iter().enumerate() {
            for number in 2..=DRAWN {
                let shares = as_shares(row(number, class).unwrap());
                let drawn = count((0..4_000).map(|seed| (number, seed)), profile, Lessons::none(), 0.0);
                // Five standard deviations: by chance once in a million times.
                assert!(near(drawn, shares, 5.0, 0.0), "class {class}, run {number}: {drawn:?}");
            }
            let mut from = DRAWN + 1;
            for end in ENDS.into_iter().filter(|&end| end > DRAWN).chain([10_000]) {
                let shares = row(end, class).map_or(last, as_shares);
                assert_eq!(shares.iter().sum::<u32>(), 100, "class {class}, up to run {end}");
                let seen = count((from..=end).map(|number| (number, 0)), profile, Lessons::none(), 0.0);
                assert!(near(seen, shares, 0.0, if end == 10_000 { 10.0 } else { 3.0 }), "{class}, {end}: {seen:?}");
                from = end + 1;
            }
        }
    }

    #[test]
    fn shares_shift_by_what_members_are_worth() {
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        (lessons.shares[0], lessons.shares[4], lessons.shares[6]) = (25, 100, 50);
        let shares = core::array::from_fn(|i| MEMBERS[i].share * lessons.shares[i]);
        let runs = (1_001..=10_000).map(|number| (number, 0));
        assert!(near(count(runs, Profile::default(), &lessons, 0.0), shares, 0.0, 10.0));
    }

    #[test]
    fn no_member_waits_for_long() {
        // Whatever the class, a member that may find something has a part of the runs before all classes are alike.
        for class in 0..CLASSES.len() {
            for member in MEMBERS.iter().enumerate().filter(|(_, member)| member.share > 0).map(|(i, _)| i) {
                let rows = ENDS.iter().filter_map(|&end| row(end, class));
                assert!(rows.flat_map(|row| row.iter()).any(|&(name, share)| name as usize == member && share > 0));
            }
        }
    }

    #[test]
    fn the_first_run_preempts_nobody() {
        for even in [0.0, 1.0] {
            let seen = count((0..100).map(|seed| (1, seed)), Profile::default(), Lessons::none(), even);
            assert_eq!(seen[Name::Nobody as usize], 100);
        }
        let program = toy::Program::straight(&[2, 3, 1]);
        assert_eq!(toy::run(&mut toy::built(&DESCRIPTOR), &program, 0, &[]).schedule, [0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn even_shares_are_even() {
        let seen = count((2..=30_000).map(|number| (number, number)), Profile::default(), Lessons::none(), 1.0);
        assert!(near(seen, [1; MEMBERS.len()], 5.0, 0.0), "{seen:?}");
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
        // A member without a run yet may find something new.
        assert_eq!(shift(&[0.0; MEMBERS.len()], &[0.0; MEMBERS.len()]), [WORTH; MEMBERS.len()]);
    }
}
