//! The policies that are compared: `--policies A,B:d=2,…`.

use std::path::Path;

use raddle_core::policies;

use raddle_engine::options;
use raddle_engine::plan::policy_choice::PolicyChoice;

/// A value that stands for the depth of a program's bug.
const DEPTH: &str = "=depth";

/// A policy to be compared, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The text; `=depth` in it stands for the depth that a program's header names.
    pub text: String,
}

impl Wanted {
    /// The policy for a program with a bug of this depth.
    pub fn choice(&self, depth: Option<u32>, runtime: Option<&Path>) -> Result<PolicyChoice, raddle_engine::Error> {
        // Who has no depth to go by looks for the usual one.
        let depth = depth.unwrap_or(2);
        options::policy(&self.text.replace(DEPTH, &format!("={depth}")), runtime)
    }
}

/// Splits lists of policies. A semicolon always separates; a comma does not when a parameter follows it.
pub fn split(lists: &[String]) -> Vec<Wanted> {
    let mut all: Vec<String> = Vec::new();
    for part in lists.iter().flat_map(|list| list.split(';')) {
        let mut fresh = true;
        for piece in part.split(',').map(str::trim) {
            let continues = !fresh && piece.contains('=') && !piece.split('=').next().unwrap_or("").contains(':');
            match all.last_mut() {
                Some(policy) if continues => {
                    // The first parameter may have been written with a comma, too.
                    policy.push(if policy.contains(':') { ',' } else { ':' });
                    policy.push_str(piece);
                }
                _ if piece.is_empty() => {}
                _ => {
                    all.push(piece.to_string());
                    fresh = false;
                }
            }
        }
    }
    let mut unique: Vec<Wanted> = Vec::new();
    for text in all {
        if !unique.iter().any(|wanted| wanted.text == text) {
            unique.push(Wanted { text });
        }
    }
    unique
}

/// All that come with raddle.
pub fn all() -> Vec<Wanted> {
    policies::ALL.iter().map(|policy| Wanted { text: policy.name.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lists: &[&str]) -> Vec<String> {
        let lists: Vec<String> = lists.iter().map(|list| list.to_string()).collect();
        split(&lists).into_iter().map(|wanted| wanted.text).collect()
    }

    #[test]
    fn commas_separate_policies_and_parameters() {
        assert_eq!(texts(&["random,pct"]), ["random", "pct"]);
        assert_eq!(texts(&["pct:d=2,k=7,random", "stride:ratio=3.4"]), ["pct:d=2,k=7", "random", "stride:ratio=3.4"]);
        assert_eq!(texts(&["pct:d=2;pct:d=3,k=9; random ,pct:d=2"]), ["pct:d=2", "pct:d=3,k=9", "random"]);
        assert_eq!(texts(&["", ",;,"]), [""; 0]);
        assert_eq!(texts(&["d=2,pct"]), ["d=2", "pct"]);
    }

    #[test]
    fn the_depth_comes_from_the_program() {
        let wanted = Wanted { text: "pct:d=depth".into() };
        assert_eq!(wanted.choice(Some(4), None).expect("pct").values[0], 4.0);
        assert_eq!(wanted.choice(None, None).expect("pct").values[0], 2.0);
    }
}
