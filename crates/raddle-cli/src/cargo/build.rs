//! Starting cargo so that what it builds is instrumented; `cargo raddle build`.
//!
//! What is built has a target directory of its own, `raddle/<what is visible>` in the project's: nothing of the user's
//! is built again, and nothing is mixed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde::Deserialize;

use super::error::CargoError;
use super::wrapper::{self, Settings};
use super::{recording, users_wrapper};
use crate::arguments::cargo::{self as args, Packages, Words};
use crate::arguments::TestOptions;
use crate::compile::rustc::{Visible, TARGET};
use crate::error::Error;
use raddle_report::exit_code;

/// Variables that are set for cargo and are nobody else's business.
pub const OURS: [&str; 5] = [wrapper::VARIABLE, recording::VARIABLE, "RUSTC_WRAPPER", "RUSTC_BOOTSTRAP", BUILD_DIR];

/// Where cargo keeps what is not final; without it, the target directory.
const BUILD_DIR: &str = "CARGO_BUILD_BUILD_DIR";

/// What is built, and with what it is asked for again.
const STAMP: &str = "raddle.stamp";

pub fn run(args: &args::Build) -> Result<u8, CargoError> {
    let cargo = Cargo::prepare(&args.packages, args.visibility.visible(&TestOptions::default()))?;
    let mut command = cargo.command("build", &args.packages)?;
    command.args(args.targets.words().0);
    command.args(Words::default().flag("--quiet", args.quiet).flag("--verbose", args.verbose).0.iter());
    succeeded(status(&mut command)?)?;
    Ok(exit_code::OK)
}

/// A cargo that builds what raddle can look into.
pub struct Cargo {
    settings: Settings,
    ourselves: PathBuf,
}

impl Cargo {
    /// Checks that it will work, and makes the target directory.
    pub fn prepare(packages: &Packages, visible: Visible) -> Result<Cargo, CargoError> {
        if let Some(target) = packages.target.as_ref().filter(|target| *target != TARGET) {
            return Err(CargoError::Target(target.clone()));
        }
        let working = std::env::current_dir().map_err(Error::Directory)?;
        let directory = target_directory(packages)?.join("raddle").join(visible.name());
        check_toolchain(visible)?;
        let hooks = make_directory(&directory, visible)?;
        let users = users_wrapper::find(&working);
        let bootstrap = std::env::var_os("RUSTC_BOOTSTRAP");
        let ourselves = std::env::current_exe().map_err(Error::Directory)?;
        Ok(Cargo { settings: Settings { visible, directory, hooks, users, bootstrap }, ourselves })
    }

    /// A command of cargo that builds.
    pub fn command(&self, name: &str, packages: &Packages) -> Result<Command, CargoError> {
        let settings = serde_json::to_string(&self.settings)
            .map_err(|error| CargoError::NotUnderstood { what: "a path", reason: error.to_string() })?;
        let mut command = Command::new(cargo());
        command.arg(name).args(packages.for_build().0);
        command.args(["--target", TARGET, "--target-dir"]).arg(&self.settings.directory);
        command.env("RUSTC_WRAPPER", &self.ourselves).env(wrapper::VARIABLE, settings);
        command.env(BUILD_DIR, &self.settings.directory);
        if self.settings.visible.std {
            command.args(["-Z", "build-std=std,panic_abort"]).env("RUSTC_BOOTSTRAP", "1");
        }
        Ok(command)
    }

    /// Makes cargo record how it would start programs, instead of starting them.
    pub fn record(&self, command: &mut Command, folder: &Path) {
        // As configuration and not as a variable, which would be split at blanks.
        let runner = serde_json::json!([self.ourselves.to_string_lossy(), recording::WORD]);
        command.arg("--config").arg(format!("target.{TARGET}.runner={runner}"));
        command.env(recording::VARIABLE, folder);
    }
}

