//! Commands for a person to copy.

use std::ffi::OsStr;
use std::path::Path;

use raddle_core::decorators::guard;
use raddle_core::policies;
use raddle_engine::plan::{Plan, Switch};
use raddle_protocol::{Heap, RunSettings, Setting};

/// The command that replays a schedule file.
pub fn replay(schedule: &Path) -> String {
    format!("raddle replay {}", quoted(schedule.as_os_str()))
}

/// What a reader looks for first.
const FIRST: [Setting; 2] = [Setting::Policy, Setting::Seed];

/// The command that explores up to a run again, for when there is no schedule file.
pub fn explore_again(plan: &Plan, run: u64) -> String {
    let mut words = vec!["raddle test".to_string()];
    words.extend(FIRST.iter().filter_map(|setting| option(*setting, plan)));
    words.push(format!("--runs {run}"));
    let others = Setting::ALL.iter().filter(|setting| !FIRST.contains(setting));
    words.extend(others.filter_map(|setting| option(*setting, plan)));
    if policies::find(plan.policy.descriptor.name).is_none() {
        words.push(format!("--runtime {}", quoted(plan.target.runtime.as_os_str())));
    }
    if let Some(path) = plan.benign.as_ref().and_then(|benign| benign.path.as_deref()) {
        words.push(format!("--suppressions {}", quoted(path.as_os_str())));
    }
    if plan.exec {
        words.push("--exec".to_string());
    }
    if plan.switch == Switch::Os {
        words.push("--switch os".to_string());
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
    if let Some(signal) = plan.expect.signal {
        words.push(format!("--expect-signal {signal}"));
    }
    if let Some((path, _)) = &plan.expect.output {
        words.push(format!("--expect-output {}", quoted(path.as_os_str())));
    }
    if let Some(command) = &plan.expect.oracle {
        words.push(format!("--check {}", quoted(command)));
    }
    words.push("--".to_string());
    words.extend(plan.target.command.iter().map(|word| quoted(word)));
    words.join(" ")
}

/// The option that asks for a setting; `None` when the default does.
fn option(setting: Setting, plan: &Plan) -> Option<String> {
    let settings = &plan.settings;
    match setting {
        // With what follows from the number of runs, which is another one here.
        Setting::Policy => Some(format!("--policy {}", plan.resolved_policy())),
        Setting::Guard if settings.guard == guard::Settings::OFF => Some("--no-guard".to_string()),
        Setting::Guard => (settings.guard != guard::Settings::DEFAULT)
            .then(|| format!("--guard {}", settings.guard.override_probability)),
        Setting::Seed => Some(format!("--seed {}", settings.seed)),
        // The default depends on the program.
        Setting::Points => Some(format!("--points {}", settings.points.name())),
        Setting::FailOnRace => settings.fail_on_race.then(|| "--fail-on race".to_string()),
        Setting::Cpus => (settings.cpus != RunSettings::CPUS).then(|| format!("--cpus {}", settings.cpus)),
        // A campaign takes the time of its start; nothing asks for another one.
        Setting::Realtime => None,
        Setting::MaxSteps => {
            (settings.max_steps != RunSettings::MAX_STEPS).then(|| format!("--max-steps {}", settings.max_steps))
        }
        Setting::Yields => (settings.yields != RunSettings::YIELDS).then(|| format!("--yields {}", settings.yields)),
        Setting::Lag => (settings.lag != RunSettings::LAG).then(|| format!("--lag {}", settings.lag)),
        Setting::Dispatch => (!settings.dispatch).then(|| "--no-dispatch".to_string()),
        Setting::Heap => (settings.heap != Heap::Mixed).then(|| format!("--heap {}", settings.heap.name())),
    }
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
