//! `cargo raddle run`: explores a program as `raddle test` does.

use super::build::{status, succeeded, Cargo};
use super::error::CargoError;
use super::recording;
use crate::arguments::cargo as args;
use crate::arguments::{Test, TestOptions};
use crate::commands;
use crate::error::Error;

pub fn run(args: &args::Run) -> Result<u8, CargoError> {
    let cargo = Cargo::prepare(&args.packages, args.visibility.visible(&args.options))?;
    let folder = tempfile::tempdir().map_err(Error::Directory)?;
    let mut command = cargo.command("run", &args.packages)?;
    let mut words = args::Words::default();
    words.value("--bin", &args.bin).value("--example", &args.example);
    words.flag("--quiet", args.options.quiet).flag("--verbose", args.options.verbose);
    command.args(words.0);
    cargo.record(&mut command, folder.path());
    command.arg("--").args(&args.arguments);
    succeeded(status(&mut command)?)?;
    let recordings = recording::read(folder.path())?;
    let Some(recording) = recordings.first() else {
        return Err(CargoError::NotRecorded { program: "the program".to_string(), said: String::new() });
    };
    let options = with_variables(args.options.clone(), recording.additions());
    let program = recording.program.clone().into_os_string();
    let command = std::iter::once(program).chain(recording.arguments.clone()).collect();
    Ok(commands::test::run(&Test { options, dry_run: args.dry_run, command })?)
}

/// Options with more variables; those of the user win.
pub fn with_variables(mut options: TestOptions, variables: Vec<(String, String)>) -> TestOptions {
    let more = variables.into_iter().map(|(name, value)| format!("{name}={value}"));
    options.run.env = more.chain(options.run.env).collect();
    options
}
