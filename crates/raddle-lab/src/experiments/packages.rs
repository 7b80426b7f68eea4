//! Packaged programs as anybody has them, under three policies: none of them may be accused of anything.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::compare::cell::Cell;
use raddle_cli::compare::{Candidate, Comparison};
use raddle_cli::error::Error;
use raddle_engine::plan::stdin::Stdin;
use raddle_report::words::{count, number};
use serde::Deserialize;

use super::{Experiment, Shown, ALONE};

/// The programs, seen from where the experiment is made.
const LIST: &str = "programs/packages.toml";

/// Stands in a command for the folder of the program.
const FOLDER: &str = "{folder}";

pub const PACKAGES: Experiment = Experiment {
    name: "packages",
    title: "Packaged programs: 30 runs under each of three policies",
    policies: &["random", "pct", "portfolio"],
    runs: 30,
    remarks: &[
        "the programs, their inputs and their commands stand in `programs/packages.toml`; each ends by itself with status 0 \
         when it is run natively, which is tried first",
        "n and k are the largest numbers of threads and of steps of any run",
    ],
    alone: Some(run),
    ..ALONE
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    program: Vec<Program>,
}

/// A packaged program with a small input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    /// The Debian package that it is from.
    package: String,
    /// Another package that `prepare` needs.
    #[serde(default)]
    needs: Option<String>,
    /// What a shell does in its folder beforehand.
    #[serde(default)]
    prepare: Option<String>,
    /// A file in its folder that is its standard input.
    #[serde(default)]
    stdin: Option<String>,
    run: Vec<String>,
}

impl Program {
    fn command(&self, folder: &Path) -> Vec<String> {
        let folder = folder.to_string_lossy();
        self.run.iter().map(|word| word.replace(FOLDER, &folder)).collect()
    }

    fn input(&self, folder: &Path) -> Result<Stdio, String> {
        let Some(name) = &self.stdin else { return Ok(Stdio::null()) };
        File::open(folder.join(name)).map(Stdio::from).map_err(|error| format!("{name}: {error}"))
    }

    /// Makes its folder and its input, and runs it natively.
    fn prepare(&self, folder: &Path) -> Result<(), String> {
        // What an earlier experiment left there is not its input.
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        if let Some(script) = &self.prepare {
            let mut shell = Command::new("sh");
            quiet(shell.args(["-e", "-c", script]).current_dir(folder)).map_err(|how| format!("prepare: {how}"))?;
        }
        let words = self.command(folder);
        let mut native = Command::new(&words[0]);
        quiet(native.args(&words[1..]).current_dir(folder).stdin(self.input(folder)?))
            .map_err(|how| format!("natively: {how}"))
    }

    /// The version that is installed.
    fn version(&self) -> Option<String> {
        let output = Command::new("dpkg-query").args(["-W", "-f=${Version}", &self.package]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(text).filter(|text| output.status.success() && !text.is_empty())
    }
}

/// Runs a command without its output; an error says how it ended.
fn quiet(command: &mut Command) -> Result<(), String> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn read(path: &Path) -> Result<Vec<Program>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    let list: List = toml::from_str(&text).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    Ok(list.program)
}

/// The packages that have to be installed.
pub fn needed() -> Result<Vec<String>, Error> {
    let programs = read(Path::new(LIST))?;
    let mut all: Vec<String> =
        programs.into_iter().flat_map(|program| [Some(program.package), program.needs]).flatten().collect();
    all.sort();
    all.dedup();
    Ok(all)
}

fn run(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let mut programs = read(Path::new(LIST))?;
    programs.retain(|program| args.only.as_ref().is_none_or(|only| program.name.contains(only.as_str())));
    let work = std::path::absolute(setup.build_folder()?.join("packages")).map_err(Error::Directory)?;
    let policies = setup.policies.iter().map(|policy| policy.text.clone());
    let header = ["program", "version", "n", "k"].map(str::to_string).into_iter().chain(policies);
    let mut rows = vec![header.chain(["what escaped control".to_string()]).collect()];
    let (mut left_out, mut accused) = (Vec::new(), Vec::new());
    for (at, program) in programs.iter().enumerate() {
        let folder = work.join(&program.name);
        let measured = match (program.version(), program.prepare(&folder)) {
            (None, _) => Err(format!("the package {} is not installed", program.package)),
            (Some(_), Err(how)) => Err(how),
            (Some(version), Ok(())) => explore(args, setup, program, &folder).map(|comparison| (version, comparison)),
        };
        match measured.and_then(|(version, comparison)| row(program, version, &comparison)) {
            Ok((row, failed)) => {
                if !setup.quiet {
                    eprintln!("[{}/{}] {}", at + 1, programs.len(), row.join(", "));
                }
                accused.extend(failed.then(|| program.name.clone()));
                rows.push(row);
            }
            Err(reason) => left_out.push(format!("{} is left out: {reason}", program.name)),
        }
    }
    let mut remarks: Vec<String> = PACKAGES.remarks.iter().map(|remark| remark.to_string()).collect();
    let judged = count((rows.len() - 1) as u64, "program");
    remarks.push(match &accused[..] {
        [] => format!("{judged}, and no failure"),
        names => format!("{judged}; failures in {}", names.join(", ")),
    });
    remarks.extend(left_out);
    Ok(Shown { title: PACKAGES.title, rows, remarks })
}

