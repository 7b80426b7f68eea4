//! The papers' experiments as comparisons: which programs of a suite (by the rows that their headers name), which
//! policies, how many runs, and the numbers that the papers print, to stand beside ours.

mod compile;
mod equation_3;
mod guarantee;
mod needlepoint;
mod packages;
mod pct;
mod portfolio;
mod published;
mod rare;
mod shown;
mod speed;
mod stride;
mod stride_theory;

use std::time::Duration;

pub use packages::needed;
use published::Published;
use raddle_cli::arguments;
use raddle_cli::commands::compare::{Defaults, Setup};
use raddle_cli::compare::cell::Cell;
use raddle_cli::compare::suite::Entry;
use raddle_cli::compare::{Compared, Comparison, Known};
use raddle_cli::error::Error;
use raddle_engine::plan::suggest;
use raddle_report::words::count;
pub use shown::{page, Shown};

/// Makes an experiment that is more than one comparison of the programs of a suite.
pub type Alone = fn(&arguments::Compare, &Setup) -> Result<Shown, Error>;

/// One policy on one program has so long, when nobody says otherwise: some programs take seconds for a run under
/// some policies.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The folder of programs when none is named.
const SUITE: &str = "bugs";

pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The policies. Those that are not there are left out.
    pub policies: &'static [&'static str],
    /// Runs of each program under each policy.
    pub runs: u64,
    /// Repetitions.
    pub repeat: u64,
    /// All repetitions stop at their first failure: it asks what is found, not how often.
    pub first_only: bool,
    /// Without the starvation guard.
    pub bare: bool,
    /// Which runs are sampled.
    pub coverage: Option<u64>,
    /// The programs.
    pub select: fn(&[Entry]) -> Vec<Entry>,
    /// What stands in the paper.
    pub published: &'static [Published],
    /// How both are shown.
    pub shows: fn(&Experiment, &Comparison) -> Vec<Vec<String>>,
    /// What to know when reading the table.
    pub remarks: &'static [&'static str],
    /// What is counted over the whole table, in words.
    pub counts: Option<fn(&Experiment, &Comparison) -> String>,
    /// It is more than one comparison.
    pub alone: Option<Alone>,
}

/// An experiment that makes its own table: the fields that only a comparison of the programs of a suite needs.
const ALONE: Experiment = Experiment {
    name: "",
    title: "",
    policies: &[],
    runs: 1,
    repeat: 1,
    first_only: false,
    bare: false,
    coverage: Some(0),
    select: |_| Vec::new(),
    published: &[],
    shows: |_, _| Vec::new(),
    remarks: &[],
    counts: None,
    alone: None,
};

const PAPERS: &[&Experiment] = &[
    &needlepoint::FIGURE_1,
    &needlepoint::FIGURE_2,
    &needlepoint::TABLE_2,
    &needlepoint::FIGURE_6,
    &speed::FIGURE_7,
    &speed::FIGURE_8,
    &speed::OVERHEAD,
    &pct::TABLE_3,
    &pct::FIGURE_9,
    &pct::FIGURE_10,
    &pct::FIGURE_11,
    &stride_theory::PROPOSITION_1,
    &stride_theory::FIGURE_4,
    &stride::FIGURE_5,
    &stride::FIGURE_6,
    &stride::FIGURE_7,
    &equation_3::EQUATION_3,
];

/// Those that check what we promise.
const OURS: &[&Experiment] = &[&guarantee::GUARANTEE, &rare::RARE, &portfolio::PORTFOLIO];

/// Those on programs that are not ours.
const OTHERS: &[&Experiment] = &[&packages::PACKAGES];

fn all() -> impl Iterator<Item = &'static Experiment> {
    PAPERS.iter().chain(OURS).chain(OTHERS).copied()
}

/// The experiments that are meant: a name, several with commas between them, `papers`, `ours` or `all`.
pub fn named(names: &str) -> Result<Vec<&'static Experiment>, Error> {
    match names {
        "papers" => Ok(PAPERS.to_vec()),
        "ours" => Ok(OURS.to_vec()),
        "all" => Ok(all().collect()),
        names => names.split(',').map(|name| find(name.trim())).collect(),
    }
}

/// The title of a page with these experiments, and what to know before reading it.
pub fn heading(wanted: &[&Experiment]) -> (&'static str, &'static str) {
    let all_in = |group: &[&Experiment]| wanted.iter().all(|one| group.iter().any(|other| other.name == one.name));
    match () {
        () if all_in(OURS) => ("What we promise", OWN_PROGRAMS),
        () if all_in(OTHERS) => ("Packaged programs", PACKAGED),
        () => ("Compared with the papers", OWN_PROGRAMS),
    }
}

const OWN_PROGRAMS: &str =
    "Anyone who repeats this gets the same shares for all policies that run one thread at a time, wherever all runs \
     fit into the time limit; times, and the shares of `stress`, `random-sleep` and `ppct`, depend on the machine. The \
     programs are [ours](corpus.md), written from the papers' descriptions.";

const PACKAGED: &str = "These are programs as Debian ships them. raddle must not report any failure in them.";

/// The experiment with this name.
fn find(name: &str) -> Result<&'static Experiment, Error> {
    let names: Vec<_> = all().map(|experiment| experiment.name).collect();
    let found = all().find(|experiment| experiment.name == name);
    found.ok_or_else(|| anyhow::anyhow!("there is no experiment `{name}`; {}", suggest::hint(name, &names)).into())
}

/// All experiments with what they show.
pub fn list() -> String {
    let width = all().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    all().map(|experiment| format!("{:<width$}  {}\n", experiment.name, experiment.title)).collect()
}

