//! The policies, one file each.

pub mod pct;
pub mod ppct;
pub mod random;
pub mod random_sleep;
pub mod stress;

use crate::policy::Descriptor;

/// All policies that come with raddle.
pub static ALL: &[Descriptor] =
    &[random::DESCRIPTOR, pct::DESCRIPTOR, stress::DESCRIPTOR, random_sleep::DESCRIPTOR, ppct::DESCRIPTOR];

/// The policy with this name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    ALL.iter().find(|d| d.name == name)
}

#[cfg(test)]
mod tests {
    use super::pct::Pct;
    use super::ppct::Ppct;
    use super::random::Random;
    use super::random_sleep::RandomSleep;
    use super::stress::Stress;
    use crate::policy::Policy;
    use crate::rng::Rng;
    use crate::toy::{self, Op, Program};

    /// A random program of up to five threads with steps, nested critical sections and joins.
    fn random_program(rng: &mut Rng) -> Program {
        let n = 2 + rng.below(4) as usize;
        let threads = (0..n).map(|t| {
            let mut operations = Vec::new();
            for _ in 0..rng.below(6) {
                let (outer, inner) = (rng.below(3) as usize, 3 + rng.below(3) as usize);
                match rng.below(4) {
                    0 => operations.push(Op::Step),
                    1 => operations.extend([Op::Lock(outer), Op::Step, Op::Unlock(outer)]),
                    2 => operations.extend([Op::Lock(outer), Op::Lock(inner), Op::Unlock(inner), Op::Unlock(outer)]),
                    // Only threads with higher numbers are waited for, so this cannot deadlock.
                    _ if t + 1 < n => operations.push(Op::Join(t + 1 + rng.below((n - t - 1) as u64) as usize)),
                    _ => {}
                }
            }
            operations
        });
        Program { threads: threads.collect() }
    }

    fn check(policy: &mut impl Policy, parameters: &[f64]) {
        let mut rng = Rng::new(17);
        for seed in 0..500 {
            let program = random_program(&mut rng);
            let outcome = toy::run(policy, &program, seed, parameters);
            // Locks are taken in one order and joins go one way: everything is executed, once.
            assert!(!outcome.deadlock, "{program:?}");
            let steps = program.threads.iter().map(Vec::len).sum::<usize>();
            assert_eq!(outcome.schedule.len(), steps);
            for (t, operations) in program.threads.iter().enumerate() {
                assert_eq!(outcome.schedule.iter().filter(|&&s| s == t).count(), operations.len());
            }
            assert_eq!(toy::run(policy, &program, seed, parameters), outcome, "same seed, same run");
        }
    }

    #[test]
    fn random_runs_every_program_to_its_end() {
        check(&mut Random::default(), &[]);
    }

    #[test]
    fn parallel_policies_run_every_program_to_its_end() {
        check(&mut Stress::default(), &[]);
        check(&mut RandomSleep::default(), &[0.5, 10.0]);
        for depth in [1.0, 2.0, 5.0] {
            check(&mut Ppct::boxed(), &[depth, 20.0, 0.0, 10.0, 1000.0]);
        }
    }

    #[test]
    fn pct_runs_every_program_to_its_end() {
        for depth in [1.0, 2.0, 5.0] {
            check(&mut Pct::boxed(), &[depth, 20.0]);
        }
    }
}
