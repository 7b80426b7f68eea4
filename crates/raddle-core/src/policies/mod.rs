//! The policies, one file each.

pub mod pct;
pub mod random;

use crate::policy::Descriptor;

/// All policies that come with raddle.
pub static ALL: &[Descriptor] = &[random::DESCRIPTOR, pct::DESCRIPTOR];

/// The policy with this name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    ALL.iter().find(|d| d.name == name)
}
