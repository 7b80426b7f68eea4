//! The raddle command line: campaigns, replay, reports.
//!
//! `main` is thin: it hands the words of the command line to [`run`], which gives the exit status.

pub mod args;
pub mod ask;
pub mod campaign;
pub mod cargo;
pub mod commands;
pub mod config;
pub mod dynamic_symbols;
pub mod environment;
pub mod error;
pub mod exit_code;
pub mod inspect;
pub mod options;
pub mod own_policies;
pub mod policy_choice;
pub mod report;
pub mod runtime_library;
pub mod suggest;
pub mod sync_functions;
pub mod sys;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::Parser;

use args::{Cli, Command};
use error::Error;

/// Runs a command line and returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // When even the message cannot be printed, the status still says it.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => exit_code::OK,
                _ => exit_code::USAGE,
            };
        }
    };
    match execute(&cli.command) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("{} {error}", console::style("error:").for_stderr().red().bold());
            error.exit_code()
        }
    }
}

fn execute(command: &Command) -> Result<u8, Error> {
    match command {
        Command::Test(args) => commands::test::run(args),
        Command::Replay(args) => commands::replay::run(args),
        Command::Bundle(args) => Ok(commands::bundle::run(args)?),
        Command::Policies(args) => commands::policies::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man => commands::completions::man(),
    }
}
