//! How often threads may be late in a run of a search.
//!
//! A delay is a choice like the others: at a [delay point](crate::delays) time either does not pass, or passes until one
//! of the deadlines comes. There are many such points, so the number of delays in a run is bounded.

use crate::delays;
use crate::policy::Parameter;

/// The parameter that bounds the delays of a run.
pub const PARAMETER: Parameter = Parameter::whole(
    "late",
    1.0,
    0.0,
    delays::MOST as f64,
    "how often time may pass in a run although threads could run, so that they are late",
);

/// The delays of the run that is on. Valid when zeroed: none are allowed.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lateness {
    most: u32,
    taken: u32,
}

impl Lateness {
    /// A run starts.
    pub fn start(&mut self, most: f64) {
        *self = Lateness { most: most as u32, taken: 0 };
    }

    /// Whether there may be another delay.
    pub fn allows(&self) -> bool {
        self.taken < self.most
    }

    /// A deadline was chosen, counted from 1, or 0.
    pub fn chosen(&mut self, deadline: u32) {
        self.taken += u32::from(deadline > 0);
    }
}
