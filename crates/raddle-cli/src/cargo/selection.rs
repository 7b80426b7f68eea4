//! Which tests of an executable are meant: filters and the options of Rust's test harness.

use std::collections::HashSet;
use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use super::recording::Recording;
use raddle_engine::each_test::arguments::{split, Arguments};
use raddle_engine::each_test::EachTestError;
use raddle_engine::os::ask::ask;

const LIMIT: Duration = Duration::from_secs(60);

/// The options whose value is the next argument.
const WITH_VALUE: &[&str] = &["--test-threads", "--skip", "--logfile", "--color", "--format", "--shuffle-seed", "-Z"];

/// Options that say how the harness runs and prints many tests. Here it runs one at a time, and we print.
const OF_MANY: &[&str] =
    &["--test-threads", "--format", "--color", "--logfile", "--shuffle", "--shuffle-seed", "--quiet", "-q", "--test"];

/// What the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Filters, `--exact` and `--skip`, as the harness reads them.
    by_name: Vec<OsString>,
    ignored: Ignored,
    /// Whether only the names are wanted.
    pub list: bool,
    /// Whose output is shown.
    pub shows: Shows,
    /// What else the harness was told.
    rest: Vec<OsString>,
}

/// Of which tests the output of a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// Of those that fail, in their reports.
    #[default]
    Failures,
    /// Of all, before their lines: `--nocapture`.
    All,
    /// Of all, those that pass in a list of their own: `--show-output`.
    Successes,
}

/// What becomes of tests with `#[ignore]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ignored {
    #[default]
    LeftOut,
    Only,
    Too,
}

/// The tests of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Those that are meant.
    pub selected: Vec<String>,
    /// Those that would be meant, but are to be ignored.
    pub ignored: Vec<String>,
    /// How many there are besides.
    pub filtered_out: usize,
}

impl Tests {
    /// All that there are.
    pub fn count(&self) -> usize {
        self.selected.len() + self.ignored.len() + self.filtered_out
    }

    /// Those that the harness would print a line for, in its order.
    pub fn shown(&self) -> Vec<(&str, bool)> {
        let mut all: Vec<_> = self.selected.iter().map(|name| (name.as_str(), true)).collect();
        all.extend(self.ignored.iter().map(|name| (name.as_str(), false)));
        all.sort_by_key(|&(name, _)| name);
        all
    }
}

impl Selection {
    /// From the filters before the dashes and the arguments after them.
    pub fn new(filters: &[String], harness: &[OsString]) -> Selection {
        let Arguments { options, selections } = split(harness, WITH_VALUE);
        let asked = std::env::var_os("RUST_TEST_NOCAPTURE").is_some_and(|value| value != "0");
        let mut selection =
            Selection { shows: if asked { Shows::All } else { Shows::Failures }, ..Selection::default() };
        selection.by_name.extend(filters.iter().map(OsString::from).chain(selections));
        let mut options = options.into_iter();
        while let Some(option) = options.next() {
            let text = option.to_string_lossy().into_owned();
            let (name, has_value) = text.split_once('=').map_or((text.as_str(), false), |(name, _)| (name, true));
            let value = if WITH_VALUE.contains(&name) && !has_value { options.next() } else { None };
            match name {
                "--exact" => selection.by_name.push(option),
                "--skip" => selection.by_name.extend([Some(option), value].into_iter().flatten()),
                "--ignored" => selection.ignored = Ignored::Only,
                "--include-ignored" => selection.ignored = Ignored::Too,
                "--list" => selection.list = true,
                "--nocapture" | "--no-capture" => selection.shows = Shows::All,
                "--show-output" => selection.shows = Shows::Successes,
                _ if OF_MANY.contains(&name) => {}
                _ => selection.rest.extend([Some(option), value].into_iter().flatten()),
            }
        }
        selection
    }

    /// The tests of an executable, which is asked for their names.
    pub fn of(&self, executable: &Recording) -> Result<Tests, EachTestError> {
        let matching = list(executable, &self.by_name, &[])?;
        let all = if self.by_name.is_empty() { matching.len() } else { list(executable, &[], &[])?.len() };
        // The harness lists those to be ignored among the others, unmarked.
        let to_ignore = list(executable, &self.by_name, &["--ignored"])?;
        let filtered_out = all.saturating_sub(matching.len());
        Ok(match self.ignored {
            Ignored::Too => Tests { selected: matching, ignored: Vec::new(), filtered_out },
            Ignored::Only => {
                Tests { filtered_out: all.saturating_sub(to_ignore.len()), selected: to_ignore, ignored: Vec::new() }
            }
            Ignored::LeftOut => {
                let names: HashSet<_> = to_ignore.iter().collect();
                let selected = matching.into_iter().filter(|name| !names.contains(name)).collect();
                Tests { selected, ignored: to_ignore, filtered_out }
            }
        })
    }

    /// The arguments that make an executable run one test: in the only way that needs one thread besides the main
    /// one, and without taking the message of a failure away from us.
    pub fn arguments(&self, test: &str) -> Vec<OsString> {
        let mut arguments = self.rest.clone();
        if self.ignored != Ignored::LeftOut {
            arguments.push("--include-ignored".into());
        }
        arguments.extend(["--exact", "--test-threads=1", "--nocapture", test].map(OsString::from));
        arguments
    }
}

fn list(executable: &Recording, by_name: &[OsString], options: &[&str]) -> Result<Vec<String>, EachTestError> {
    let path = &executable.program;
    let words = ["--list", "--format", "terse"];
    let mut command = Command::new(path);
    command.args(by_name).args(options).args(words).current_dir(&executable.directory).envs(executable.additions());
    let answer = ask(&mut command, LIMIT).map_err(|source| EachTestError::NotStarted { path: path.clone(), source })?;
    let asked = words.join(" ");
    match answer.status {
        None => Err(EachTestError::Slow { path: path.clone(), options: asked, limit: LIMIT }),
        Some(status) if !status.success() => {
            Err(EachTestError::Failed { path: path.clone(), options: asked, status, message: answer.message() })
        }
        Some(_) => {
            Ok(answer.output.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(filters: &[&str], harness: &[&str]) -> Selection {
        let filters: Vec<_> = filters.iter().map(|f| (*f).to_string()).collect();
        Selection::new(&filters, &harness.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_told_from_what_does_not_choose() {
        let found = selection(&["bank"], &["--nocapture", "--skip", "slow", "--test-threads", "8", "more", "--exact"]);
        assert_eq!(found.by_name, ["bank", "more", "--skip", "slow", "--exact"]);
        assert_eq!(found.arguments("bank::a"), ["--exact", "--test-threads=1", "--nocapture", "bank::a"]);
        assert!(selection(&[], &["--list"]).list);
        assert_eq!(found.shows, Shows::All);
        assert_eq!(selection(&[], &["--show-output"]).shows, Shows::Successes);
    }

    #[test]
    fn the_rest_goes_to_the_harness() {
        let found = selection(&[], &["-Z", "unstable-options", "--report-time", "--ignored", "--format=pretty"]);
        let all = ["-Z", "unstable-options", "--report-time", "--include-ignored"];
        assert_eq!(found.arguments("a"), [&all[..], &["--exact", "--test-threads=1", "--nocapture", "a"]].concat());
    }

    #[test]
    fn ignored_tests_have_their_place_among_the_others() {
        let tests = Tests { selected: vec!["a".into(), "c".into()], ignored: vec!["b".into()], filtered_out: 2 };
        assert_eq!(tests.shown(), [("a", true), ("b", false), ("c", true)]);
        assert_eq!(tests.count(), 5);
    }
}
