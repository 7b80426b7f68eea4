//! Writing a failure's schedule file.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use raddle_core::Decision;
use raddle_report::FailureKind;
use raddle_schedule::Schedule;

use crate::os::folder;
use crate::plan::stdin::Stdin;
use crate::plan::Plan;
use crate::plan::{circumstances, environment};
use crate::run::report::{Failure, RunReport, Serial};

/// Captured input up to this size goes into the schedule file, more into a file next to it.
const INLINE_STDIN: usize = 1 << 20;

/// Writes the schedule of a failure and returns its file, or says why there is none.
pub fn write(plan: &Plan, report: &RunReport, failure: &Failure) -> Result<PathBuf, String> {
    if failure.kind == FailureKind::Leak {
        return Err("a replay starts afresh, where nothing has leaked yet; the same seed shows it again".to_string());
    }
    if failure.serial == Serial::Never {
        return Err("threads ran at the same time, and the failure did not happen when one thread at a time took \
                    the same steps"
            .to_string());
    }
    let Some(log) = &failure.log else {
        return Err("the decisions of the run were lost".to_string());
    };
    if failure.log_is_full {
        return Err(format!("the run has more than {} decisions, which is the most that raddle keeps", log.len()));
    }
    let mut schedule = schedule_of(plan, report, failure, log);
    let path = free_path(&plan.out.join(failure.file_name(&schedule.command)), &schedule);
    let stored = || -> io::Result<()> {
        folder::make(&plan.out)?;
        schedule.stdin = stdin_of(&plan.target.stdin, &path)?;
        write_whole(&path, raddle_schedule::write(&schedule).as_bytes())
    }();
    match stored {
        Ok(()) => Ok(path),
        Err(error) => Err(format!("{} could not be written: {error}", path.display())),
    }
}

/// Where a schedule goes: the same failure has the same name in every campaign, but what another run has left there is
/// kept, since its seed may be in somebody's notes.
fn free_path(path: &Path, schedule: &Schedule) -> PathBuf {
    let same_run = |there: Schedule| {
        (there.settings.seed, there.run, there.run_seed) == (schedule.settings.seed, schedule.run, schedule.run_seed)
    };
    let is_free = match std::fs::read(path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(bytes) => raddle_schedule::parse(&bytes).is_ok_and(same_run),
    };
    if is_free {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{}-{}.schedule", schedule.settings.seed, schedule.run))
}

fn schedule_of(plan: &Plan, report: &RunReport, failure: &Failure, log: &[u32]) -> Schedule {
    let target = &plan.target;
    let counts = failure.counts(&report.counts);
    Schedule {
        raddle: env!("CARGO_PKG_VERSION").to_string(),
        command: target.command.iter().map(|a| a.as_bytes().to_vec()).collect(),
        directory: bytes(&target.directory),
        environment: environment::recorded(&target.environment, &target.added, &target.kept),
        variables: Some(circumstances::variables(&target.environment)),
        files: circumstances::files(plan),
        build_id: target.program.build_id.clone().unwrap_or_else(|| "unknown".to_string()),
        settings: plan.settings,
        run: report.run,
        run_seed: failure.run_seed,
        fair_from: counts.fair_from,
        delays: failure.delays.clone(),
        racing: failure.racing.iter().map(|place| (place.file.clone().into_bytes(), place.address)).collect(),
        suppressions: plan.benign.as_ref().and_then(|s| s.path.as_deref()).map(|path| bytes(&absolute(path))),
        profile: failure.profile,
        own_directory: target.own_directory,
        sync_functions: plan.sync_functions.names.clone(),
        check: plan.check.unwrap_or(0),
        identities: failure
            .stacks
            .iter()
            .filter(|s| s.count > 0)
            .map(|s| [s.size, s.guard.into(), s.count.into()])
            .collect(),
        stdin: raddle_schedule::Stdin::Null,
        expect: raddle_schedule::Expect {
            exit: plan.expect.exit,
            signal: plan.expect.signal.unwrap_or(0),
            output: plan.expect.output.as_ref().map(|(path, _)| bytes(&absolute(path))),
            check: plan.expect.oracle.as_ref().map(|command| command.as_bytes().to_vec()),
        },
        failure: raddle_schedule::Failure {
            kind: failure.kind.name().to_string(),
            message: failure.message.clone(),
            place: failure.place.clone(),
        },
        counts: raddle_schedule::Counts {
            steps: counts.steps,
            points: counts.points,
            switches: counts.switches,
            threads: counts.threads,
        },
        decisions: log.iter().copied().map(Decision).collect(),
    }
}

fn stdin_of(stdin: &Stdin, schedule: &Path) -> io::Result<raddle_schedule::Stdin> {
    Ok(match stdin {
        Stdin::Null => raddle_schedule::Stdin::Null,
        Stdin::File(path) => raddle_schedule::Stdin::File(bytes(&absolute(path))),
        Stdin::Captured(file) => {
            let captured = Stdin::bytes(file)?;
            if captured.len() <= INLINE_STDIN {
                return Ok(raddle_schedule::Stdin::Bytes(captured));
            }
            let beside = schedule.with_extension("stdin");
            write_whole(&beside, &captured)?;
            raddle_schedule::Stdin::Beside(beside.file_name().unwrap_or_default().as_bytes().to_vec())
        }
    })
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".raddle-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    // A full disk may show only here.
    file.as_file().sync_all()?;
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable)?;
    file.persist(path)?;
    Ok(())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::{PolicySettings, RunSettings};

    #[test]
    fn a_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.schedule");
        write_whole(&path, b"text").expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"text");
        assert!(write_whole(&folder.path().join("none/a"), b"text").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("is there").count(), 1);
    }

    #[test]
    fn the_schedule_of_another_run_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deadlock-1a2b3c4d.schedule");
        let schedule = |run| Schedule {
            raddle: "0".into(),
            command: vec![b"./a".to_vec()],
            build_id: "1".into(),
            settings: RunSettings { seed: 7, ..RunSettings::of(PolicySettings::new("random", [])) },
            run,
            failure: raddle_schedule::Failure { kind: "deadlock".into(), ..Default::default() },
            ..Schedule::default()
        };
        assert_eq!(free_path(&path, &schedule(3)), path);
        std::fs::write(&path, raddle_schedule::write(&schedule(3))).expect("written");
        assert_eq!(free_path(&path, &schedule(3)), path);
        assert_eq!(free_path(&path, &schedule(4)), folder.path().join("deadlock-1a2b3c4d-7-4.schedule"));
        std::fs::write(&path, "another file").expect("written");
        assert_eq!(free_path(&path, &schedule(3)), folder.path().join("deadlock-1a2b3c4d-7-3.schedule"));
    }

    #[test]
    fn a_full_disk_is_an_error() {
        // /dev/full cannot be a folder, but the error of a write to it is that of a full disk.
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opened");
        assert_eq!(full.write_all(b"x").expect_err("is full").kind(), io::ErrorKind::StorageFull);
    }
}
