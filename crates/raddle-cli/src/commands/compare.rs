//! `raddle compare`: policies side by side.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::test::{Said, Tester};
use super::{print, program, write_json};
use crate::args::{self, TestOptions};
use crate::campaign::interrupt;
use crate::campaign::stdin::Stdin;
use crate::compare::build::Builder;
use crate::compare::experiments::{self, Experiment, Shown};
use crate::compare::policies::{self, Wanted};
use crate::compare::raw::Raw;
use crate::compare::suite::{self, Entry};
use crate::compare::{csv, html, table, Candidate, Comparer, Comparison, Known, Skipped};
use crate::config;
use crate::error::Error;
use crate::exit_code;
use crate::options::{within, OptionError, Options};
use crate::runtime_library;
use crate::sync_functions::SyncFunctions;
use crate::sys;

/// Repetitions when none are asked for.
const DEFAULT_REPEAT: u64 = 5;

/// The folder of programs that an experiment takes when none is named.
const DEFAULT_SUITE: &str = "bugs";

/// Where a suite is built, in the folder of schedules.
const BUILD: &str = "build";

/// Runs the command.
pub fn run(args: &args::Compare) -> Result<u8, Error> {
    match args.experiment.as_deref() {
        Some("list") => {
            print(&experiments::list());
            Ok(exit_code::OK)
        }
        Some(names) => {
            if !args.command.is_empty() {
                return Err(OptionError::Conflict("--experiment", "a program").into());
            }
            match &experiments::named(names)?[..] {
                [experiment] => {
                    let shown = made(args, experiment, &Known::default())?;
                    write_page(args, &[*experiment], &[shown])?;
                    Ok(exit_code::OK)
                }
                several => make_all(args, several),
            }
        }
        None => one(args),
    }
}

