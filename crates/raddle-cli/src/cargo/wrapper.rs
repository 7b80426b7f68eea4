//! As RUSTC_WRAPPER: every call of the compiler comes through here.
//!
//! What is compiled for the target is instrumented, and the hooks are linked into whatever is linked. Build scripts and
//! procedural macros are compiled without `--target` and go through untouched.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::linker;
use crate::compile::rustc::Visible;
use raddle_report::exit_code;

/// The variable that tells the wrapper what to do.
pub const VARIABLE: &str = "RADDLE_CARGO_WRAPPER";

/// What the wrapper is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// What is made visible.
    pub visible: Visible,
    /// The separate target directory.
    pub directory: PathBuf,
    pub hooks: PathBuf,
    /// The user's own wrapper.
    pub users: Option<OsString>,
    /// The user's own RUSTC_BOOTSTRAP.
    pub bootstrap: Option<OsString>,
}

/// The settings, if this process is a wrapper.
pub fn settings() -> Option<Settings> {
    serde_json::from_str(&std::env::var(VARIABLE).ok()?).ok()
}

/// Runs the compiler; comes back only when that is impossible. The words are those that cargo wrote: the compiler,
/// perhaps behind the workspace's wrapper, and its arguments.
pub fn run(settings: &Settings, words: &[OsString]) -> u8 {
    let invocation = Invocation::read(words);
    let mut command = match (&settings.users, words) {
        (Some(users), words) => with(users, words),
        (None, [compiler, rest @ ..]) => with(compiler, rest),
        (None, []) => {
            eprintln!("error: {VARIABLE} is set, but cargo-raddle was not started by cargo");
            return exit_code::USAGE;
        }
    };
    // With a std of its own making, cargo gives every crate an option of nightly's.
    let unstable = words.iter().any(|word| word.to_string_lossy().starts_with("-Z"));
    if !invocation.of_std && !unstable {
        // Cargo needs it for --std; the user's crates and their build scripts must not find themselves on nightly.
        match &settings.bootstrap {
            Some(value) => command.env("RUSTC_BOOTSTRAP", value),
            None => command.env_remove("RUSTC_BOOTSTRAP"),
        };
    }
    if invocation.is_instrumented() {
        command.args(settings.visible.flags());
        command.args(invocation.debug_flags());
    }
    // An archive takes no room where nobody calls a hook.
    if invocation.links() {
        let mut argument = OsString::from("-Clink-arg=");
        argument.push(&settings.hooks);
        command.arg(argument);
        if invocation.is_program() && linker::exports_symbols(settings, words, &invocation.linker) {
            command.arg(linker::EXPORT);
        }
    }
    let error = command.exec();
    eprintln!("error: cannot start {}: {error}", command.get_program().to_string_lossy());
    exit_code::INTERNAL
}

fn with(program: &OsStr, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// What matters in a call of rustc.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    for_target: bool,
    crate_name: Option<String>,
    crate_types: Vec<String>,
    test: bool,
    debug_info: bool,
    /// A crate of the standard library (`-Z build-std`).
    of_std: bool,
    /// A crate of raddle's own: points in it would be none of the program's.
    of_raddle: bool,
    /// The options that choose and direct the linker.
    linker: Vec<String>,
}

impl Invocation {
    /// From the compiler's command line.
    pub fn read(words: &[OsString]) -> Invocation {
        let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
        Invocation { of_raddle: package == "raddle", ..Invocation::of(&expanded(words)) }
    }

