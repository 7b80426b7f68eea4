//! The data of each run, for who wants to look closer: CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use raddle_core::policies::portfolio;

use super::csv::field;
use crate::campaign::run_report::{RunReport, Verdict};
use crate::policy_choice::PolicyChoice;
use crate::report::worth::member_name;

/// A file with a line for each run.
pub struct Raw {
    file: BufWriter<File>,
}

impl Raw {
    /// Makes the file.
    pub fn create(path: &Path) -> io::Result<Raw> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "program,policy,repetition,run,seed,verdict,steps,points,threads,schedule,member")?;
        Ok(Raw { file })
    }

    /// A run that counts.
    pub fn write(
        &mut self,
        program: &str,
        policy: &PolicyChoice,
        repetition: u64,
        seed: u64,
        report: &RunReport,
    ) -> io::Result<()> {
        let verdict = match &report.verdict {
            Verdict::Passed => "passed",
            Verdict::Cut => "cut",
            Verdict::Diverged(_) => "diverged",
            Verdict::Failed(failure) => failure.kind.name(),
        };
        let counts = &report.counts;
        let shares = policy.descriptor.name == portfolio::DESCRIPTOR.name;
        let member = shares.then(|| member_name(counts.member as usize)).flatten().unwrap_or_default();
        let (program, policy, member) = (field(program), field(&policy.to_string()), field(&member));
        writeln!(
            self.file,
            "{program},{policy},{repetition},{},{seed},{verdict},{},{},{},{:016x},{member}",
            report.run, counts.steps, counts.points, counts.threads, counts.hash
        )
    }

    /// All of it is on the disk.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