/// Makes several experiments, one after the other.
fn make_all(args: &args::Compare, wanted: &[&'static Experiment]) -> Result<u8, Error> {
    let files = [&args.json, &args.csv, &args.html, &args.raw];
    if files.into_iter().any(Option::is_some) {
        return Err(OptionError::Conflict("several experiments", "--json, --csv, --html and --raw").into());
    }
    let known = Known::default();
    let seed = setup(args, None, &known)?.options.seed;
    let args = &args::Compare { seed: Some(seed), ..args.clone() };
    let mut sections = Vec::new();
    for experiment in wanted {
        print(&format!("## {}\n\n", experiment.name));
        match made(args, experiment, &known) {
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
        write_page(args, wanted, &sections)?;
    }
    Ok(exit_code::OK)
}

/// Makes an experiment and prints it.
fn made(args: &args::Compare, experiment: &'static Experiment, known: &Known) -> Result<Shown, Error> {
    let setup = setup(args, Some(experiment), known)?;
    let shown = match experiment.alone {
        Some(alone) => {
            if [&args.csv, &args.html, &args.raw].into_iter().any(Option::is_some) {
                return Err(OptionError::Conflict(experiment.name, "--csv, --html and --raw").into());
            }
            let shown = alone(args, &setup)?;
            if !setup.options.quiet {
                print(&shown.text());
            }
            shown
        }
        None => {
            let (candidates, skipped) = setup.suite_candidates(args, experiment)?;
            let comparison = setup.compare(args, &candidates, skipped)?;
            write(args, &setup, &comparison, Some(experiment))?;
            experiment.beside(&comparison)
        }
    };
    Ok(shown)
}

/// Writes the page that was asked for.
fn write_page(args: &args::Compare, wanted: &[&Experiment], sections: &[Shown]) -> Result<(), Error> {
    let Some(path) = &args.markdown else { return Ok(()) };
    let words = std::env::args().skip(1);
    let command = std::iter::once("raddle".to_string()).chain(words).collect::<Vec<_>>().join(" ");
    write_text(path, &experiments::page(experiments::title(wanted), &command, &sys::machine(), sections))
}

/// Makes one comparison.
fn one(args: &args::Compare) -> Result<u8, Error> {
    let setup = setup(args, None, &Known::default())?;
    let (candidates, skipped) = match (&setup.suite, &args.command[..]) {
        (Some(_), []) => setup.entries(args, None)?,
        (None, [_, ..]) => (vec![candidate(&args.command)], Vec::new()),
        (None, []) => return Err(Error::NothingToCompare),
        (Some(_), _) => return Err(OptionError::Conflict("--suite", "a program").into()),
    };
    let comparison = setup.compare(args, &candidates, skipped)?;
    write(args, &setup, &comparison, None)?;
    match (&comparison.programs[..], &candidates[..], &comparison.skipped[..]) {
        // One program that cannot be compared is wrong input.
        ([], [_], [.., skipped]) => {
            Err(Error::NotCompared { program: skipped.program.clone(), reason: skipped.reason.clone() })
        }
        _ => Ok(exit_code::OK),
    }
}

/// What holds for all programs of a comparison.
#[derive(Clone)]
pub struct Setup {
    /// The options of the campaigns.
    pub options: Options,
    /// Repetitions.
    pub repeat: u64,
    /// All repetitions stop at their first failure: there are no shares.
    pub first_only: bool,
    /// The policies.
    pub policies: Vec<Wanted>,
    /// Policies that an experiment names but that are not there.
    pub missing: Vec<Skipped>,
    /// The folder of programs.
    pub suite: Option<PathBuf>,
    limit: Option<Duration>,
    known: Known,
    runtime: PathBuf,
    directory: PathBuf,
    stdin: Stdin,
}

fn setup(args: &args::Compare, experiment: Option<&Experiment>, known: &Known) -> Result<Setup, Error> {
    let directory = std::env::current_dir().map_err(Error::Directory)?;
    let defaults = config::defaults(&directory)?;
    let mut given = test_options(args).or(TestOptions { policy: None, json: None, time: None, ..defaults });
    let repeat = args.repeat.or(experiment.map(|e| e.repeat)).unwrap_or(DEFAULT_REPEAT);
    if let Some(experiment) = experiment {
        given.runs = args.runs.or(Some(experiment.runs));
        given.coverage = given.coverage.or(experiment.coverage);
        given.no_guard |= experiment.bare && args.guard.is_none();
    }
    let options = Options::resolve(given)?;
    let asked = policies::split(&args.policies);
    let mut missing = Vec::new();
    let policies = match experiment {
        _ if !asked.is_empty() => {
            for wanted in &asked {
                wanted.choice(None, options.runtime.as_deref())?;
            }
            asked
        }
        // What a paper compares may not be there.
        Some(experiment) => {
            let wanted = experiment.policies.iter().map(|text| Wanted { text: (*text).to_string() });
            let mut there = Vec::new();
            for wanted in wanted {
                match wanted.choice(None, options.runtime.as_deref()) {
                    Ok(_) => there.push(wanted),
                    Err(error) => missing.push(Skipped { program: wanted.text, reason: error.to_string() }),
                }
            }
            there
        }
        None => policies::all(),
    };
    let suite = args.suite.clone().or_else(|| experiment.map(|_| PathBuf::from(DEFAULT_SUITE)));
    let runtime = runtime_library::find(options.runtime.as_deref())?;
    let stdin = Stdin::from_ours(|_| {}).map_err(Error::Stdin)?;
    let repeat = within("repeat", repeat, 1, 100_000)?;
    let limit = args.limit.map(|seconds| crate::options::duration("limit", seconds)).transpose()?;
    let limit = limit.or(experiment.map(|_| experiments::LIMIT));
    let known = known.clone();
    let first_only = experiment.is_some_and(|experiment| experiment.first_only);
    Ok(Setup { options, repeat, first_only, policies, missing, suite, limit, known, runtime, directory, stdin })
}

/// The options that campaigns share with `raddle test`.
fn test_options(args: &args::Compare) -> TestOptions {
    TestOptions {
        runs: args.runs,
        seed: args.seed,
        points: args.points.clone(),
        jobs: args.jobs,
        run_timeout: args.run_timeout,
        max_steps: args.max_steps,
        yields: args.yields,
        coverage: args.coverage,
        quiet: args.quiet,
        exec: args.exec,
        switch: args.switch.clone(),
        expect_exit: args.expect_exit,
        guard: args.guard,
        no_guard: args.no_guard,
        // Nobody reads them here, and a panic that prints one takes a hundred times as long as a run.
        env: std::iter::once("RUST_BACKTRACE=0".to_string()).chain(args.env.iter().cloned()).collect(),
        runtime: args.runtime.clone(),
        out: args.out.clone(),
        ..TestOptions::default()
    }
}

fn candidate(command: &[OsString]) -> Candidate {
    let name = Path::new(&command[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Candidate { name, command: command.to_vec(), points: None, kind: None, depth: None, rows: Vec::new() }
}

impl Setup {
    /// The same for a measurement of time: knowing nothing of what was measured before, and with time to measure.
    pub fn afresh(self) -> Setup {
        Setup { known: Known::default(), limit: None, ..self }
    }

    /// The same with other policies and another number of runs.
    pub fn with(&self, policies: &[String], runs: u64) -> Setup {
        let mut other = self.clone();
        other.policies = policies.iter().map(|text| Wanted { text: text.clone() }).collect();
        other.options.runs = runs;
        other
    }

    /// The same with a part of the time for each measurement.
    pub fn in_part_of_the_time(mut self, parts: u32) -> Setup {
        self.limit = self.limit.map(|limit| limit / parts);
        self
    }

    /// Where programs are compiled.
    pub fn build_folder(&self) -> Result<PathBuf, Error> {
        let folder = self.options.out.join(BUILD);
        match std::fs::create_dir_all(&folder) {
            Ok(()) => Ok(folder),
            Err(source) => Err(Error::Write { path: folder, source }),
        }
    }

    /// The programs of an experiment, compiled.
    pub fn suite_candidates(
        &self,
        args: &args::Compare,
        experiment: &Experiment,
    ) -> Result<(Vec<Candidate>, Vec<Skipped>), Error> {
        self.entries(args, Some(experiment))
    }

    /// Programs of the suite, compiled.
    fn entries(
        &self,
        args: &args::Compare,
        experiment: Option<&Experiment>,
    ) -> Result<(Vec<Candidate>, Vec<Skipped>), Error> {
        let suite = self.suite.as_deref().ok_or(Error::NothingToCompare)?;
        let unreadable = |source| Error::Read { path: suite.to_path_buf(), source };
        let (mut entries, mut skipped) = suite::entries(suite, args.only.as_deref()).map_err(unreadable)?;
        if let Some(experiment) = experiment {
            entries = (experiment.select)(&entries);
            // What has no header stands for no row.
            skipped.clear();
        }
        if entries.is_empty() && skipped.is_empty() {
            return Err(Error::NoPrograms { suite: suite.to_path_buf() });
        }
        let built = self.build(suite, &entries)?;
        let mut candidates = Vec::new();
        for (entry, binary) in entries.into_iter().zip(built) {
            match binary {
                Ok(binary) => candidates.push(of_entry(&entry, binary)),
                Err(reason) => skipped.push(Skipped { program: entry.name, reason }),
            }
        }
        Ok((candidates, skipped))
    }

    fn build(&self, suite: &Path, entries: &[Entry]) -> Result<Vec<Result<PathBuf, String>>, Error> {
        let folder = self.options.out.join(BUILD);
        let builder = Builder::new(&folder, suite).map_err(|source| Error::Write { path: folder, source })?;
        Ok(builder.build(entries, |entry| {
            if !self.options.quiet {
                eprintln!("compiled {}", entry.source.display());
            }
        }))
    }

    /// Compares programs.
    pub fn compare(
        &self,
        args: &args::Compare,
        candidates: &[Candidate],
        skipped: Vec<Skipped>,
    ) -> Result<Comparison, Error> {
        let raw = match &args.raw {
            Some(path) => Some(Raw::create(path).map_err(|source| Error::Write { path: path.clone(), source })?),
            None => None,
        };
        let time = args.time.map(|seconds| crate::options::duration("time", seconds)).transpose()?;
        let mut comparer = Comparer {
            options: self.options.clone(),
            repeat: self.repeat,
            first_only: self.first_only,
            policies: self.policies.clone(),
            time,
            limit: self.limit,
            known: self.known.clone(),
            raw,
        };
        let mut comparison = comparer.compare(candidates, skipped, |candidate| self.tester(candidate));
        comparison.skipped_policies = self.missing.clone();
        if let (Some(raw), Some(path)) = (comparer.raw, &args.raw) {
            raw.finish().map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        Ok(comparison)
    }

    fn tester(&self, candidate: &Candidate) -> Result<Tester, Error> {
        let program = program(&candidate.command)?;
        let mut options = self.options.clone();
        options.points = options.points.or(candidate.points);
        let sync_functions = SyncFunctions::find(&program.path, &options.sync_functions)?;
        Ok(Tester {
            said: Said::all(),
            options,
            program,
            sync_functions,
            runtime: self.runtime.clone(),
            directory: self.directory.clone(),
            stdin: self.stdin.clone(),
        })
    }
}

/// An entry with its binary.
fn of_entry(entry: &Entry, binary: PathBuf) -> Candidate {
    let arguments = entry.arguments.iter().map(OsString::from);
    Candidate {
        name: entry.name.clone(),
        command: std::iter::once(binary.into_os_string()).chain(arguments).collect(),
        points: Some(entry.header.points),
        kind: Some(entry.header.kind.name()),
        depth: entry.depth,
        rows: entry.rows.clone(),
    }
}

/// Prints the table, and writes what was asked for.
fn write(
    args: &args::Compare,
    setup: &Setup,
    comparison: &Comparison,
    experiment: Option<&Experiment>,
) -> Result<(), Error> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let machine = [&args.json, &args.csv, &args.html].into_iter().any(to_stdout);
    let width = console::Term::stdout().size_checked().map_or(120, |(_, columns)| columns);
    let colors = if machine { console::colors_enabled_stderr() } else { console::colors_enabled() };
    let mut text = table::report(comparison, width, colors);
    if let Some(experiment) = experiment {
        text.push_str(&format!("\n{}", experiment.beside(comparison).text()));
    }
    if machine {
        eprint!("{text}");
    } else if !setup.options.quiet {
        print(&text);
    }
    if let Some(path) = &args.json {
        write_json(path, comparison)?;
    }
    if let Some(path) = &args.csv {
        write_text(path, &csv::table(comparison))?;
    }
    if let Some(path) = &args.html {
        let title = experiment.map_or_else(|| "raddle compare".to_string(), |e| format!("{}: {}", e.name, e.title));
        write_text(path, &html::page(&title, comparison, experiment.map(|e| e.beside(comparison).text()).as_deref()))?;
    }
    Ok(())
}

/// Writes a text to a file, or to standard output for `-`.
pub fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    if path == Path::new("-") {
        print(text);
        return Ok(());
    }
    std::fs::write(path, text).map_err(|source| Error::Write { path: path.to_path_buf(), source })
}
