//! `raddle compare`: policies side by side.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_engine::options::{within, Options};
use raddle_engine::plan::stdin::Stdin;
use raddle_engine::subject::Subject;
use raddle_report::exit_code;

use super::{print, write_json};
use crate::arguments::resolve::{duration, OptionError, Resolved};
use crate::arguments::{self, config, RunOptions, TestOptions};
use crate::compare::build::Builder;
use crate::compare::cell::Cell;
use crate::compare::policies::{self, Wanted};
use crate::compare::raw::Raw;
use crate::compare::suite::{self, Entry};
use crate::compare::{csv, html, table, Candidate, Comparer, Comparison, Known, Skipped};
use crate::error::Error;

/// Repetitions when none are asked for.
const DEFAULT_REPEAT: u64 = 5;

/// Where a suite is built, in the folder of schedules.
const BUILD: &str = "build";

/// Runs the command.
pub fn run(args: &arguments::Compare) -> Result<u8, Error> {
    let setup = Setup::new(args, Defaults::default())?;
    let (candidates, skipped) = match (&setup.suite, &args.command[..]) {
        (Some(_), []) => setup.candidates(args, None)?,
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
        _ if comparison.all_cut() => Ok(exit_code::NOTHING_CONTROLLED),
        (programs, ..) if programs.iter().flat_map(|program| &program.cells).any(Cell::measured) => Ok(exit_code::OK),
        _ => {
            eprintln!("note: nothing was compared, because no run finished");
            Ok(exit_code::NOTHING_CONTROLLED)
        }
    }
}

/// What a comparison is when nothing else is asked for: an experiment has its own.
#[derive(Clone, Default)]
pub struct Defaults {
    /// Runs of each program under each policy.
    pub runs: Option<u64>,
    /// Repetitions.
    pub repeat: Option<u64>,
    /// Which runs are sampled.
    pub coverage: Option<u64>,
    /// Without the starvation guard.
    pub bare: bool,
    /// All repetitions stop at their first failure: there are no shares.
    pub first_only: bool,
    /// The policies, by their names. Those that are not there are left out.
    pub policies: Option<Vec<String>>,
    /// The folder of programs.
    pub suite: Option<PathBuf>,
    /// The time for one policy on one program.
    pub limit: Option<Duration>,
    /// What was measured already.
    pub known: Known,
}

/// Chooses programs of a suite.
pub type Select = fn(&[Entry]) -> Vec<Entry>;

/// What holds for all programs of a comparison.
#[derive(Clone)]
pub struct Setup {
    /// The options of the campaigns.
    pub options: Options,
    /// Say nothing while it goes on.
    pub quiet: bool,
    /// Repetitions.
    pub repeat: u64,
    /// All repetitions stop at their first failure: there are no shares.
    pub first_only: bool,
    pub policies: Vec<Wanted>,
    /// Policies that were named by default but are not there.
    pub missing: Vec<Skipped>,
    /// The folder of programs.
    pub suite: Option<PathBuf>,
    limit: Option<Duration>,
    known: Known,
}

impl Setup {
    /// What was asked for, with these defaults.
    pub fn new(args: &arguments::Compare, defaults: Defaults) -> Result<Setup, Error> {
        let directory = std::env::current_dir().map_err(Error::Directory)?;
        let project = config::defaults(&directory)?;
        let mut given = test_options(args).or(TestOptions { policy: None, json: None, time: None, ..project });
        if defaults.runs.is_some() {
            given.runs = args.runs.or(defaults.runs);
        }
        given.run.coverage = given.run.coverage.or(defaults.coverage);
        given.run.no_guard |= defaults.bare && args.run.guard.is_none();
        let Resolved { mut engine, verbosity, .. } = Resolved::of(given)?;
        let runtime = engine.runtime.as_deref();
        let asked = policies::split(&args.policies);
        let mut missing = Vec::new();
        let policies = match defaults.policies {
            _ if !asked.is_empty() => {
                for wanted in &asked {
                    wanted.choice(None, runtime)?;
                }
                asked
            }
            // What a paper compares may not be there.
            Some(names) => {
                let mut there = Vec::new();
                for wanted in names.into_iter().map(|text| Wanted { text }) {
                    match wanted.choice(None, runtime) {
                        Ok(_) => there.push(wanted),
                        Err(error) => missing.push(Skipped { program: wanted.text, reason: error.to_string() }),
                    }
                }
                there
            }
            None => policies::all(),
        };
        raddle_engine::runtime::find(runtime).map_err(raddle_engine::Error::from)?;
        engine.stdin = Stdin::from_ours(|_| {}).map_err(Error::Stdin)?;
        engine.record = false;
        engine.directory = Some(directory);
        let repeat = args.repeat.or(defaults.repeat).unwrap_or(DEFAULT_REPEAT);
        let repeat = within("repeat", repeat, 1, 100_000).map_err(OptionError::from)?;
        let limit = args.limit.map(|seconds| duration("limit", seconds)).transpose()?;
        Ok(Setup {
            options: engine,
            quiet: verbosity.quiet,
            repeat,
            first_only: defaults.first_only,
            policies,
            missing,
            suite: args.suite.clone().or(defaults.suite),
            limit: limit.or(defaults.limit),
            known: defaults.known,
        })
    }

    /// The same for a measurement of time: knowing nothing of what was measured before, and with time to measure.
    pub fn afresh(self) -> Setup {
        Setup { known: Known::default(), limit: None, ..self }
    }

