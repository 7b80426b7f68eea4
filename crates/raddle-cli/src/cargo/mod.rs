//! `cargo raddle`: builds a project so that raddle sees its atomics or all of its memory, and explores its tests
//! and programs.
//!
//! The binary has three lives. The user's cargo starts it with `raddle` as its first word: then it is a
//! command (`build`, `run`, `test`). Commands start cargo with this same file as RUSTC_WRAPPER, so that it
//! meets every call of the compiler (`wrapper`), and as the runner of the target, so that cargo itself says in
//! which directory and environment it would start a program (`recording`).

mod artifacts;
mod build;
mod doctests;
mod error;
mod explore;
mod junit;
mod linker;
mod outcome;
mod output;
mod pool;
mod recording;
mod run;
mod selection;
mod test;
mod users_wrapper;
mod wrapper;

use std::ffi::OsString;

use clap::FromArgMatches;

use crate::arguments::cargo::{command, Cli, Command};
use crate::text::screen::print_error;
use error::CargoError;

/// Runs a command line and returns the exit status.
pub fn run(arguments: Vec<OsString>) -> u8 {
    let first = arguments.get(1);
    if first.is_some_and(|word| word == recording::WORD) {
        return recording::record(&arguments[2..]);
    }
    let is_command = first.is_some_and(|word| word == "raddle");
    if let Some(settings) = wrapper::settings().filter(|_| !is_command) {
        return wrapper::run(&settings, &arguments[1..]);
    }
    // Started by hand, without cargo in front, the first word is missing.
    let words = arguments.iter().take(1).chain(arguments.iter().skip(if is_command { 2 } else { 1 }));
    let cli = match command().try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return crate::not_understood(&error),
    };
    let result = match &cli.command {
        Command::Test(args) => test::run(args),
        Command::Run(args) => run::run(args),
        Command::Build(args) => build::run(args),
    };
    let status = result.unwrap_or_else(|error| {
        match &error {
            // Cargo has said why.
            CargoError::Cargo(_) => {}
            error => print_error(error),
        }
        error.exit_code()
    });
    crate::unless_interrupted(status)
}
