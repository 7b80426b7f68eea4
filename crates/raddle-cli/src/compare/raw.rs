//! The data of each run, for a closer look: CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use raddle_core::policies::portfolio;
use raddle_engine::campaign::{CountedRun, RunVerdict};
use raddle_engine::plan::policy_choice::PolicyChoice;
use raddle_engine::report::worth::member_name;

use super::csv::field;

const COLUMNS: &str =
    "program,policy,repetition,run,seed,verdict,steps,points,threads,schedule,member,guard_fired,told_k,seconds";

/// Whose run it is.
pub struct Of<'a> {
    pub program: &'a str,
    pub policy: &'a PolicyChoice,
    /// The repetition, from 1.
    pub repetition: u64,
    pub seed: u64,
}

/// A file with a line for each run.
pub struct Raw {
    file: BufWriter<File>,
}

impl Raw {
    pub fn create(path: &Path) -> io::Result<Raw> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{COLUMNS}")?;
        Ok(Raw { file })
    }

    /// A run that counts.
    pub fn write(&mut self, of: &Of<'_>, run: &CountedRun) -> io::Result<()> {
        let verdict = match run.verdict {
            RunVerdict::Passed => "passed",
            RunVerdict::Cut => "cut",
            RunVerdict::Diverged => "diverged",
            RunVerdict::Failed(kind) => kind.name(),
        };
        let counts = &run.counts;
        let Of { program, policy, repetition, seed } = of;
        let shares = policy.descriptor.name == portfolio::DESCRIPTOR.name;
        let member = shares.then(|| member_name(counts.member as usize)).flatten().unwrap_or_default();
        let (program, policy, member) = (field(program), field(&policy.to_string()), field(&member));
        writeln!(
            self.file,
            "{program},{policy},{repetition},{},{seed},{verdict},{},{},{},{:016x},{member},{},{},{:.6}",
            run.run,
            counts.steps,
            counts.points,
            counts.threads,
            counts.hash,
            counts.guard_fired,
            run.profile.map_or(0, |profile| profile.steps),
            run.elapsed.as_secs_f64()
        )
    }

    /// All of it is on the disk.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
