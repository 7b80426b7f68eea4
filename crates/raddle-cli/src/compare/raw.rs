//! The data of each run, for who wants to look closer: CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use raddle_core::policies::portfolio;
use raddle_core::policy::Profile;

use super::csv::field;
use crate::campaign::run_report::{RunReport, Verdict};
use crate::policy_choice::PolicyChoice;
use crate::report::worth::member_name;

/// The columns.
const COLUMNS: &str =
    "program,policy,repetition,run,seed,verdict,steps,points,threads,schedule,member,guard_fired,told_k,seconds";

/// Whose run it is.
pub struct Of<'a> {
    /// The program.
    pub program: &'a str,
    /// The policy.
    pub policy: &'a PolicyChoice,
    /// The repetition, from 1.
    pub repetition: u64,
    /// The run's seed.
    pub seed: u64,
}

/// A file with a line for each run.
pub struct Raw {
    file: BufWriter<File>,
}

impl Raw {
    /// Makes the file.
    pub fn create(path: &Path) -> io::Result<Raw> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{COLUMNS}")?;
        Ok(Raw { file })
    }

    /// A run that counts, what it was told of earlier ones, and how long after the campaign's start it was counted.
    pub fn write(&mut self, of: &Of<'_>, report: &RunReport, told: Option<Profile>, after: Duration) -> io::Result<()> {
        let verdict = match &report.verdict {
            Verdict::Passed => "passed",
            Verdict::Cut => "cut",
            Verdict::Diverged(_) => "diverged",
            Verdict::Failed(failure) => failure.kind.name(),
        };
        let counts = &report.counts;
        let Of { program, policy, repetition, seed } = of;
        let shares = policy.descriptor.name == portfolio::DESCRIPTOR.name;
        let member = shares.then(|| member_name(counts.member as usize)).flatten().unwrap_or_default();
        let (program, policy, member) = (field(program), field(&policy.to_string()), field(&member));
        writeln!(
            self.file,
            "{program},{policy},{repetition},{},{seed},{verdict},{},{},{},{:016x},{member},{},{},{:.6}",
            report.run,
            counts.steps,
            counts.points,
            counts.threads,
            counts.hash,
            counts.guard_fired,
            told.map_or(0, |told| told.steps),
            after.as_secs_f64()
        )
    }

    /// All of it is on the disk.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
