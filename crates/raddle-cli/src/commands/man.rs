//! `raddle man`: the manual, as one page to print or as a page for each command.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::{print, write_files};
use crate::arguments::{self, Cli};
use crate::error::Error;
use raddle_report::exit_code;

/// Prints the manual page: raddle itself, then each command. With a folder, writes a page for each command.
pub fn run(args: &arguments::Man) -> Result<u8, Error> {
    match &args.out {
        Some(folder) => write_files(folder, pages().map_err(|source| failed(folder, source))?)?,
        None => print(&manual().map_err(|source| failed(Path::new("-"), source))?),
    }
    Ok(exit_code::OK)
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Write { path: PathBuf::from(path), source }
}

/// The pages of all commands, by the names of their files.
fn pages() -> io::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    // The page of `cargo raddle` is looked for under the name of the binary.
    for command in
        [Cli::command(), crate::arguments::cargo::command().name("cargo-raddle").display_name("cargo-raddle")]
    {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        pages.push(page(&command)?);
        for sub in command.get_subcommands() {
            pages.push(page(sub)?);
        }
    }
    Ok(pages)
}

fn page(command: &Command) -> io::Result<(String, String)> {
    let man = Man::new(command.clone()).source(concat!("raddle ", env!("CARGO_PKG_VERSION"))).manual("raddle");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), String::from_utf8_lossy(&text).into_owned()))
}

fn manual() -> io::Result<String> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let man = Man::new(sub.clone());
        let mut options = Vec::new();
        man.render_synopsis_section(&mut options)?;
        man.render_description_section(&mut options)?;
        man.render_options_section(&mut options)?;
        // Within one page the sections of a command are sub-sections.
        let name = sub.get_name().to_uppercase();
        let options = String::from_utf8_lossy(&options).replace(".SH ", ".SS ");
        page.extend_from_slice(format!(".SH \"RADDLE {name}\"\n{options}").as_bytes());
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_names_every_option_of_test() {
        let page = manual().expect("rendered");
        for option in ["policy", "runs", "seed", "keep\\-going", "expect\\-output"] {
            assert!(page.contains(option), "{option} is missing");
        }
        assert!(page.contains(".SH \"RADDLE REPLAY\""));
    }

    #[test]
    fn each_command_has_a_page() {
        let pages = pages().expect("rendered");
        let page = |name: &str| match pages.iter().find(|(known, _)| known == name) {
            Some((_, text)) => text.clone(),
            None => panic!("{name} is missing: {:?}", pages.iter().map(|(name, _)| name).collect::<Vec<_>>()),
        };
        assert!(page("raddle.1").contains("raddle\\-test(1)"), "{}", page("raddle.1"));
        assert!(page("raddle-test.1").contains("expect\\-output"));
        assert!(page("raddle-c++.1").contains("raddle c++"));
        assert!(page("cargo-raddle.1").contains("cargo\\-raddle\\-test(1)"), "{}", page("cargo-raddle.1"));
        let test = page("cargo-raddle-test.1");
        assert!(test.contains("cargo raddle test") && test.contains("no\\-fail\\-fast"), "{test}");
        // What is hidden from the help of `cargo raddle test` is hidden here.
        assert!(!test.contains("each\\-test"));
    }
}
