//! Iterative delay bounding: the schedule of a deterministic scheduler first, then those with one delay, with two,
//! and so on.
//!
//! Emmi, Qadeer and Rakamarić (POPL'11), as Thomson, Donaldson and Betts (PPoPP'14) compare it. The scheduler goes
//! round-robin over the ids and preempts no thread: the current thread goes on; when it cannot, or has just done
//! something without progress, the next one that can follows. A delay skips the thread whose turn it is; to skip k
//! threads at one point costs k delays. Under each bound only the schedules are explored that have exactly that many
//! delays: see [`super::search::frontier`].
//!
//! There is no reduction: together with a bound it would leave out schedules that nothing else covers.

use super::search::bounded::{Bounded, Cost};
use super::search::frontier::Frontier;
use super::search::lateness;
use super::search::{each, only, Choice};
use crate::policy::{Descriptor, Kind, Learns, Parameter};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Idb,
    name: "idb",
    summary: "iterative delay bounding: every schedule with 0 delays off round-robin, then with 1, 2, …",
    source: "Emmi et al., POPL'11; Thomson et al., PPoPP'14",
    kind: Kind::Systematic,
    learns: Learns::Nothing,
    parameters: &[
        Parameter::whole("max", 1000.0, 0.0, 1e6, "the largest number of delays"),
        lateness::PARAMETER,
    ]
);

/// The search. Valid when zeroed.
pub type Idb = Bounded<Delays>;

/// Delays off the deterministic schedule.
pub struct Delays;

/// The thread that comes after `delays` delays.
fn after(choice: &Choice, delays: usize) -> usize {
    // The thread whose turn is first: the one that arrived, or the one behind it.
    let stays = choice.current.is_some() && !choice.gives_way;
    let turn = if stays { choice.arrived } else { choice.arrived + 1 };
    let before = only(turn.min(63)).wrapping_sub(1) | if turn > 63 { only(63) } else { 0 };
    let (now, later) = (choice.allowed & !before, choice.allowed & before);
    each(now).chain(each(later)).nth(delays).unwrap_or(choice.arrived)
}

impl Cost for Delays {
    fn choose(frontier: &mut Frontier, choice: &Choice) -> usize {
        let most = choice.allowed.count_ones() - 1;
        let mut delays = 0;
        while frontier.ask(0, u32::from(delays < most)).is_some() {
            delays += 1;
        }
        after(choice, delays as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::model::{explore, explores_by_cost, survives_crashes, walk, Program};
    use super::*;

    fn delays(program: &Program, schedule: &[usize]) -> u32 {
        let mut count = 0;
        let n = program.threads.len();
        walk(program, schedule, |enabled, current, chosen| {
            let turns = (0..n).map(|i| (current + i) % n).filter(|t| enabled.contains(t));
            count += turns.take_while(|&t| t != chosen).count() as u32;
        });
        count
    }

    #[test]
    fn every_schedule_is_explored_under_the_bound_of_its_delays() {
        explores_by_cost(Idb::boxed, delays);
    }

    #[test]
    fn crashes_lose_nothing() {
        survives_crashes(Idb::boxed);
    }

    #[test]
    fn there_is_one_schedule_without_delays() {
        for lengths in [&[2, 2][..], &[3, 1, 2], &[1, 1, 1, 1]] {
            let (runs, explored) = explore(&mut Idb::boxed(), &Program::straight(lengths), &[0.0]);
            assert_eq!((runs.len(), explored.bound), (1, 1));
        }
    }

    #[test]
    fn turns_go_round() {
        let choice = |allowed, arrived, stays| Choice {
            enabled: allowed,
            allowed,
            current: (stays && allowed & only(arrived) != 0).then_some(arrived),
            arrived,
            gives_way: false,
        };
        let order = |choice: &Choice| (0..choice.allowed.count_ones() as usize).map(|d| after(choice, d)).collect();
        let orders: [Vec<_>; 3] =
            [order(&choice(0b1011, 1, true)), order(&choice(0b1001, 1, false)), order(&choice(only(63) | 1, 63, true))];
        assert_eq!(orders, [vec![1, 3, 0], vec![3, 0], vec![63, 0]]);
        let gives_way = Choice { gives_way: true, ..choice(0b111, 1, true) };
        assert_eq!((0..3).map(|d| after(&gives_way, d)).collect::<Vec<_>>(), [2, 0, 1]);
        let last = Choice { gives_way: true, ..choice(only(63) | 1, 63, true) };
        assert_eq!((0..2).map(|d| after(&last, d)).collect::<Vec<_>>(), [0, 63]);
    }
}