/// The cargo that the user has called.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a command to its end.
pub fn status(command: &mut Command) -> Result<ExitStatus, CargoError> {
    command.status().map_err(not_started(command.get_program()))
}

/// For a program that cannot be started.
pub fn not_started(program: &OsStr) -> impl FnOnce(io::Error) -> CargoError {
    let program = program.to_string_lossy().into_owned();
    move |source| CargoError::NotStarted { program, source }
}

/// Cargo's failures are ours; it has said what they are.
pub fn succeeded(status: ExitStatus) -> Result<(), CargoError> {
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(CargoError::Cargo(u8::try_from(code).unwrap_or(exit_code::INTERNAL))),
        // Ctrl-C, most of all.
        None => Err(CargoError::Cargo(130)),
    }
}

/// The project's target directory, as cargo knows it.
fn target_directory(packages: &Packages) -> Result<PathBuf, CargoError> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let mut command = Command::new(cargo());
    command.args(["metadata", "--format-version=1", "--no-deps"]).args(packages.for_manifest().0);
    command.stderr(Stdio::inherit());
    // Even with a directory of their own choice, users need a project.
    let output = command.output().map_err(not_started(command.get_program()))?;
    succeeded(output.status)?;
    if let Some(directory) = &packages.target_dir {
        return Ok(std::path::absolute(directory).map_err(Error::Directory)?);
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| CargoError::NotUnderstood { what: "the metadata", reason: error.to_string() })?;
    Ok(metadata.target_directory)
}

fn check_toolchain(visible: Visible) -> Result<(), CargoError> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let ask = |argument: &[&str]| -> Result<String, CargoError> {
        let output = Command::new(&rustc).args(argument).output().map_err(not_started(&rustc))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let version = ask(&["-vV"])?;
    match version.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(TARGET) => {}
        host => return Err(CargoError::Host(host.unwrap_or("an unnamed host").to_string())),
    }
    if visible.std {
        let library = Path::new(ask(&["--print", "sysroot"])?.trim()).join("lib/rustlib/src/rust/library");
        if !library.join("std").is_dir() {
            return Err(CargoError::NoStdSources(library));
        }
    }
    Ok(())
}

/// Makes the target directory, with the hooks in it.
///
/// Cargo does not know about our flags and would keep what another version of raddle has built, so that is removed.
fn make_directory(directory: &Path, visible: Visible) -> Result<PathBuf, CargoError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| CargoError::Write { path, source }
    };
    let stamp_file = directory.join(STAMP);
    let hooks = directory.join("libraddle_hooks.a");
    let archive = visible.archive();
    let stamp = format!(
        "raddle {}\nflags {}\nhooks {:016x}\n",
        env!("CARGO_PKG_VERSION"),
        visible.flags().join(" "),
        raddle_schedule::checksum(archive)
    );
    let is_current = std::fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp);
    if is_current && hooks.is_file() {
        return Ok(hooks);
    }
    let built = directory.join(TARGET);
    if built.exists() {
        std::fs::remove_dir_all(&built).map_err(failed(&built))?;
    }
    std::fs::create_dir_all(directory).map_err(failed(directory))?;
    std::fs::write(&hooks, archive).map_err(failed(&hooks))?;
    std::fs::write(&stamp_file, stamp).map_err(failed(&stamp_file))?;
    Ok(hooks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_built_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = folder.path().join("raddle/atomics");
        let visible = Visible::default();
        let hooks = make_directory(&directory, visible).expect("made");
        assert!(std::fs::read(&hooks).is_ok_and(|bytes| bytes == visible.archive()));
        let built = directory.join(TARGET).join("debug");
        std::fs::create_dir_all(&built).expect("a folder");
        make_directory(&directory, visible).expect("made");
        assert!(built.exists());
        std::fs::write(directory.join(STAMP), "raddle 0.0.1").expect("a file");
        make_directory(&directory, visible).expect("made");
        assert!(!built.exists());
    }
}
