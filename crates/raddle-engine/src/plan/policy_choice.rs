//! The option `--policy NAME[:key=value,…]`.

use std::fmt;

use raddle_core::policies;
use raddle_core::policy::{Descriptor, Parameter};
use raddle_protocol::PolicySettings;

use super::{own_policies, parameters, suggest};

/// A policy with a value for each of its parameters.
#[derive(Clone)]
pub struct PolicyChoice {
    /// The policy.
    pub descriptor: &'static Descriptor,
    /// Its parameters, in the descriptor's order.
    pub values: Vec<f64>,
}

/// Why a text is not a policy.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum PolicyError {
    /// No policy has this name.
    #[error("there is no policy `{name}`; {hint} (`raddle policies` explains them)")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// The policy has no such parameter.
    #[error("the policy `{policy}` has no parameter `{name}`; {hint}")]
    UnknownParameter {
        policy: &'static str,
        /// The name that was given.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// A parameter without a value.
    #[error("`{text}` is not a parameter of `{policy}`: expected key=value, such as `{example}`")]
    NoValue {
        policy: &'static str,
        /// The text that was given.
        text: String,
        /// One that would do.
        example: String,
    },
    /// A value outside of the parameter's range.
    #[error("invalid value `{value}` for `{name}` of the policy `{policy}`: expected {expected}")]
    Value {
        policy: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// What would do.
        expected: String,
    },
    /// A parameter given twice.
    #[error("the parameter `{name}` of the policy `{policy}` is given twice")]
    Twice {
        policy: &'static str,
        /// The parameter.
        name: &'static str,
    },
}

impl PolicyChoice {
    /// Reads `NAME[:key=value,…]` of a policy that comes with raddle.
    pub fn parse(text: &str) -> Result<PolicyChoice, PolicyError> {
        PolicyChoice::parse_among(text, policies::ALL)
    }

    /// Reads `NAME[:key=value,…]` of one of these policies.
    pub fn parse_among(text: &str, all: &'static [Descriptor]) -> Result<PolicyChoice, PolicyError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let descriptor = all.iter().find(|d| d.name == name).ok_or_else(|| PolicyError::Unknown {
            name: name.to_string(),
            hint: suggest::hint(name, &all.iter().map(|d| d.name).collect::<Vec<_>>()),
        })?;
        let mut values: Vec<Option<f64>> = vec![None; descriptor.parameters.len()];
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (index, value) = assignment(descriptor, pair)?;
            if values[index].replace(value).is_some() {
                let name = descriptor.parameters[index].name;
                return Err(PolicyError::Twice { policy: descriptor.name, name });
            }
        }
        let defaults = descriptor.parameters.iter().map(|p| p.default);
        let values = values.into_iter().zip(defaults).map(|(v, d)| v.unwrap_or(d)).collect();
        Ok(PolicyChoice { descriptor, values })
    }

    /// A policy as a schedule file names it. One that does not come with raddle is taken at its word:
    /// the decisions are in the file, so that nobody asks the policy.
    pub fn from_recording(recorded: &PolicySettings) -> Result<PolicyChoice, PolicyError> {
        let name = recorded.name.as_str();
        if policies::find(name).is_none() {
            let descriptor = own_policies::recorded(recorded);
            return Ok(PolicyChoice { descriptor, values: recorded.values().to_vec() });
        }
        let pairs: Vec<_> = recorded.parameters().map(|(name, value)| format!("{name}={value}")).collect();
        PolicyChoice::parse(&format!("{name}:{}", pairs.join(",")))
    }

    /// Fills in what follows from the number of planned runs.
    pub fn resolved(mut self, runs: u64) -> PolicyChoice {
        parameters::resolve(self.descriptor.name, &mut self.values, runs);
        self
    }

    /// The parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.descriptor.parameters.iter().map(|p| p.name).zip(self.values.iter().copied())
    }

    /// As the settings of a run have it.
    pub fn settings(&self) -> PolicySettings {
        PolicySettings::new(self.descriptor.name, self.parameters())
    }
}

