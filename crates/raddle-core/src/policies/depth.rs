//! Which depth to look for (section V.B of the stride paper): the largest whose guarantee finds a bug at least once
//! in the planned runs with the wanted confidence.

use crate::policy::Parameter;

/// The parameter for the wanted confidence.
pub const CONFIDENCE: Parameter =
    Parameter::number("confidence", 0.95, 0.0, 0.999_999, "with d=0: the confidence that one run finds the bug");
/// The parameter for the planned runs.
pub const RUNS: Parameter =
    Parameter::whole("runs", 0.0, 0.0, 1e15, "with d=0: the number of runs; 0: as many as planned");
/// The parameter that the two above come down to.
pub const TRIES: Parameter =
    Parameter::number("tries", 0.0, 0.0, 1e18, "with d=0: the most runs in which one finds the bug; 0: by confidence");

/// Where a policy has these parameters.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub depth: usize,
    pub confidence: usize,
    pub runs: usize,
    pub tries: usize,
}

/// The largest depth of which one in `tries` runs is guaranteed to find a bug: 1/(n·k·r^(d−2)) for a policy whose
/// later change points lie among r steps. At least 1, at most 64.
pub fn largest(n: u64, k: u64, r: u64, tries: f64) -> usize {
    let mut depth = 1;
    let mut expected = n as f64;
    while depth < 64 {
        expected *= if depth == 1 { k } else { r } as f64;
        // A radius of one step would allow any depth.
        if expected > tries || depth > 1 && r <= 1 {
            break;
        }
        depth += 1;
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_depth() {
        // What 95% in 10,000 runs comes down to.
        let tries = 3_338.0;
        // n·k = 300, n·k² = 30,000 > 3,338.
        assert_eq!(largest(3, 100, 100, tries), 2);
        // n·k·r = 3,000, n·k·r² = 30,000.
        assert_eq!(largest(3, 100, 10, tries), 3);
        assert_eq!(largest(3, 100_000, 10, tries), 1);
        assert_eq!(largest(2, 1, 1, tries), 2);
    }
}
