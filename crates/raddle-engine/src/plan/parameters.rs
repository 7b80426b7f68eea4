//! Parameters of policies that follow from others and from the number of planned runs.

use raddle_core::policies::{pct, rpro};

use crate::statistics::{depth_rule, stride_equation};

pub fn resolve(policy: &str, values: &mut [f64], runs: u64) {
    match policy {
        "pct" => depth_rule::resolve(pct::RULE, values, runs),
        "rpro" => depth_rule::resolve(rpro::RULE, values, runs),
        "stride" => stride_equation::resolve(values, runs),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::policies::portfolio::MEMBERS;

    #[test]
    fn members_of_the_portfolio_have_all_their_parameters() {
        for member in &MEMBERS {
            let (mut resolved, values) = (member.values(), member.values());
            resolve(member.policy.name, &mut resolved, 1_000);
            assert_eq!(
                resolved, values,
                "{}: what follows from the number of runs is not known here",
                member.policy.name
            );
        }
    }
}
