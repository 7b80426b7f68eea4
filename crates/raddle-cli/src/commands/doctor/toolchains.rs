//! What makes atomics and memory visible: gcc and clang for `raddle cc` and `raddle c++`, rustc for `cargo raddle`.
//! Each is tried on a few lines. None is needed for programs as they are, so what is missing is only noted.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::{Object, ObjectSymbol};
use raddle_protocol::Points;

use super::{good, note, try_runs, Probe};
use crate::compile::rustc::{Visible, TARGET};
use raddle_engine::campaign::End;
use raddle_inspect::elf;
use raddle_inspect::search_path::{find_in_path, is_executable};

/// Two threads that race: at the level `race` that must be noticed.
const C: &str = "#include <pthread.h>
static int n;
static void *adds(void *x) { n++; return x; }
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, adds, 0)) return 1;
    adds(0);
    return pthread_join(thread, 0);
}
";

/// An atomic and a plain access.
const RUST: &str = "pub fn f(a: &std::sync::atomic::AtomicU32, b: &mut u32) { \
                    *b = a.load(std::sync::atomic::Ordering::SeqCst) }\n";

/// Runs of the program in C: places are learned in the first ten.
const RUNS: u64 = 20;

/// The oldest and the newest clang that is looked for by its number.
const CLANGS: std::ops::RangeInclusive<u32> = 12..=40;

pub fn compilers(runtime: Option<&Path>) -> Vec<Probe> {
    let named = |name: &str| find(OsStr::new(name)).map(|_| name.to_string());
    let clang = named("clang").or_else(|| CLANGS.rev().find_map(|number| named(&format!("clang-{number}"))));
    let found: Vec<_> = [named("gcc"), clang].into_iter().flatten().collect();
    if found.is_empty() {
        return vec![note(
            "raddle cc, raddle c++",
            "neither gcc nor clang was found",
            "C and C++ memory accesses are not seen without one; install gcc and g++ (on Debian: apt install g++)",
        )];
    }
    found.iter().map(|compiler| try_compiler(compiler, runtime)).collect()
}

/// A program, if it is there and can be started.
fn find(name: &OsStr) -> Option<PathBuf> {
    find_in_path(name).filter(|path| is_executable(path))
}

fn try_compiler(compiler: &str, runtime: Option<&Path>) -> Probe {
    let path = find(OsStr::new(compiler)).map(|path| format!("({})", path.display()));
    let name = format!("raddle cc with {compiler}{}{}", after_a_blank(version_of(compiler)), after_a_blank(path));
    let companion = compiler.replace("gcc", "g++").replace("clang", "clang++");
    let advice =
        "raddle cc does not work with it; is it completely installed (on Debian: apt install g++)? RADDLE_CC and \
                  RADDLE_CXX name other compilers";
    match build_and_run(compiler, runtime) {
        Err(reason) => note(name, reason, advice),
        Ok(()) if find(OsStr::new(&companion)).is_none() => {
            note(name, format!("works, but {companion} was not found"), "raddle c++ needs it")
        }
        Ok(()) => good(name),
    }
}

/// Builds a program and makes runs of it.
fn build_and_run(compiler: &str, runtime: Option<&Path>) -> Result<(), String> {
    let Some(runtime) = runtime else { return Err("the runtime library does not work".to_string()) };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, program) = (folder.path().join("race.c"), folder.path().join("race"));
    std::fs::write(&source, C).map_err(|error| error.to_string())?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(this);
    command.args(["cc", compiler, "-pthread"]).arg(&source).arg("-o").arg(&program);
    quietly(&mut command)?;
    let inspected = elf::inspect(&program).map_err(|refusal| refusal.to_string())?;
    if inspected.richest_points() != Points::Race {
        return Err("what it builds does not show its accesses".to_string());
    }
    let campaign = try_runs(&[program.into_os_string()], runtime, |options| {
        (options.runs, options.points) = (Some(RUNS), Some(Points::Race));
    })?;
    match (campaign.end, campaign.findings.first()) {
        (End::Broken(error), _) => Err(error.to_string()),
        (_, Some(finding)) => Err(format!("what it builds fails: {}", finding.failure.message)),
        (_, None) if campaign.racing.is_empty() => Err("a race in what it builds is not seen".to_string()),
        (_, None) => Ok(()),
    }
}

/// Runs a command; what it says is for when it fails.
fn quietly(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(match said.lines().find(|line| line.contains("error")).or(said.lines().next()) {
        Some(line) => line.to_string(),
        None => format!("{program} failed ({})", output.status),
    })
}

/// What a compiler says its version is.
fn version_of(compiler: &str) -> Option<String> {
    version_in(&quietly(Command::new(compiler).arg("--version")).ok()?)
}

/// The version in the first line of what a compiler says: `12.2.0` of `gcc (Debian 12.2.0-14) 12.2.0`.
fn version_in(said: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    said.lines().next()?.split(' ').find(is_version).map(str::to_string)
}