fn explore(args: &arguments::Compare, setup: &Setup, program: &Program, folder: &Path) -> Result<Comparison, String> {
    let mut setup = setup.clone();
    // All runs write to the same folder.
    setup.options.jobs = 1;
    setup.options.directory = Some(folder.to_path_buf());
    setup.quiet = true;
    if let Some(name) = &program.stdin {
        let bytes = std::fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        setup.options.stdin = Stdin::from_bytes(&bytes).map_err(|error| error.to_string())?;
    }
    let command = program.command(folder).into_iter().map(Into::into).collect();
    let candidate = Candidate::new(program.name.clone(), command);
    let comparison = setup.compare(args, &[candidate], Vec::new()).map_err(|error| error.to_string())?;
    match &comparison.skipped[..] {
        [] => Ok(comparison),
        [skipped, ..] => Err(skipped.reason.clone()),
    }
}

/// The row of a program, and whether it failed.
fn row(program: &Program, version: String, comparison: &Comparison) -> Result<(Vec<String>, bool), String> {
    let compared = comparison.programs.first().ok_or("it was not compared")?;
    let first = [program.name.clone(), version, number(compared.threads_max()), number(compared.steps_max())];
    let escaped = compared.cells.iter().flat_map(|cell| &cell.uncontrolled).fold(Vec::new(), |mut all, one| {
        if !all.contains(one) {
            all.push(one.clone());
        }
        all
    });
    let cells = compared.cells.iter().map(said).chain([escaped.join("; ")]);
    let failed = compared.cells.iter().any(|cell| cell.failing_runs > 0 || cell.error.is_some());
    Ok((first.into_iter().chain(cells).collect(), failed))
}

/// What a policy's runs came to.
fn said(cell: &Cell) -> String {
    if let Some(error) = &cell.error {
        return error.clone();
    }
    let cut = if cell.cut_runs > 0 { format!(", {} cut", number(cell.cut_runs)) } else { String::new() };
    match cell.failing_runs {
        0 => format!("{} passed{cut}", number(cell.runs)),
        failing => {
            let kinds: Vec<&str> = cell.kinds.keys().map(String::as_str).collect();
            format!("{failing} of {} FAILED ({}){cut}", number(cell.runs), kinds.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::sample;

    fn list() -> Vec<Program> {
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(LIST)).expect("is right")
    }

    #[test]
    fn the_list_has_forty_programs_with_names_of_their_own() {
        let names: std::collections::BTreeSet<_> = list().into_iter().map(|program| program.name).collect();
        assert!(names.len() >= 40 && names.len() == list().len());
        assert!(list().iter().all(|program| !program.run.is_empty()));
    }

    #[test]
    fn a_failure_is_told_from_a_pass() {
        assert_eq!(said(&sample::cell("random", 0, &[None])), "1,000 passed");
        assert_eq!(said(&sample::cell("random", 3, &[Some(1)])), "3 of 1,000 FAILED (assert)");
        assert_eq!(said(&Cell::failed("random".into(), "it broke".into())), "it broke");
    }

    #[test]
    fn a_program_is_prepared_and_tried_natively() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = |prepare: &str, run: &[&str]| Program {
            name: "it".into(),
            package: "coreutils".into(),
            needs: None,
            prepare: Some(prepare.into()),
            stdin: Some("in".into()),
            run: run.iter().map(|word| word.to_string()).collect(),
        };
        let at = folder.path().join("it");
        assert_eq!(program("echo 1 > in", &["grep", "1"]).prepare(&at), Ok(()));
        assert_eq!(program("echo 1 > in", &["test", "-d", "{folder}"]).prepare(&at), Ok(()));
        assert_eq!(program("echo 1 > in", &["grep", "2"]).prepare(&at), Err("natively: exit status: 1".into()));
        assert_eq!(program("exit 4", &["true"]).prepare(&at), Err("prepare: exit status: 4".into()));
    }
}
