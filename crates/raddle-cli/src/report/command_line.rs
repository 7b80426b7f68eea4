//! Commands for a person to copy.

use std::ffi::OsStr;
use std::path::Path;

use raddle_core::decorators::guard;
use raddle_core::policies;

use crate::campaign::plan::Plan;
use crate::options::{DEFAULT_CPUS, DEFAULT_MAX_STEPS, DEFAULT_YIELDS};

/// The command that replays a schedule file.
pub fn replay(schedule: &Path) -> String {
    format!("raddle replay {}", quoted(schedule.as_os_str()))
}

/// The command that explores up to a run again, for when there is no schedule file.
pub fn explore_again(plan: &Plan, run: u64) -> String {
    let mut words = vec![
        "raddle test".to_string(),
        format!("--policy {}", plan.policy),
        format!("--seed {}", plan.seed),
        format!("--runs {run}"),
    ];
    if policies::find(plan.policy.descriptor.name).is_none() {
        words.push(format!("--runtime {}", quoted(plan.target.runtime.as_os_str())));
    }
    if plan.guard == guard::Settings::OFF {
        words.push("--no-guard".to_string());
    } else if plan.guard != guard::Settings::DEFAULT {
        words.push(format!("--guard {}", plan.guard.override_probability));
    }
    if plan.max_steps != DEFAULT_MAX_STEPS {
        words.push(format!("--max-steps {}", plan.max_steps));
    }
    if plan.yields != DEFAULT_YIELDS {
        words.push(format!("--yields {}", plan.yields));
    }
    if plan.cpus != DEFAULT_CPUS {
        words.push(format!("--cpus {}", plan.cpus));
    }
    if !plan.dispatch {
        words.push("--no-dispatch".to_string());
    }
    if plan.target.own_directory {
        words.push("--own-cwd".to_string());
    }
    let added = plan.target.added.iter().map(|(name, value)| format!("{name}={value}"));
    words.extend(added.map(|assignment| format!("--env {}", quoted(OsStr::new(&assignment)))));
    words.extend(plan.sync_functions.names.iter().map(|f| format!("--sync-function {}", quoted(OsStr::new(f)))));
    if plan.expect.exit != 0 {
        words.push(format!("--expect-exit {}", plan.expect.exit));
    }
    if let Some((path, _)) = &plan.expect.output {
        words.push(format!("--expect-output {}", quoted(path.as_os_str())));
    }
    if let Some(command) = &plan.expect.check {
        words.push(format!("--check {}", quoted(command)));
    }
    words.push("--".to_string());
    words.extend(plan.target.command.iter().map(|word| quoted(word)));
    words.join(" ")
}

/// A word as a shell reads it.
pub fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        let q = |text: &str| quoted(OsStr::new(text));
        assert_eq!(q("./prog"), "./prog");
        assert_eq!(q(""), "''");
        assert_eq!(q("two words"), "'two words'");
        assert_eq!(q("it's $HOME"), r"'it'\''s $HOME'");
    }
}
