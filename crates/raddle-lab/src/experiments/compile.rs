//! Programs of experiments that are not those of a suite.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_cli::error::Error;

/// Compiles a C program with threads; the compiler is a command and its first words.
pub fn compile(compiler: &[OsString], flags: &[&str], source: &Path, binary: &Path) -> Result<PathBuf, Error> {
    let not_compiled = |reason: String| Error::NotCompared { program: source.display().to_string(), reason };
    let (program, words) = compiler.split_first().ok_or_else(|| not_compiled("there is no compiler".to_string()))?;
    let mut command = Command::new(program);
    command.args(words).args(["-std=gnu17", "-pthread"]).args(flags).arg(source).arg("-o").arg(binary);
    let not_started = |error| not_compiled(format!("{} cannot be started: {error}", program.display()));
    let output = command.output().map_err(not_started)?;
    if !output.status.success() {
        return Err(not_compiled(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::path::absolute(binary).map_err(Error::Directory)
}
