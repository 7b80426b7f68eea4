//! What a campaign found, for people ([`text`]) and for programs ([`json`]).

pub mod command_line;
pub mod json;
pub mod racing;
pub mod replay;
#[cfg(test)]
pub(crate) mod sample;
pub mod text;
pub mod worth;

use raddle_core::block::{Escape, Points};

use crate::campaign::plan::Plan;
use crate::campaign::Campaign;
use crate::inspect::elf::Language;

/// Where personality is forbidden.
const RANDOM_ADDRESSES: &str =
    "addresses differ from start to start, because personality(ADDR_NO_RANDOMIZE) is not permitted here";

/// What waits by futex in an instrumented Rust program and comes from no visible atomic: its own locks are visible.
const HIDDEN_IN_STD: &str =
    "atomics inside the precompiled standard library are not schedule points (cargo raddle --std makes them some)";

/// A campaign that is over, to be reported.
pub struct Summary<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// What came of it.
    pub campaign: &'a Campaign,
}

impl Summary<'_> {
    /// What escaped control, in words; empty is the claim that nothing did.
    pub fn uncontrolled(&self) -> Vec<&'static str> {
        let mut texts = self.campaign.tally.escapes();
        let program = &self.plan.target.program;
        let futex = texts.iter().position(|text| *text == Escape::Futex.text());
        if program.language == Language::Rust {
            match futex {
                None if !program.instrumented() => texts.push(Escape::Futex.text()),
                Some(at) if program.instrumented() && self.plan.points >= Points::Atomic => texts[at] = HIDDEN_IN_STD,
                _ => {}
            }
        }
        if self.campaign.random_addresses {
            texts.push(RANDOM_ADDRESSES);
        }
        texts
    }
}

/// A number with its thousands apart.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, such as `1 run` or `1,000 runs`.
pub fn count(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", number(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let texts: Vec<_> = [0, 999, 1000, 1234567].into_iter().map(number).collect();
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([count(1, "run"), count(1000, "run")], ["1 run", "1,000 runs"]);
    }
}
