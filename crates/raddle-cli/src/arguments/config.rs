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

use super::TestOptions;
use raddle_engine::plan::suggest;

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
    for file in [&mut test.out, &mut test.expect_output, &mut test.run.process.runtime] {
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

#[cfg(test)]
mod tests {
    use super::super::{ProcessOptions, RunOptions};
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
            run: RunOptions {
                process: ProcessOptions { run_timeout: Some(2.5), ..ProcessOptions::default() },
                ..RunOptions::default()
            },
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
        let run = RunOptions { no_guard: true, ..RunOptions::default() };
        let given = TestOptions { runs: Some(5), run, ..TestOptions::default() };
        let run = RunOptions { jobs: Some(2), guard: Some(0.5), ..RunOptions::default() };
        let merged = given.or(TestOptions { runs: Some(7), run, ..TestOptions::default() });
        assert_eq!((merged.runs, merged.run.jobs), (Some(5), Some(2)));
        assert_eq!((merged.run.guard, merged.run.no_guard), (None, true));
    }
}
