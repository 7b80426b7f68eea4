//! Stress: no control. Threads run freely on all cores, as the kernel schedules them, and the order in which they
//! pass schedule points is recorded.
//!
//! The baseline of PCT section 5.1.2 and NeedlePoint section 3.2. What is left of control: operations are the
//! model's, so that deadlocks are known as such, and time is virtual while no thread runs.

use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    Stress,
    name: "stress",
    summary: "no control: threads run in parallel as the kernel schedules them; the baseline",
    source: "Burckhardt et al., ASPLOS'10, as stress",
    kind: Kind::Parallel,
    learns: Learns::Nothing,
    parameters: &[]
);

/// No control.
#[derive(Debug)]
pub struct Stress {
    rng: Rng,
}

impl Default for Stress {
    fn default() -> Self {
        Stress { rng: Rng::new(0) }
    }
}

impl Policy for Stress {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
    }

    /// Where threads take turns, chance stands for the kernel.
    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        any(&mut self.rng, point)
    }
}

/// Any enabled thread.
pub(super) fn any(rng: &mut Rng, point: &Point<'_>) -> ThreadId {
    let k = rng.below(point.enabled.len() as u64) as usize;
    point.enabled.nth(k).unwrap_or(point.current)
}