impl Experiment {
    /// What a comparison is by default in this experiment.
    pub fn defaults(&self, known: &Known) -> Defaults {
        Defaults {
            runs: Some(self.runs),
            repeat: Some(self.repeat),
            coverage: self.coverage,
            bare: self.bare,
            first_only: self.first_only,
            policies: Some(self.policies.iter().map(|name| (*name).to_string()).collect()),
            suite: Some(SUITE.into()),
            limit: Some(LIMIT),
            known: known.clone(),
        }
    }

    /// Our numbers next to the paper's.
    pub fn beside(&self, comparison: &Comparison) -> Shown {
        let counted = self.counts.map(|counts| counts(self, comparison));
        let remarks = self.remarks.iter().map(|remark| remark.to_string()).chain(counted).chain(notes(comparison));
        Shown { title: self.title, rows: (self.shows)(self, comparison), remarks: remarks.collect() }
    }

    /// What the paper says of a row under a policy, by the policy's name as it was asked for.
    fn paper(&self, rows: &[String], policy: &str) -> Option<&'static str> {
        let matches = |published: &&Published| {
            rows.iter().any(|row| row == published.row) && policy.split("=depth").next() == Some(published.policy)
                || (published.row.is_empty() && policy == published.policy)
        };
        self.published.iter().find(matches).map(|published| published.value)
    }
}

/// So many programs are named in a remark; more are counted.
const NAMED: usize = 8;

/// What was left out or cut short.
fn notes(comparison: &Comparison) -> Vec<String> {
    let left_out = comparison.skipped.iter().chain(&comparison.skipped_policies);
    let left_out = left_out.map(|skipped| format!("{} is left out: {}", skipped.program, skipped.reason));
    let short = |program: &&Compared| program.cells.iter().any(|cell| cell.cut_short);
    let programs: Vec<&Compared> = comparison.programs.iter().filter(short).collect();
    let cells = || programs.iter().flat_map(|program| &program.cells).filter(|cell| cell.cut_short);
    let cut = cells().map(|cell| cell.runs).min().map(|least| {
        let whose = match &programs[..] {
            few if few.len() <= NAMED => few.iter().map(|program| program.name.as_str()).collect::<Vec<_>>().join(", "),
            many => count(many.len() as u64, "program"),
        };
        let cells = count(cells().count() as u64, "cell");
        format!("{cells} ran out of time, after {} or more: of {whose}", count(least, "run"))
    });
    left_out.chain(cut).collect()
}

/// The entries that stand for one of these rows, each row's in the order of the rows: the variant that the header
/// has as its arguments, when there are several.
fn by_rows(entries: &[Entry], paper: &str, rows: &[&str]) -> Vec<Entry> {
    let mut chosen: Vec<Entry> = Vec::new();
    for row in rows {
        let name = format!("{paper}:{row}");
        let all: Vec<_> = entries.iter().filter(|entry| entry.rows.contains(&name)).collect();
        let usual = all.iter().find(|entry| entry.arguments == entry.header.arguments).or(all.first());
        if let Some(entry) = usual.filter(|entry| !chosen.iter().any(|other| other.name == entry.name)) {
            chosen.push((**entry).clone());
        }
    }
    chosen
}

/// What a table says of a cell. Each cell that the limit of time cut has its number of runs beside it; when nothing had
/// been found by then, that is all.
fn told(cell: &Cell, text: impl FnOnce(&Cell) -> String) -> String {
    match cell.measured() {
        false => "–".to_string(),
        true if cell.undecided() => format!("– ({})", count(cell.runs, "run")),
        true if cell.cut_short => format!("{} ({})", text(cell), count(cell.runs, "run")),
        true => text(cell),
    }
}

/// The name of a program in a paper's table.
fn row_name<'a>(program: &'a Compared, paper: &str) -> &'a str {
    let row = program.rows.iter().find_map(|row| row.strip_prefix(paper)?.strip_prefix(':'));
    row.unwrap_or(&program.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::sample;

    #[test]
    fn names_are_unique_and_found() {
        for (i, experiment) in all().enumerate() {
            assert!(all().take(i).all(|other| other.name != experiment.name));
            assert_eq!(find(experiment.name).expect("is there").title, experiment.title);
            assert!(list().contains(experiment.name));
        }
        let names = |group: &str| named(group).expect("is there").iter().map(|e| e.name).collect::<Vec<_>>();
        assert_eq!(names("ours"), names("guarantee, rare, portfolio"));
        assert_eq!(names("all"), [names("papers"), names("ours"), names("packages")].concat());
        let error = find("pct-12").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("there is no experiment `pct-12`; did you mean `pct-1"), "{error}");
    }

    #[test]
    fn what_papers_print_is_found_by_row_and_policy() {
        let rows = ["pct:Pbzip2".to_string(), "needlepoint:Pbzip2".to_string()];
        assert_eq!(pct::TABLE_3.paper(&rows, "pct:d=depth"), Some("0.701"));
        assert_eq!(pct::TABLE_3.paper(&rows, "stress"), Some("0"));
        assert_eq!(pct::TABLE_3.paper(&rows, "random"), None);
        assert_eq!(needlepoint::TABLE_2.paper(&rows, "pct:d=depth"), Some("yes"));
        assert_eq!(needlepoint::TABLE_2.paper(&rows, "random-sleep"), Some("no"));
    }

    #[test]
    fn every_experiment_shows_something() {
        let comparison = sample::comparison();
        for experiment in all() {
            let text = experiment.beside(&comparison).text();
            assert!(text.starts_with(experiment.title) && text.lines().count() > 2, "{}: {text}", experiment.name);
        }
    }

    #[test]
    fn ratios_to_the_random_walk() {
        insta::assert_snapshot!(stride::FIGURE_6.beside(&sample::comparison()).text());
    }
}