    fn of(words: &[String]) -> Invocation {
        let mut found = Invocation::default();
        let mut rest = words.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            // `--name value`, `--name=value`, `-C value` and `-Cvalue` are all in use.
            let (name, value) = match word {
                "--target" | "--crate-name" | "--crate-type" | "-C" | "--codegen" | "-Z" => {
                    (word, rest.next().unwrap_or_default())
                }
                _ if word.starts_with("-C") || word.starts_with("-Z") => word.split_at(2),
                _ => word.split_once('=').unwrap_or((word, "")),
            };
            match name {
                "--target" => found.for_target = true,
                "--crate-name" => found.crate_name = Some(value.to_string()),
                "--crate-type" => found.crate_types.extend(value.split(',').map(str::to_string)),
                "--test" => found.test = true,
                "-g" => found.debug_info = true,
                "-C" | "--codegen" => found.codegen(value),
                "-Z" if value == "force-unstable-if-unmarked" => found.of_std = true,
                _ => {}
            }
        }
        found
    }

    fn codegen(&mut self, option: &str) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            // The last one counts.
            "debuginfo" => self.debug_info = !matches!(value, "0" | "none"),
            _ if name.starts_with("link") && name != "linker-plugin-lto" => self.linker.push(format!("-C{option}")),
            _ => {}
        }
    }

    /// Whether something is compiled for the target. Cargo's question for the names of files has the crate `___`.
    fn compiles(&self) -> bool {
        self.for_target && self.crate_name.as_deref().is_some_and(|name| name != "___")
    }

    fn is_instrumented(&self) -> bool {
        // The hooks call memcpy, which compiler_builtins may implement.
        self.compiles() && !self.of_raddle && self.crate_name.as_deref() != Some("compiler_builtins")
    }

    fn is_program(&self) -> bool {
        self.test || self.crate_types.is_empty() || self.crate_types.iter().any(|t| t == "bin")
    }

    fn links(&self) -> bool {
        let is_library = self.crate_types.iter().any(|t| t == "cdylib" || t == "dylib");
        self.compiles() && (self.is_program() || is_library)
    }

    /// Reports need lines and names, which profiles without debug information leave out and strip.
    fn debug_flags(&self) -> &'static [&'static str] {
        if self.debug_info {
            &["-Cstrip=none"]
        } else {
            &["-Cdebuginfo=line-tables-only", "-Cstrip=none"]
        }
    }
}

/// The words, with those from files in their places: cargo writes `@file` when a command line is too long.
fn expanded(words: &[OsString]) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let word = word.to_string_lossy();
        match word.strip_prefix('@').map(std::fs::read_to_string) {
            Some(Ok(text)) => all.extend(text.lines().map(str::to_string)),
            _ => all.push(word.into_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Invocation {
        Invocation::of(&line.split(' ').map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_is_for_the_target_is_instrumented() {
        assert!(read("rustc --crate-name a --crate-type lib --target x86_64-unknown-linux-gnu").is_instrumented());
        assert!(read("rustc --crate-name=a --target=x86_64-unknown-linux-gnu a.rs").is_instrumented());
        assert!(!read("rustc --crate-name build_script_build --crate-type bin build.rs").is_instrumented());
        assert!(!read("rustc - --crate-name ___ --print=file-names --target x").is_instrumented());
        assert!(!read("rustc -vV").is_instrumented());
        assert!(!read("rustc --crate-name compiler_builtins --target x").is_instrumented());
    }

    #[test]
    fn hooks_go_where_something_is_linked() {
        let links = |rest: &str| read(&format!("rustc --crate-name a --target x {rest}")).links();
        assert!(links("--crate-type bin") && links("--crate-type rlib --crate-type cdylib"));
        assert!(links("--crate-type lib --test") && links("--crate-type=rlib,dylib"));
        assert!(!links("--crate-type lib") && !links("--crate-type staticlib"));
    }

    #[test]
    fn the_last_word_on_debug_information_counts() {
        let has = |flags: &str| read(&format!("rustc {flags}")).debug_info;
        assert!(has("-C debuginfo=2") && has("-Cdebuginfo=line-tables-only") && has("-g"));
        assert!(!has("-C opt-level=3") && !has("-C debuginfo=2 -C debuginfo=0") && !has("-Cdebuginfo=none"));
    }

    #[test]
    fn options_of_the_linker_are_known() {
        let found = read("rustc -C linker=clang -Clink-arg=-fuse-ld=mold -C linker-plugin-lto -C lto");
        assert_eq!(found.linker, ["-Clinker=clang", "-Clink-arg=-fuse-ld=mold"]);
    }

    #[test]
    fn long_command_lines_are_in_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("words");
        std::fs::write(&file, "--target\nx\n--crate-name\na\n").expect("a file");
        let words = ["rustc".into(), format!("@{}", file.display()).into()];
        assert!(Invocation::of(&expanded(&words)).is_instrumented());
    }
}
