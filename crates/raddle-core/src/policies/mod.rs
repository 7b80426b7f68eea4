//! The policies, one file each.

pub mod atomfuzzer;
mod change_points;
pub mod delay_bound;
pub mod depth;
pub mod dfs;
pub mod idb;
pub mod ipb;
pub mod maple;
pub mod pct;
pub mod portfolio;
pub mod pos;
pub mod ppct;
pub mod preempt_always;
pub mod preempt_bound;
mod priorities;
pub mod random;
pub mod random_delay;
pub mod random_sleep;
pub mod rpro;
pub mod search;
pub mod stress;
pub mod stride;
pub mod surw;
pub mod urw;

use crate::policy::Descriptor;

/// All policies that come with raddle.
pub static ALL: &[Descriptor] = &[
    random::DESCRIPTOR,
    pct::DESCRIPTOR,
    portfolio::DESCRIPTOR,
    rpro::DESCRIPTOR,
    stride::DESCRIPTOR,
    pos::DESCRIPTOR,
    urw::DESCRIPTOR,
    surw::DESCRIPTOR,
    preempt_always::DESCRIPTOR,
    preempt_bound::DESCRIPTOR,
    delay_bound::DESCRIPTOR,
    random_delay::DESCRIPTOR,
    atomfuzzer::DESCRIPTOR,
    maple::DESCRIPTOR,
    dfs::DESCRIPTOR,
    ipb::DESCRIPTOR,
    idb::DESCRIPTOR,
    stress::DESCRIPTOR,
    random_sleep::DESCRIPTOR,
    ppct::DESCRIPTOR,
];

/// The policy with this name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    ALL.iter().find(|d| d.name == name)
}

#[cfg(test)]
mod tests {
    use crate::policy::{Kind, Policy};
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
    fn every_policy_runs_every_program_to_its_end() {
        // A systematic search gives another run each time, and a parallel policy is asked something else.
        for policy in super::ALL.iter().filter(|policy| policy.kind == Kind::Sampling) {
            let mut values: Vec<f64> = policy.parameters.iter().map(|p| p.default).collect();
            check(&mut toy::built(policy), &values);
            if let Some(depth) = policy.parameters.iter().position(|p| p.name == "d") {
                for d in [1.0, 2.0, 5.0] {
                    values[depth] = d;
                    check(&mut toy::built(policy), &values);
                }
            }
        }
    }

    #[test]
    fn parallel_policies_run_every_program_to_its_end() {
        check(&mut super::stress::Stress::default(), &[]);
        check(&mut super::random_sleep::RandomSleep::default(), &[0.5, 10.0]);
        for depth in [1.0, 2.0, 5.0] {
            check(&mut super::ppct::Ppct::boxed(), &[depth, 20.0, 0.0, 10.0, 1000.0]);
        }
    }
}
