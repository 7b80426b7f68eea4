//! raddle.toml: a project's defaults for the options of `raddle test`.
//!
//! The file is looked for in the current directory and its parents. Its section `[test]` has the
//! long names of the options as keys; the command line wins. Paths are relative to the file.
//!
//! ```toml
//! [test]
//! policy = "pct:d=4"
//! runs = 5000
//! sync-function = ["commit", "rollback"]
//! ```

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::TestOptions;
use crate::suggest;

/// The name of the project file.
pub const FILE_NAME: &str = "raddle.toml";

/// What can be wrong with a project file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is there but cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not TOML, or a value has the wrong type.
    #[error("{path} is wrong: {message}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// A section other than `[test]`.
    #[error("{path} has an unknown section or key `{key}`; {hint}")]
    UnknownSection {
        /// The file.
        path: PathBuf,
        /// The name.
        key: String,
        /// What may have been meant.
        hint: String,
    },
    /// A key that is no option of `raddle test`.
    #[error("{path} has an unknown key `{key}` in [test]; {hint}")]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The name.
        key: String,
        /// What may have been meant.
        hint: String,
    },
}

/// The defaults for a directory: from the nearest project file, or none at all.
pub fn defaults(directory: &Path) -> Result<TestOptions, ConfigError> {
    let Some(path) = directory.ancestors().map(|d| d.join(FILE_NAME)).find(|p| p.is_file()) else {
        return Ok(TestOptions::default());
    };
    let text =
        std::fs::read_to_string(&path).map_err(|source| ConfigError::Unreadable { path: path.clone(), source })?;
    parse(&path, &text)
}

fn parse(path: &Path, text: &str) -> Result<TestOptions, ConfigError> {
    let syntax = |error: toml::de::Error| ConfigError::Syntax {
        path: path.to_path_buf(),
        message: error.to_string().trim_end().to_string(),
    };
    let table: toml::Table = text.parse().map_err(syntax)?;
    check_keys(path, &table)?;

    #[derive(serde::Deserialize)]
    struct File {
        #[serde(default)]
        test: TestOptions,
    }
    let File { mut test } = toml::from_str(text).map_err(syntax)?;
    let base = path.parent().unwrap_or(Path::new("."));
    for file in [&mut test.out, &mut test.expect_output, &mut test.runtime] {
        *file = file.take().map(|file| base.join(file));
    }
    test.json = test.json.map(|file| if file.as_os_str() == "-" { file } else { base.join(file) });
    Ok(test)
}

fn check_keys(path: &Path, table: &toml::Table) -> Result<(), ConfigError> {
    if let Some(key) = table.keys().find(|key| *key != "test") {
        return Err(ConfigError::UnknownSection {
            path: path.to_path_buf(),
            key: key.clone(),
            hint: suggest::hint(key, &["test"]),
        });
    }
    let Some(toml::Value::Table(section)) = table.get("test") else {
        return Ok(());
    };
    let command = TestOptions::augment_args(clap::Command::new("test"));
    let known: Vec<&str> = command.get_arguments().filter_map(|a| a.get_long()).collect();
    match section.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ConfigError::UnknownKey {
            path: path.to_path_buf(),
            key: key.clone(),
            hint: suggest::hint(key, &known),
        }),
    }
}

impl TestOptions {
    /// These options, with defaults for what they leave open.
    pub fn or(self, defaults: TestOptions) -> TestOptions {
        // A guard setting on the command line replaces the project's as a whole.
        let guard_given = self.guard.is_some() || self.no_guard;
        TestOptions {
            policy: self.policy.or(defaults.policy),
            runs: self.runs.or(defaults.runs),
            seed: self.seed.or(defaults.seed),
            points: self.points.or(defaults.points),
            fail_on: self.fail_on.or(defaults.fail_on),
            suppressions: self.suppressions.or(defaults.suppressions),
            jobs: self.jobs.or(defaults.jobs),
            time: self.time.or(defaults.time),
            run_timeout: self.run_timeout.or(defaults.run_timeout),
            max_steps: self.max_steps.or(defaults.max_steps),
            yields: self.yields.or(defaults.yields),
            coverage: self.coverage.or(defaults.coverage),
            out: self.out.or(defaults.out),
            json: self.json.or(defaults.json),
            quiet: self.quiet || defaults.quiet,
            verbose: self.verbose || defaults.verbose,
            keep_going: self.keep_going || defaults.keep_going,
            exec: self.exec || defaults.exec,
            switch: self.switch.or(defaults.switch),
            expect_exit: self.expect_exit.or(defaults.expect_exit),
            expect_output: self.expect_output.or(defaults.expect_output),
            check: self.check.or(defaults.check),
            guard: if guard_given { self.guard } else { defaults.guard },
            no_guard: if guard_given { self.no_guard } else { defaults.no_guard },
            sync_function: [defaults.sync_function, self.sync_function].concat(),
            cpus: self.cpus.or(defaults.cpus),
            env: [defaults.env, self.env].concat(),
            own_cwd: self.own_cwd || defaults.own_cwd,
            each_test: self.each_test || defaults.each_test,
            no_dispatch: self.no_dispatch || defaults.no_dispatch,
            runtime: self.runtime.or(defaults.runtime),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TestOptions, ConfigError> {
        parse(Path::new("/project/raddle.toml"), text)
    }

    #[test]
    fn keys_are_the_long_options() {
        let options =
            read("[test]\npolicy = \"random\"\nrun-timeout = 2.5\nkeep-going = true\nout = \"found\"\njson = \"-\"\n");
        let expected = TestOptions {
            policy: Some("random".into()),
            run_timeout: Some(2.5),
            keep_going: true,
            out: Some("/project/found".into()),
            json: Some("-".into()),
            ..TestOptions::default()
        };
        assert_eq!(options.expect("is right"), expected);
    }

    #[test]
    fn every_option_can_be_set() {
        let command = TestOptions::augment_args(clap::Command::new("test"));
        for option in command.get_arguments().filter_map(|a| a.get_long()) {
            let accepted = ["1", "1.5", "true", "\"text\"", "[\"text\"]"].iter().any(
                |value| matches!(read(&format!("[test]\n{option} = {value}")), Ok(o) if o != TestOptions::default()),
            );
            assert!(accepted, "{option} cannot be set");
        }
    }

    #[test]
    fn unknown_keys_get_a_suggestion() {
        let message = |text| read(text).expect_err("is wrong").to_string();
        assert_eq!(
            message("[test]\npolcy = \"pct\""),
            "/project/raddle.toml has an unknown key `polcy` in [test]; did you mean `policy`?"
        );
        assert_eq!(
            message("[tests]\nruns = 1"),
            "/project/raddle.toml has an unknown section or key `tests`; did you mean `test`?"
        );
    }

    #[test]
    fn wrong_types_name_the_line() {
        let message = read("[test]\nruns = \"many\"").expect_err("is wrong").to_string();
        assert!(message.contains("line 2"), "{message}");
    }

    #[test]
    fn the_command_line_wins() {
        let given = TestOptions { runs: Some(5), no_guard: true, ..TestOptions::default() };
        let file = TestOptions { runs: Some(7), jobs: Some(2), guard: Some(0.5), ..TestOptions::default() };
        let merged = given.or(file);
        assert_eq!((merged.runs, merged.jobs), (Some(5), Some(2)));
        assert_eq!((merged.guard, merged.no_guard), (None, true));
    }
}
