//! Makes the experiments that a command line asks for.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::Parser;
use raddle_cli::arguments::resolve::OptionError;
use raddle_cli::arguments::Compare;
use raddle_cli::commands::compare::{write, write_text, Beside, Defaults, Setup};
use raddle_cli::commands::print;
use raddle_cli::compare::Known;
use raddle_cli::display::interrupt;
use raddle_cli::error::Error;
use raddle_engine::os::sys;
use raddle_report::exit_code;

use crate::arguments::Lab;
use crate::experiments::{self, Experiment, Shown};

/// Prints the packages that the experiment `packages` needs.
const NEEDED: &str = "packages-needed";

/// Runs a command line and returns the exit status.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Programs whose accesses are visible are compiled by this program, as raddle compiles them.
    if arguments.get(1).is_some_and(|word| word == "cc" || word == "c++") {
        return raddle_cli::run(arguments);
    }
    let lab = match Lab::try_parse_from(arguments) {
        Ok(lab) => lab,
        Err(error) => {
            // When even the message cannot be printed, the status still says it.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => exit_code::OK,
                _ => exit_code::USAGE,
            };
        }
    };
    let status = make(&lab).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        error.exit_code()
    });
    raddle_cli::unless_interrupted(status)
}

fn make(lab: &Lab) -> Result<u8, Error> {
    if lab.experiments == "list" {
        print(&experiments::list());
        return Ok(exit_code::OK);
    }
    if lab.experiments == NEEDED {
        print(&format!("{}\n", experiments::needed()?.join(" ")));
        return Ok(exit_code::OK);
    }
    if !lab.compare.command.is_empty() {
        return Err(OptionError::Conflict("an experiment", "a program").into());
    }
    match &experiments::named(&lab.experiments)?[..] {
        [experiment] => {
            let shown = made(&lab.compare, experiment, &Known::default())?;
            write_page(lab, &[*experiment], &[shown])?;
            Ok(exit_code::OK)
        }
        several => make_all(lab, several),
    }
}

/// Makes several experiments, one after the other.
fn make_all(lab: &Lab, wanted: &[&'static Experiment]) -> Result<u8, Error> {
    let args = &lab.compare;
    let files = [&args.json, &args.csv, &args.html, &args.raw];
    if files.into_iter().any(Option::is_some) {
        return Err(OptionError::Conflict("several experiments", "--json, --csv, --html and --raw").into());
    }
    let known = Known::default();
    let mut args = args.clone();
    args.run.seed = Some(Setup::new(&args, Defaults::default())?.options.seed);
    let mut sections = Vec::new();
    for experiment in wanted {
        print(&format!("## {}\n\n", experiment.name));
        match made(&args, experiment, &known) {
            Ok(shown) => sections.push(shown),
            // A suite need not have programs for all of them.
            Err(Error::NoPrograms { suite }) => {
                print(&format!("{}: no program of {} stands for a row of it\n", experiment.title, suite.display()));
            }
            // The others may take hours, and say as much without this one.
            Err(error) => print(&format!("{}: {error}\n", experiment.title)),
        }
        print("\n");
        if interrupt::requested() {
            break;
        }
        // What there is, is written each time: all of it takes hours.
        write_page(lab, wanted, &sections)?;
    }
    Ok(exit_code::OK)
}

/// Makes an experiment and prints it.
fn made(args: &Compare, experiment: &'static Experiment, known: &Known) -> Result<Shown, Error> {
    let setup = Setup::new(args, experiment.defaults(known))?;
    if let Some(alone) = experiment.alone {
        if [&args.csv, &args.html, &args.raw].into_iter().any(Option::is_some) {
            return Err(OptionError::Conflict(experiment.name, "--csv, --html and --raw").into());
        }
        let shown = alone(args, &setup)?;
        if !setup.quiet {
            print(&shown.text());
        }
        return Ok(shown);
    }
    let (candidates, skipped) = setup.candidates(args, Some(experiment.select))?;
    let comparison = setup.compare(args, &candidates, skipped)?;
    let shown = experiment.beside(&comparison);
    let beside = Beside { title: format!("{}: {}", experiment.name, experiment.title), text: shown.text() };
    write(args, &setup, &comparison, Some(&beside))?;
    Ok(shown)
}

/// Writes the page that was asked for.
fn write_page(lab: &Lab, wanted: &[&Experiment], sections: &[Shown]) -> Result<(), Error> {
    let Some(path) = &lab.markdown else { return Ok(()) };
    let words = std::env::args().skip(1);
    let command = std::iter::once("raddle-lab".to_string()).chain(words).collect::<Vec<_>>().join(" ");
    write_text(path, &experiments::page(experiments::heading(wanted), &command, &sys::machine(), sections))
}
