//! The settings of a check, from the test and the environment.

use std::ffi::{CString, OsString};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The largest number of runs and of steps; it is the command line's as well.
const MOST: u64 = u64::MAX / 2;

/// The settings of a check. For `None` raddle has a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub name: Option<String>,
    pub runs: Option<u64>,
    pub policy: Option<String>,
    pub seed: Option<u64>,
    pub max_steps: Option<u64>,
}

impl Settings {
    /// These settings, with those of the environment before them. The error is for the user.
    pub fn with_environment(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, String> {
        let mut settings = self.clone();
        let number = |name: &str, range| match set(&variable, name) {
            Some(value) => parse(name, &value, range).map(Some),
            None => Ok(None),
        };
        if let Some(runs) = number("RADDLE_RUNS", 1..=MOST)? {
            settings.runs = Some(runs);
        }
        if let Some(seed) = number("RADDLE_SEED", 0..=u64::MAX)? {
            settings.seed = Some(seed);
        }
        if let Some(policy) = set(&variable, "RADDLE_POLICY") {
            let wrong = |value: OsString| format!("RADDLE_POLICY is {value:?}: expected a policy such as pct:d=3");
            settings.policy = Some(policy.into_string().map_err(wrong)?);
        }
        for (name, value) in [("runs", settings.runs), ("max_steps", settings.max_steps)] {
            if let Some(value) = value.filter(|value| !(1..=MOST).contains(value)) {
                return Err(expected_number(&format!("{name} of the check"), value, 1..=MOST));
            }
        }
        Ok(settings)
    }
}

/// The value of a variable, if it has one: `RADDLE_RUNS= cargo test` says nothing.
fn set(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<OsString> {
    variable(name).filter(|value| !value.is_empty())
}

fn parse(name: &str, value: &OsString, range: RangeInclusive<u64>) -> Result<u64, String> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|number| range.contains(number));
    number.ok_or_else(|| expected_number(name, value.to_string_lossy(), range))
}

fn expected_number(name: &str, value: impl Display, range: RangeInclusive<u64>) -> String {
    format!("{name} is `{value}`: expected a number from {} to {}", range.start(), range.end())
}

/// A string for C. A zero byte in it would silently end it there.
pub(crate) fn c_string(what: &str, text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{what} of the check is {text:?}: expected text without a zero byte"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn base() -> Settings {
        Settings { runs: Some(10), policy: Some("random".into()), seed: Some(1), ..Settings::default() }
    }

    fn with(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let find = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
        base().with_environment(find)
    }

    #[test]
    fn the_environment_goes_first() {
        assert_eq!(with(&[]), Ok(base()));
        let settings = with(&[("RADDLE_RUNS", "20"), ("RADDLE_POLICY", "pct:d=4"), ("RADDLE_SEED", "0")]).unwrap();
        assert_eq!(settings.runs, Some(20));
        assert_eq!(settings.policy.as_deref(), Some("pct:d=4"));
        assert_eq!(settings.seed, Some(0));
        assert_eq!(with(&[("RADDLE_RUNS", ""), ("RADDLE_POLICY", ""), ("RADDLE_SEED", "")]), Ok(base()));
    }

    #[test]
    fn wrong_values_are_named() {
        let error = |name, value| with(&[(name, value)]).unwrap_err();
        let range = "expected a number from 1 to 9223372036854775807";
        assert_eq!(error("RADDLE_RUNS", "0"), format!("RADDLE_RUNS is `0`: {range}"));
        assert_eq!(error("RADDLE_RUNS", "many"), format!("RADDLE_RUNS is `many`: {range}"));
        assert_eq!(error("RADDLE_SEED", "-1"), "RADDLE_SEED is `-1`: expected a number from 0 to 18446744073709551615");
        let bytes = |_: &str| Some(OsString::from_vec(vec![b'7', 0xff]));
        assert_eq!(
            Settings::default().with_environment(bytes).unwrap_err(),
            format!("RADDLE_RUNS is `7\u{fffd}`: {range}")
        );
        let bytes = |name: &str| (name == "RADDLE_POLICY").then(|| OsString::from_vec(vec![0xff]));
        let error = Settings::default().with_environment(bytes).unwrap_err();
        assert_eq!(error, r#"RADDLE_POLICY is "\xFF": expected a policy such as pct:d=3"#);
    }

    #[test]
    fn zero_is_not_silently_nothing() {
        let error = Settings { runs: Some(0), ..base() }.with_environment(|_| None).unwrap_err();
        assert_eq!(error, "runs of the check is `0`: expected a number from 1 to 9223372036854775807");
        assert!(Settings { max_steps: Some(0), ..base() }.with_environment(|_| None).is_err());
        assert!(c_string("policy", "a\0b").is_err());
    }
}
