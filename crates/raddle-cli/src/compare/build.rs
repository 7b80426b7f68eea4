//! Compiles the programs of a suite. What is there and newer than all sources and than raddle itself is used again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::SystemTime;

use super::suite::Entry;

/// The most lines of a compiler's complaints that are told.
const LINES: usize = 8;

/// What rustc is told so that accesses to memory become visible.
const RUST_HOOKS: [&str; 4] = [
    "-Cpasses=forceattrs,function(tsan)",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    "-Cllvm-args=-tsan-distinguish-volatile=1",
];

/// Where programs are built, and with what.
pub struct Builder {
    folder: PathBuf,
    /// This program, which is the compiler of programs whose accesses are visible.
    raddle: PathBuf,
    /// Nothing that is older can be used again.
    newest: SystemTime,
}

/// A program that is being compiled.
struct Running {
    index: usize,
    child: Child,
    unfinished: PathBuf,
}

impl Builder {
    /// Prepares to build the programs of a suite in a folder.
    pub fn new(folder: &Path, suite: &Path) -> io::Result<Builder> {
        fs::create_dir_all(folder)?;
        let raddle = std::env::current_exe()?;
        let newest = newest(suite)?.max(fs::metadata(&raddle)?.modified()?);
        Ok(Builder { folder: std::path::absolute(folder)?, raddle, newest })
    }

    /// The binary of an entry. Variants share theirs.
    pub fn binary(&self, entry: &Entry) -> PathBuf {
        let family = entry.source.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = entry.source.file_name().unwrap_or_default().to_string_lossy().replace('.', "_");
        self.folder.join(format!("{family}-{name}"))
    }

    /// Compiles what has to be; says for each entry why that did not work. `tell` hears of each that is done.
    pub fn build(&self, entries: &[Entry], mut tell: impl FnMut(&Entry)) -> Vec<Result<PathBuf, String>> {
        let binaries: Vec<PathBuf> = entries.iter().map(|entry| self.binary(entry)).collect();
        let mut results: Vec<Option<Result<(), String>>> = vec![None; entries.len()];
        let mut running: Vec<Running> = Vec::new();
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        for (index, entry) in entries.iter().enumerate() {
            let first = binaries.iter().position(|other| *other == binaries[index]);
            if first != Some(index) {
                continue;
            }
            if fs::metadata(&binaries[index]).and_then(|m| m.modified()).is_ok_and(|built| built > self.newest) {
                results[index] = Some(Ok(()));
                continue;
            }
            // No threads: campaigns fork this process.
            if running.len() == at_once {
                self.finish(running.remove(0), entries, &mut results, &mut tell);
            }
            match self.start(entry, &binaries[index]) {
                Ok((child, unfinished)) => running.push(Running { index, child, unfinished }),
                Err(reason) => results[index] = Some(Err(reason)),
            }
        }
        for one in running {
            self.finish(one, entries, &mut results, &mut tell);
        }
        let result = |index: usize| {
            let first = binaries.iter().position(|other| *other == binaries[index]).unwrap_or(index);
            match &results[first] {
                Some(Err(reason)) => Err(reason.clone()),
                _ => Ok(binaries[index].clone()),
            }
        };
        (0..entries.len()).map(result).collect()
    }

    fn start(&self, entry: &Entry, binary: &Path) -> Result<(Child, PathBuf), String> {
        let unfinished = binary.with_extension(format!("{}.new", std::process::id()));
        let mut command = self.command(entry).map_err(|error| format!("it cannot be compiled: {error}"))?;
        command.arg(&entry.source).arg("-o").arg(&unfinished).args(&entry.header.flags);
        let log = File::create(log_of(binary)).map_err(|error| format!("it cannot be compiled: {error}"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let compiler = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().map_err(|error| format!("{compiler} cannot be started: {error}"))?;
        Ok((child, unfinished))
    }

    fn finish(
        &self,
        mut running: Running,
        entries: &[Entry],
        results: &mut [Option<Result<(), String>>],
        tell: &mut impl FnMut(&Entry),
    ) {
        let entry = &entries[running.index];
        let binary = self.binary(entry);
        let ended = running.child.wait();
        results[running.index] = Some(match ended {
            Ok(status) if status.success() => {
                fs::rename(&running.unfinished, &binary).map_err(|error| format!("it cannot be compiled: {error}"))
            }
            ended => {
                // What was not finished is of no use; it may not even be there.
                let _ = fs::remove_file(&running.unfinished);
                Err(complaint(ended, &log_of(&binary)))
            }
        });
        tell(entry);
    }

    fn command(&self, entry: &Entry) -> io::Result<Command> {
        let ending = entry.source.extension().unwrap_or_default();
        let words = |program: &Path, words: &[&str]| {
            let mut command = Command::new(program);
            command.args(words);
            command
        };
        let mut command = match (ending.to_str(), entry.instrumented()) {
            (Some("c"), false) => words(Path::new("gcc"), &["-std=gnu17"]),
            (Some("c"), true) => words(&self.raddle, &["cc", "-std=gnu17"]),
            (Some("rs"), _) => words(Path::new("rustc"), &["--edition", "2021", "-Copt-level=1", "-g"]),
            (_, false) => words(Path::new("g++"), &["-std=c++20"]),
            (_, true) => words(&self.raddle, &["c++", "-std=c++20"]),
        };
        if ending != "rs" {
            command.args(["-O1", "-g", "-pthread"]);
            // What raddle cc would hide is the user's choice elsewhere, not here.
            command.env_remove("RADDLE_VISIBLE");
        } else if entry.instrumented() {
            let hooks = self.folder.join("libraddle-hooks.a");
            let archive = raddle_hooks::archive(true, false);
            if fs::read(&hooks).ok().as_deref() != Some(archive) {
                fs::write(&hooks, archive)?;
            }
            let mut link = OsString::from("-Clink-arg=");
            link.push(&hooks);
            command.args(RUST_HOOKS).arg(link);
        }
        Ok(command)
    }
}

fn log_of(binary: &Path) -> PathBuf {
    binary.with_extension("log")
}

fn complaint(ended: io::Result<ExitStatus>, log: &Path) -> String {
    let said = fs::read(log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
    match ended {
        Ok(_) if !lines.is_empty() => format!("it does not compile: {}", lines.join("\n    ")),
        Ok(status) => format!("it does not compile ({status})"),
        Err(error) => format!("it does not compile: {error}"),
    }
}

/// When any file of a folder was changed last: a source may include others.
fn newest(folder: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            let name = entry.file_name();
            if meta.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target" {
                folders.push(entry.path());
            } else if meta.is_file() {
                newest = newest.max(meta.modified()?);
            }
        }
    }
    Ok(newest)
}