fn assignment(descriptor: &'static Descriptor, pair: &str) -> Result<(usize, f64), PolicyError> {
    let names: Vec<_> = descriptor.parameters.iter().map(|p| p.name).collect();
    let Some((name, value)) = pair.split_once('=') else {
        let example = descriptor.parameters.first().map(|p| format!("{}={}", p.name, shown(p, p.default)));
        return Err(match example {
            Some(example) => PolicyError::NoValue { policy: descriptor.name, text: pair.to_string(), example },
            None => unknown_parameter(descriptor, pair, &names),
        });
    };
    let index = names.iter().position(|n| *n == name);
    let index = index.ok_or_else(|| unknown_parameter(descriptor, name, &names))?;
    let parameter = &descriptor.parameters[index];
    let named = parameter.choices.iter().position(|choice| *choice == value).map(|index| index as f64);
    let number = named.or_else(|| value.parse().ok()).filter(|&number: &f64| {
        number >= parameter.min && number <= parameter.max && !(parameter.whole && number.fract() != 0.0)
    });
    let number = number.ok_or_else(|| PolicyError::Value {
        policy: descriptor.name,
        name: parameter.name,
        value: value.to_string(),
        expected: range(parameter),
    })?;
    Ok((index, number))
}

fn unknown_parameter(descriptor: &'static Descriptor, name: &str, names: &[&str]) -> PolicyError {
    PolicyError::UnknownParameter { policy: descriptor.name, name: name.to_string(), hint: suggest::hint(name, names) }
}

/// A parameter's range, in words.
pub fn range(parameter: &Parameter) -> String {
    if let [others @ .., last] = parameter.choices {
        return format!("{} or {last}", others.join(", "));
    }
    let what = if parameter.whole { "a whole number" } else { "a number" };
    format!("{what} from {} to {}", parameter.min, parameter.max)
}

/// A value of a parameter, as it is written on the command line.
pub fn shown(parameter: &Parameter, value: f64) -> String {
    match parameter.choices.get(value as usize) {
        Some(choice) => (*choice).to_string(),
        None => value.to_string(),
    }
}

impl fmt::Display for PolicyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.descriptor.name)?;
        let parameters = self.descriptor.parameters.iter().zip(&self.values).enumerate();
        // The first number is what a policy is known by.
        let known_by = |i: usize, parameter: &Parameter| i == 0 && parameter.choices.is_empty();
        let told = parameters.filter(|(i, (it, value))| known_by(*i, it) || **value != it.default);
        for (i, (_, (parameter, value))) in told.enumerate() {
            let separator = if i == 0 { ':' } else { ',' };
            write!(f, "{separator}{}={}", parameter.name, shown(parameter, *value))?;
        }
        Ok(())
    }
}

impl fmt::Debug for PolicyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyChoice({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        PolicyChoice::parse(text).expect_err("is wrong").to_string()
    }

    #[test]
    fn what_differs_from_the_defaults_is_shown() {
        let parsed = |text| PolicyChoice::parse(text).expect("is right").to_string();
        assert_eq!(parsed("pct"), "pct:d=3");
        assert_eq!(parsed("pct:k=7,draw=uniform"), "pct:d=3,k=7,draw=uniform");
        assert_eq!(parsed("random"), "random");
        assert_eq!(parsed("portfolio:shares=computed"), "portfolio");
        assert_eq!(parsed("portfolio:shares=even"), "portfolio:shares=even");
    }

    #[test]
    fn mistakes_get_a_suggestion() {
        assert_eq!(error("ptc"), "there is no policy `ptc`; did you mean `pct`? (`raddle policies` explains them)");
        assert_eq!(error("pct:dd=3"), "the policy `pct` has no parameter `dd`; did you mean `d`?");
        assert_eq!(error("random:d=3"), "the policy `random` has no parameter `d`; there are none");
        assert_eq!(error("pct:d"), "`d` is not a parameter of `pct`: expected key=value, such as `d=3`");
        assert_eq!(
            error("pct:d=0.5"),
            "invalid value `0.5` for `d` of the policy `pct`: expected a whole number from 0 to 64"
        );
        assert_eq!(error("pct:d=2,d=3"), "the parameter `d` of the policy `pct` is given twice");
    }
}
