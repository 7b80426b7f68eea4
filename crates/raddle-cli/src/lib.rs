//! The raddle command line: arguments, commands and text. What it does, the engine does.
//!
//! `main` is thin: it hands the words of the command line to [`run`], which gives the exit status.
//!
//! | module | one idea |
//! |---|---|
//! | `arguments` | the command line and the project file, and what they come to |
//! | `commands` | the commands, one file each |
//! | `display` | what a person sees while a campaign goes on |
//! | `text` | what a person reads when it is over |
//! | `compare` | policies side by side |
//! | `compile` | `raddle cc` and `raddle c++` |
//! | `cargo` | `cargo raddle` |

pub mod arguments;
pub mod cargo;
pub mod commands;
pub mod compare;
mod compile;
pub mod display;
pub mod error;
mod text;

pub use text::command_line::explore_again;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::Parser;

use arguments::{Cli, Command};
use compile::compiler::Driver;
use error::Error;
use raddle_report::exit_code;
use text::screen::print_error;

/// Runs a command line and returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some((driver, words)) = commands::compile::asked_for(&arguments) {
        return status_of(commands::compile::run(driver, words));
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error),
    };
    status_of(execute(&cli.command))
}

/// Prints what is wrong with a command line, or the help that was asked for; returns the exit status.
fn not_understood(error: &clap::Error) -> u8 {
    // When even the message cannot be printed, the status still says it.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => exit_code::OK,
        _ => exit_code::USAGE,
    }
}

fn status_of(result: Result<u8, Error>) -> u8 {
    let status = result.unwrap_or_else(|error| {
        print_error(&error);
        error.exit_code()
    });
    unless_interrupted(status)
}

/// The exit status of a command: this one, unless a signal asked it to stop. What was cut off has not passed, and a
/// shell or a CI system is to see that it was stopped.
pub fn unless_interrupted(status: u8) -> u8 {
    display::interrupt::status().unwrap_or(status)
}

fn execute(command: &Command) -> Result<u8, Error> {
    match command {
        Command::Test(args) => commands::test::run(args),
        Command::Replay(args) => commands::replay::run(args),
        Command::Compare(args) => commands::compare::run(args),
        Command::Cc(args) => commands::compile::run(Driver::C, &args.arguments),
        Command::Cxx(args) => commands::compile::run(Driver::Cxx, &args.arguments),
        Command::Bundle(args) => commands::bundle::run(args),
        Command::Policies(args) => commands::policies::run(args),
        Command::Doctor(args) => commands::doctor::run(args),
        Command::Header(args) => commands::header::run(args),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::man::run(args),
    }
}
