//! The library as it is used, and files in folders of all kinds.

mod folder;
mod header;
mod origin;
mod use_of_the_library;

use std::path::PathBuf;
use std::process::{Command, Output};

use rustix::process::geteuid;

use crate::folder::Folder;
use crate::{Image, Library};

/// A library that takes no time to compare.
const SMALL: Image = Image { name: "libraddle_runtime", hash: "0123456789abcdef", bytes: b"not really a library" };

fn file_in(image: &Image, folder: PathBuf) -> Library {
    image.file_in(&[Folder::at(folder)], geteuid()).expect("there is always memory")
}

/// This program again, to make only one test. The test looks for the variable, and does nothing without it.
fn again(test: &str, variable: (&str, &std::path::Path)) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "--nocapture", test]).env(variable.0, variable.1);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}
