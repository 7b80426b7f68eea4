//! Findings: failures of one kind and place are one, with a count.

use std::path::PathBuf;

use crate::run::report::{Failure, RunReport};

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
    /// Takes a run that counts; `write` stores the schedule of a failure that is new. Returns what is new.
    pub fn add(
        &mut self,
        report: RunReport,
        mut write: impl FnMut(&RunReport, &Failure) -> Result<PathBuf, String>,
    ) -> Vec<Finding> {
        let mut new = Vec::new();
        let Some(failed) = report.failure() else { return new };
        // What went wrong in one run has one log.
        let log = failed.all().find_map(|failure| failure.log.as_ref());
        for failure in failed.all() {
            let same = |f: &&mut Finding| f.failure.kind == failure.kind && f.failure.place == failure.place;
            if let Some(finding) = self.findings.iter_mut().find(same) {
                finding.count += 1;
                // The first one may not have shown itself in a serial run.
                if finding.schedule.is_err() && log.is_some() {
                    finding.schedule = write(&report, &Failure { log: log.cloned(), ..failure.clone() });
                }
                continue;
            }
            let failure = Failure { log: log.cloned(), also: Vec::new(), ..failure.clone() };
            let schedule = write(&report, &failure);
            let finding = Finding { failure, count: 1, first_run: report.run, schedule };
            new.push(finding.clone());
            self.findings.push(finding);
        }
        new
    }

    pub fn into_vec(self) -> Vec<Finding> {
        self.findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::run::report::Verdict;
    use raddle_report::FailureKind;

    fn failed(run: u64, kind: FailureKind, place: &str) -> RunReport {
        let (message, place) = (format!("in run {run}"), place.to_string());
        let failure = Failure { message, place, step: run, ..sample::failure(kind) };
        RunReport { verdict: Verdict::Failed(Box::new(failure)), ..RunReport::new(run) }
    }

    #[test]
    fn the_same_kind_and_place_is_one_finding() {
        let mut findings = Findings::default();
        let runs = [
            (1, FailureKind::Assert, "a"),
            (2, FailureKind::Assert, "b"),
            (3, FailureKind::Assert, "a"),
            (4, FailureKind::Signal, "a"),
        ];
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
    fn races_of_one_run_are_findings_of_their_own_with_its_log() {
        let mut findings = Findings::default();
        let run = |run, places: &[&str], log: Option<usize>| {
            let mut all = places.iter().enumerate().map(|(at, place)| {
                let mut failure = failed(run, FailureKind::Race, place).failure().expect("failed").clone();
                failure.log = (log == Some(at)).then(|| vec![run as u32]);
                failure
            });
            let mut first = all.next().expect("a failure");
            first.also = all.collect();
            RunReport { verdict: Verdict::Failed(Box::new(first)), ..failed(run, FailureKind::Race, "") }
        };
        let mut written = Vec::new();
        for report in [run(1, &["a", "b"], Some(0)), run(2, &["b", "c"], Some(1)), run(3, &["a"], None)] {
            findings.add(report, |report, failure| {
                written.push((report.run, failure.place.clone(), failure.log.clone().expect("a log")));
                Ok(PathBuf::new())
            });
        }
        let expected = [(1, "a", 1), (1, "b", 1), (2, "c", 2)].map(|(run, place, log)| (run, place.into(), vec![log]));
        assert_eq!(written, expected);
        let findings = findings.into_vec();
        let counts: Vec<_> = findings.iter().map(|f| (f.first_run, f.count, f.failure.also.len())).collect();
        assert_eq!(counts, [(1, 2, 0), (1, 2, 0), (2, 1, 0)]);
    }

    #[test]
    fn names_differ_by_kind_place_and_command() {
        let name = |kind, place, command: &[u8]| {
            let report = failed(1, kind, place);
            report.failure().expect("failed").file_name(&[command.to_vec()])
        };
        let first = name(FailureKind::Assert, "a", b"./x");
        assert!(first.starts_with("assert-") && first.ends_with(".schedule") && first.len() == 24, "{first}");
        assert_eq!(first, name(FailureKind::Assert, "a", b"./x"));
        assert_ne!(first, name(FailureKind::Assert, "b", b"./x"));
        assert_ne!(first, name(FailureKind::Assert, "a", b"./y"));
    }
}
