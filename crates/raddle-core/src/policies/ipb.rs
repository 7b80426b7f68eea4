//! Iterative preemption bounding: schedules without a preemption first, then those with one, with two, and so on.
//!
//! Musuvathi and Qadeer (PLDI'07), as Thomson, Donaldson and Betts (PPoPP'14) compare it. A preemption is a switch
//! away from a thread that could go on. Where the current thread cannot, or has just done something without
//! progress, any other one may follow and that is free. Under each bound only the schedules are explored that have
//! exactly that many preemptions: see [`super::search::frontier`].
//!
//! There is no reduction: together with a bound it would leave out schedules that nothing else covers.

use super::search::bounded::{Bounded, Cost};
use super::search::frontier::Frontier;
use super::search::lateness;
use super::search::{each, only, Choice};
use crate::policy::{Descriptor, Kind, Learns, Parameter};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Ipb,
    name: "ipb",
    summary: "iterative preemption bounding: every schedule with 0 preemptions, then with 1, 2, …",
    source: "Musuvathi and Qadeer, PLDI'07; Thomson et al., PPoPP'14",
    kind: Kind::Systematic,
    learns: Learns::Nothing,
    parameters: &[
        Parameter::whole("max", 1000.0, 0.0, 1e6, "the largest number of preemptions"),
        lateness::PARAMETER,
    ]
);

/// The search. Valid when zeroed.
pub type Ipb = Bounded<Preemptions>;

/// Switches away from a thread that could go on.
pub struct Preemptions;

impl Cost for Preemptions {
    fn choose(frontier: &mut Frontier, choice: &Choice) -> usize {
        let usual = choice.usual();
        let others = choice.allowed & !only(usual);
        let count = others.count_ones();
        let stays = choice.current == Some(usual) && !choice.gives_way;
        let taken = if stays { frontier.ask(0, count) } else { frontier.ask(count, 0) };
        taken.and_then(|k| each(others).nth(k as usize)).unwrap_or(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::model::{explore, explores_by_cost, survives_crashes, walk, Op, Program};
    use super::*;

    fn preemptions(program: &Program, schedule: &[usize]) -> u32 {
        let mut count = 0;
        walk(program, schedule, |enabled, current, chosen| {
            count += u32::from(chosen != current && enabled.contains(&current));
        });
        count
    }

    #[test]
    fn every_schedule_is_explored_under_the_bound_of_its_preemptions() {
        explores_by_cost(Ipb::boxed, preemptions);
    }

    #[test]
    fn crashes_lose_nothing() {
        survives_crashes(Ipb::boxed);
    }

    #[test]
    fn the_numbers_of_schedules_are_known() {
        // Two threads of two steps each, aabb without a preemption; with one preemption bbaa and abba; with two
        // baab and abab; with three baba.
        let counts = [1, 2, 2, 1];
        let program = Program::straight(&[2, 2]);
        let mut sum = 0;
        for (max, count) in counts.into_iter().enumerate() {
            sum += count;
            let (runs, _) = explore(&mut Ipb::boxed(), &program, &[max as f64]);
            assert_eq!(runs.len(), sum, "{max}");
        }
    }

    #[test]
    fn whoever_gives_way_is_not_preempted() {
        let program = Program { threads: vec![vec![Op::SpinUntil(0, 1)], vec![Op::Store(0, 1)]], ..Program::default() };
        let (runs, explored) = explore(&mut Ipb::boxed(), &program, &[0.0]);
        // It spins, and then either spins again or not.
        assert_eq!(runs.iter().map(|ran| ran.schedule.len()).max(), Some(4));
        assert!(runs.iter().any(|ran| ran.schedule == [0, 1, 0]), "{runs:?}");
        assert_eq!((explored.bound, explored.gaps, explored.fair), (1, 0, true));
    }
}
