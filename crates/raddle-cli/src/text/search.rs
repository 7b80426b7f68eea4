//! What a search explored, in words.

use raddle_report::search::Exhausted;
use raddle_report::words::{count, number};

/// `all 20 schedules explored`, or `all 20 fair schedules explored`.
pub fn title(exhausted: &Exhausted, policy: &str) -> String {
    let bounds = [
        exhausted.bound.map(|bound| bound_text(policy, bound)),
        exhausted
            .delays
            .filter(|&delays| delays > 0)
            .map(|delays| format!("{} in time", count(delays.into(), "delay"))),
    ];
    let bounds: Vec<_> = bounds.into_iter().flatten().collect();
    let within = (!bounds.is_empty()).then(|| format!(" with at most {}", bounds.join(" and ")));
    let schedule = if exhausted.fair { "fair schedule" } else { "schedule" };
    format!("all {}{} explored", count(exhausted.schedules, schedule), within.unwrap_or_default())
}

/// What was left out because it makes no difference.
pub fn reduction(exhausted: &Exhausted) -> Option<String> {
    let redundant = match exhausted.redundant {
        0 => String::new(),
        n => format!("; {} redundant {}", number(n), if n == 1 { "run" } else { "runs" }),
    };
    exhausted.reduced.then(|| format!("one schedule for each order of operations that depend on each other{redundant}"))
}

/// A bound in the policy's own units: `2 preemptions`.
pub fn bound_text(policy: &str, bound: u32) -> String {
    match policy {
        "ipb" => count(bound.into(), "preemption"),
        "idb" => count(bound.into(), "delay"),
        _ => format!("a bound of {bound}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(fair: bool) -> Exhausted {
        let (redundant, bound, delays, reduced, lacks) = (0, None, None, false, Vec::new());
        Exhausted { schedules: 20, redundant, bound, delays, reduced, fair, proof: true, scope: None, lacks }
    }

    #[test]
    fn all_schedules() {
        assert_eq!(title(&all(false), "ipb"), "all 20 schedules explored");
        let some = Exhausted { bound: Some(2), ..all(false) };
        assert_eq!(title(&some, "ipb"), "all 20 schedules with at most 2 preemptions explored");
        let late = Exhausted { delays: Some(1), ..some };
        assert_eq!(title(&late, "ipb"), "all 20 schedules with at most 2 preemptions and 1 delay in time explored");
        assert_eq!(title(&Exhausted { delays: Some(0), ..all(false) }, "dfs"), "all 20 schedules explored");
        assert_eq!(bound_text("idb", 1), "1 delay");
        assert_eq!(bound_text("own", 1), "a bound of 1");
    }

    #[test]
    fn a_proof_about_fair_schedules_says_so() {
        assert_eq!(title(&all(true), "ipb"), "all 20 fair schedules explored");
    }
}