    /// The same with other policies and another number of runs.
    pub fn with(&self, policies: &[String], runs: u64) -> Setup {
        let mut other = self.clone();
        other.policies = policies.iter().map(|text| Wanted { text: text.clone() }).collect();
        other.options.runs = Some(runs);
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
        let made = raddle_engine::os::folder::make(&self.options.out).and_then(|()| std::fs::create_dir_all(&folder));
        match made {
            Ok(()) => Ok(folder),
            Err(source) => Err(Error::Write { path: folder, source }),
        }
    }

    /// The programs of the suite that are chosen, compiled.
    pub fn candidates(
        &self,
        args: &arguments::Compare,
        select: Option<Select>,
    ) -> Result<(Vec<Candidate>, Vec<Skipped>), Error> {
        let suite = self.suite.as_deref().ok_or(Error::NothingToCompare)?;
        let unreadable = |source| Error::Read { path: suite.to_path_buf(), source };
        let (mut entries, mut skipped) = suite::entries(suite, args.only.as_deref()).map_err(unreadable)?;
        if let Some(select) = select {
            entries = select(&entries);
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
                Ok(binary) => candidates.push(of_entry(&entry, binary, self.options.seed)),
                Err(reason) => skipped.push(Skipped { program: entry.name, reason }),
            }
        }
        Ok((candidates, skipped))
    }

    fn build(&self, suite: &Path, entries: &[Entry]) -> Result<Vec<Result<PathBuf, String>>, Error> {
        let folder = self.build_folder()?;
        let builder = Builder::new(&folder, suite).map_err(|source| Error::Write { path: folder, source })?;
        Ok(builder.build(entries, |entry| {
            if !self.quiet {
                eprintln!("compiled {}", entry.source.display());
            }
        }))
    }

    /// Compares programs.
    pub fn compare(
        &self,
        args: &arguments::Compare,
        candidates: &[Candidate],
        skipped: Vec<Skipped>,
    ) -> Result<Comparison, Error> {
        let raw = match &args.raw {
            Some(path) => Some(Raw::create(path).map_err(|source| Error::Write { path: path.clone(), source })?),
            None => None,
        };
        let time = args.time.map(|seconds| duration("time", seconds)).transpose()?;
        let mut comparer = Comparer {
            options: self.options.clone(),
            quiet: self.quiet,
            repeat: self.repeat,
            first_only: self.first_only,
            policies: self.policies.clone(),
            time,
            limit: self.limit,
            known: self.known.clone(),
            raw,
        };
        let mut comparison = comparer.compare(candidates, skipped, |candidate| self.subject(candidate));
        comparison.skipped_policies = self.missing.clone();
        if let (Some(raw), Some(path)) = (comparer.raw, &args.raw) {
            raw.finish().map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        Ok(comparison)
    }

    fn subject(&self, candidate: &Candidate) -> Result<Subject, Error> {
        let mut options = self.options.clone();
        options.points = options.points.or(candidate.points);
        options.seed = candidate.seed.unwrap_or(options.seed);
        Ok(Subject::new(candidate.command.clone(), options)?)
    }
}

/// The options that campaigns share with `raddle test`.
fn test_options(args: &arguments::Compare) -> TestOptions {
    // No one reads backtraces here, and printing one takes a hundred times as long as a run.
    let env = std::iter::once("RUST_BACKTRACE=0".to_string()).chain(args.run.env.iter().cloned()).collect();
    TestOptions {
        runs: args.runs,
        quiet: args.quiet,
        out: args.out.clone(),
        run: RunOptions { env, ..args.run.clone() },
        ..TestOptions::default()
    }
}

fn candidate(command: &[OsString]) -> Candidate {
    let name = Path::new(&command[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Candidate::new(name, command.to_vec())
}

/// An entry with its binary.
fn of_entry(entry: &Entry, binary: PathBuf, seed: u64) -> Candidate {
    let arguments = entry.arguments.iter().map(OsString::from);
    Candidate {
        points: Some(entry.header.points),
        kind: Some(entry.header.kind.name()),
        depth: entry.depth,
        pct_depth: entry.pct_depth,
        rows: entry.rows.clone(),
        seed: Some(suite::seed_of(seed, &entry.name)),
        ..Candidate::new(entry.name.clone(), std::iter::once(binary.into_os_string()).chain(arguments).collect())
    }
}

/// What an experiment shows beside the comparison.
pub struct Beside {
    /// Its name and title.
    pub title: String,
    /// Its tables.
    pub text: String,
}

/// Prints the table, and writes what was asked for.
pub fn write(
    args: &arguments::Compare,
    setup: &Setup,
    comparison: &Comparison,
    experiment: Option<&Beside>,
) -> Result<(), Error> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let machine = [&args.json, &args.csv, &args.html].into_iter().any(to_stdout);
    let width = console::Term::stdout().size_checked().map_or(120, |(_, columns)| columns);
    let colors = if machine { console::colors_enabled_stderr() } else { console::colors_enabled() };
    let mut text = table::report(comparison, width, colors);
    if let Some(experiment) = experiment {
        text.push_str(&format!("\n{}", experiment.text));
    }
    if machine {
        eprint!("{text}");
    } else if !setup.quiet {
        print(&text);
    }
    if let Some(path) = &args.json {
        write_json(path, comparison)?;
    }
    if let Some(path) = &args.csv {
        write_text(path, &csv::table(comparison))?;
    }
    if let Some(path) = &args.html {
        let title = experiment.map_or_else(|| "raddle compare".to_string(), |beside| beside.title.clone());
        write_text(path, &html::page(&title, comparison, experiment.map(|beside| beside.text.as_str())))?;
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
