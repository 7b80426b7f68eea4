//! Findings: failures of one kind and place are one, with a count.

use std::path::PathBuf;

use raddle_core::schedule::checksum;

use super::run_report::{Failure, RunReport, Verdict};

/// One failure, however often it happened.
#[derive(Clone, Debug)]
pub struct Finding {
    /// As it was seen first.
    pub failure: Failure,
    /// How many runs failed like that.
    pub count: u64,
    /// The first of them.
    pub first_run: u64,
    /// Where its schedule was written, or why it was not.
    pub schedule: Result<PathBuf, String>,
}

/// All findings of a campaign, in the order of their first runs.
#[derive(Debug, Default)]
pub struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    /// Takes a run that counts; `write` stores the schedule of a failure that is new.
    pub fn add(&mut self, report: RunReport, write: impl FnOnce(&RunReport, &Failure) -> Result<PathBuf, String>) {
        let Verdict::Failed(failure) = &report.verdict else {
            return;
        };
        let same = |f: &&mut Finding| f.failure.kind == failure.kind && f.failure.place == failure.place;
        if let Some(finding) = self.findings.iter_mut().find(same) {
            finding.count += 1;
            // The first one may not have shown itself in a serial run.
            if finding.schedule.is_err() && failure.log.is_some() {
                finding.schedule = write(&report, failure);
            }
            return;
        }
        let schedule = write(&report, failure);
        let first_run = report.run;
        if let Verdict::Failed(failure) = report.verdict {
            self.findings.push(Finding { failure: *failure, count: 1, first_run, schedule });
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Finding> {
        self.findings
    }
}

/// The name of a finding's schedule file. It depends on the kind, the place and the command, so
/// that the same failure has the same name in every campaign.
pub fn file_name(failure: &Failure, command: &[Vec<u8>]) -> String {
    let mut text = format!("{}\0{}", failure.kind.name(), failure.place).into_bytes();
    for argument in command {
        text.push(0);
        text.extend_from_slice(argument);
    }
    format!("{}-{:08x}.schedule", failure.kind.name(), checksum(&text) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::run_report::{Counts, Kind, Serial};
    use raddle_core::policy::Profile;

    fn failed(run: u64, kind: Kind, place: &str) -> RunReport {
        let failure = Failure {
            kind,
            message: format!("in run {run}"),
            place: place.to_string(),
            step: run,
            threads: Vec::new(),
            stderr: Vec::new(),
            run_seed: 0,
            profile: Profile::default(),
            stacks: Default::default(),
            racing: Vec::new(),
            log: None,
            log_is_full: false,
            serial: Serial::Itself,
        };
        RunReport {
            run,
            verdict: Verdict::Failed(Box::new(failure)),
            counts: Counts::default(),
            escapes: 0,
            output_cut: false,
            stacks: Default::default(),
            racing: Vec::new(),
            observed: None,
        }
    }

    #[test]
    fn the_same_kind_and_place_is_one_finding() {
        let mut findings = Findings::default();
        let runs = [(1, Kind::Assert, "a"), (2, Kind::Assert, "b"), (3, Kind::Assert, "a"), (4, Kind::Signal, "a")];
        let mut written = Vec::new();
        for (run, kind, place) in runs {
            findings.add(failed(run, kind, place), |report, _| {
                written.push(report.run);
                Ok(PathBuf::new())
            });
        }
        let counts: Vec<_> = findings.into_vec().iter().map(|f| (f.first_run, f.count)).collect();
        assert_eq!(counts, [(1, 2), (2, 1), (4, 1)]);
        assert_eq!(written, [1, 2, 4]);
    }

    #[test]
    fn names_differ_by_kind_place_and_command() {
        let name = |kind, place, command: &[u8]| {
            let report = failed(1, kind, place);
            file_name(report.failure().expect("failed"), &[command.to_vec()])
        };
        let first = name(Kind::Assert, "a", b"./x");
        assert!(first.starts_with("assert-") && first.ends_with(".schedule") && first.len() == 24, "{first}");
        assert_eq!(first, name(Kind::Assert, "a", b"./x"));
        assert_ne!(first, name(Kind::Assert, "b", b"./x"));
        assert_ne!(first, name(Kind::Assert, "a", b"./y"));
    }
}