fn after_a_blank(text: Option<String>) -> String {
    text.map(|text| format!(" {text}")).unwrap_or_default()
}

pub fn rust() -> Vec<Probe> {
    let name = "cargo raddle";
    if find(OsStr::new("cargo")).is_none() {
        return vec![note(name, "cargo was not found", "Rust atomics are not seen without it; see https://rustup.rs")];
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = match quietly(Command::new(&rustc).arg("-vV")) {
        Ok(said) => said,
        Err(reason) => return vec![note(name, reason, "Rust atomics are not seen without it; see https://rustup.rs")],
    };
    let name = format!("{name} with rustc{}", after_a_blank(version_in(&said)));
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("an unnamed host");
    if host != TARGET {
        return vec![note(name, format!("it compiles for {host}"), "only x86_64-unknown-linux-gnu is supported")];
    }
    let mut probes = match instruments(&rustc) {
        Err(reason) => vec![note(name, reason, "Rust atomics are not seen; use a stable toolchain from rustup")],
        Ok(()) => vec![match find(OsStr::new("cargo-raddle")) {
            None => note(
                name,
                "cargo-raddle is not in PATH",
                "cargo only looks for it there; it is installed next to \
                                                               raddle",
            ),
            Some(path) => match quietly(Command::new(&path).arg("--version")) {
                Ok(version) => same_release(&name, &path, &version),
                Err(reason) => note(name, reason, "cargo raddle does not work; install raddle again"),
            },
        }],
    };
    let sysroot = quietly(Command::new(&rustc).args(["--print", "sysroot"])).unwrap_or_default();
    let sources = "cargo raddle --std (the sources of std)";
    probes.push(if Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std").is_dir() {
        good(sources)
    } else {
        note(sources, "not installed", "--fail-on race needs them; rustup component add rust-src")
    });
    probes
}

/// Whether the `cargo-raddle` that cargo finds is of the same release as this program.
fn same_release(name: &str, path: &Path, version: &str) -> Probe {
    let version = version.split_whitespace().last().unwrap_or("none");
    if version == env!("CARGO_PKG_VERSION") {
        return good(format!("{name} ({})", path.display()));
    }
    let seen = format!("{} is version {version}, this is {}", path.display(), env!("CARGO_PKG_VERSION"));
    note(name, seen, "cargo raddle may find other failures than raddle; install both from one release")
}

/// Compiles a crate of one line and looks for what the compiler should have put into it.
fn instruments(rustc: &OsString) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, made) = (folder.path().join("line.rs"), folder.path().join("line.o"));
    std::fs::write(&source, RUST).map_err(|error| error.to_string())?;
    let mut command = Command::new(rustc);
    command.args(["--crate-type=lib", "--emit=obj", "-Copt-level=1", "-Ccodegen-units=1"]);
    command.args(Visible { memory: true, std: false }.flags()).arg(&source).arg("-o").arg(&made);
    quietly(&mut command)?;
    let bytes = std::fs::read(&made).map_err(|error| error.to_string())?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    let calls = |name: &str| file.symbols().any(|symbol| symbol.is_undefined() && symbol.name() == Ok(name));
    if calls("__tsan_atomic32_load") && calls("__tsan_write4") {
        return Ok(());
    }
    Err("-C passes=tsan has no effect".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_compilers() {
        let version = |said| version_in(said).unwrap();
        assert_eq!(version("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"), "12.2.0");
        assert_eq!(version("Debian clang version 19.1.7 (3~deb12u1)"), "19.1.7");
        assert_eq!(version("rustc 1.95.0 (59807616e 2026-04-14)"), "1.95.0");
        assert_eq!(version_in("tcc"), None);
    }

    #[test]
    fn another_release_of_cargo_raddle_is_noticed() {
        let probe = |version| super::super::text(&[same_release("cargo raddle", Path::new("/b/it"), version)], false);
        let same = concat!("cargo raddle ", env!("CARGO_PKG_VERSION"), "\n");
        assert!(probe(same).starts_with("ok       cargo raddle (/b/it)\n"), "{}", probe(same));
        let expected = concat!("note     cargo raddle: /b/it is version 0.0.9, this is ", env!("CARGO_PKG_VERSION"));
        assert!(probe("cargo raddle 0.0.9\n").starts_with(expected), "{}", probe("cargo raddle 0.0.9\n"));
    }

    #[test]
    fn what_a_failing_command_says_is_told() {
        let error = quietly(Command::new("sh").args(["-c", "echo first >&2; echo 'an error' >&2; exit 1"]));
        assert_eq!(error, Err("an error".to_string()));
        assert!(quietly(&mut Command::new("/no/such/compiler")).unwrap_err().contains("cannot be started"));
        assert_eq!(quietly(Command::new("sh").args(["-c", "echo well"])), Ok("well\n".to_string()));
    }
}
