//! `raddle completions`: scripts with which shells complete command lines.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::{Generator, Shell};

use super::{print, write_files};
use crate::arguments::{self, Cli};
use crate::error::Error;
use raddle_report::exit_code;

/// Prints a completion script, or writes those of both binaries to a folder.
pub fn run(args: &arguments::Completions) -> Result<u8, Error> {
    match &args.out {
        Some(folder) => write(args.shell, folder)?,
        None => print(&script(args.shell, Cli::command(), "raddle")),
    }
    Ok(exit_code::OK)
}

fn write(shell: Shell, folder: &Path) -> Result<(), Error> {
    let binaries = [("raddle", Cli::command()), ("cargo-raddle", cargo())];
    let files = binaries.map(|(binary, command)| (file_name(shell, binary), script(shell, command, binary)));
    write_files(folder, files)
}

/// The binary `cargo-raddle` as it is called without cargo: shells complete the words after the name of a binary.
fn cargo() -> Command {
    crate::arguments::cargo::command().name("cargo-raddle").bin_name("cargo-raddle")
}

fn script(shell: Shell, mut command: Command, binary: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, binary, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The name under which a shell looks for the script of a binary.
fn file_name(shell: Shell, binary: &str) -> String {
    match shell {
        // Older releases of bash-completion know no ending.
        Shell::Bash => binary.to_string(),
        _ => shell.file_name(binary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_named_as_shells_expect() {
        let names = |shell| ["raddle", "cargo-raddle"].map(|binary| file_name(shell, binary));
        assert_eq!(names(Shell::Bash), ["raddle", "cargo-raddle"]);
        assert_eq!(names(Shell::Zsh), ["_raddle", "_cargo-raddle"]);
        assert_eq!(names(Shell::Fish), ["raddle.fish", "cargo-raddle.fish"]);
    }

    #[test]
    fn both_binaries_are_completed() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("new/folder");
        write(Shell::Bash, &out).expect("written");
        let text = |name: &str| std::fs::read_to_string(out.join(name)).expect("a script");
        assert!(text("raddle").contains("--keep-going") && text("raddle").contains(" raddle\n"));
        assert!(text("cargo-raddle").contains("--no-fail-fast") && text("cargo-raddle").contains(" cargo-raddle\n"));
    }
}
