//! `raddle completions` and `raddle man`: what packagers install beside the binary.

use std::io;
use std::path::PathBuf;

use clap::CommandFactory;

use super::print;
use crate::arguments::{self, Cli};
use crate::error::Error;
use raddle_report::exit_code;

/// Prints a completion script.
pub fn run(args: &arguments::Completions) -> Result<u8, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "raddle", &mut script);
    print(&String::from_utf8_lossy(&script));
    Ok(exit_code::OK)
}

/// Prints the manual page: raddle itself, then each command.
pub fn man() -> Result<u8, Error> {
    let failed = |source: io::Error| Error::Write { path: PathBuf::from("-"), source };
    print(&manual().map_err(failed)?);
    Ok(exit_code::OK)
}

fn manual() -> io::Result<String> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let man = clap_mangen::Man::new(sub.clone());
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
}
