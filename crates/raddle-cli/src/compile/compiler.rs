//! Which compiler there is behind a command line, and whose it is.
//!
//! A compiler may have launchers before it (`ccache gcc`), and it may be given on the command line or by
//! the environment. Whether it is gcc or clang is told by its name, where that is a binary's own, and else
//! by what it says to `--version`: a process more for `cc` that is a script, or that is ccache.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::arguments::{by_name, Input};
use super::CompileError;
use raddle_inspect::search_path::{find_in_path, is_executable};

/// The command that was started: `raddle cc` or `raddle c++`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// `raddle cc`.
    C,
    /// `raddle c++`.
    Cxx,
}

/// Whose compiler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// GNU's, from 11 on.
    Gcc,
    /// LLVM's, from 12 on.
    Clang,
}

/// A compiler with the launchers before it.
#[derive(Debug, PartialEq, Eq)]
pub struct Compiler {
    words: Vec<OsString>,
}

impl Driver {
    pub fn name(self) -> &'static str {
        match self {
            Driver::C => "cc",
            Driver::Cxx => "c++",
        }
    }

    /// The variable that names the compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Driver::C => "RADDLE_CC",
            Driver::Cxx => "RADDLE_CXX",
        }
    }

    /// Finds the compiler: at the beginning of the words, else in the environment, else by its usual name.
    /// The rest of the words are its arguments.
    pub fn compiler(self, words: &[OsString]) -> Result<(Compiler, Vec<OsString>), CompileError> {
        let (chain, rest) = words.split_at(launched(words));
        let (mut words, mut arguments) = (chain.to_vec(), rest.to_vec());
        if words.is_empty() {
            // It may have options, too, as CC often has.
            let text = std::env::var_os(self.variable()).unwrap_or_default().to_string_lossy().into_owned();
            words = text.split_whitespace().map(OsString::from).collect();
            let options = words.iter().position(|word| word.to_string_lossy().starts_with('-'));
            arguments = [words.split_off(options.unwrap_or(words.len())), arguments].concat();
        }
        if words.is_empty() {
            words.push(self.name().into());
        }
        let this = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
        for word in &words {
            if this.is_some() && this == find(word).and_then(|path| path.canonicalize().ok()) {
                return Err(CompileError::Itself { variable: self.variable() });
            }
        }
        Ok((Compiler { words }, arguments))
    }
}

impl Compiler {
    /// The program to start: the first launcher, or the compiler.
    pub fn program(&self) -> &OsStr {
        &self.words[0]
    }

    /// A command that starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.args(&self.words[1..]);
        command
    }

    /// Whose compiler it is.
    pub fn family(&self) -> Result<Family, CompileError> {
        let last = self.words.last().expect("a compiler has a name");
        match find(last).and_then(|path| family_of_binary(&path)) {
            Some(family) => Ok(family),
            None => self.ask(),
        }
    }

    /// Asks the compiler itself.
    fn ask(&self) -> Result<Family, CompileError> {
        let mut command = self.command();
        command.arg("--version").env("LC_ALL", "C").stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().map_err(|error| CompileError::start(self.program(), error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        family_by_version(&said).ok_or_else(|| CompileError::Unknown {
            compiler: self.words.join(OsStr::new(" ")).to_string_lossy().into_owned(),
            said: said.lines().next().unwrap_or("").to_owned(),
        })
    }
}

/// How many of the first words are launchers and a compiler.
fn launched(words: &[OsString]) -> usize {
    let programs = words.iter().take_while(|word| is_program(word)).count();
    match words[..programs].iter().position(|word| compiler_name(word).is_some()) {
        Some(compiler) => compiler + 1,
        // A compiler with a name of its own.
        None => programs.min(1),
    }
}

/// Whether a word names a program, and not a file to be compiled or linked.
fn is_program(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let library = text.ends_with(".o") || text.ends_with(".a") || text.ends_with(".so") || text.contains(".so.");
    !text.starts_with(['-', '@']) && !library && by_name(word) == Input::Linked && find(word).is_some()
}

/// The file that a word starts.
fn find(word: &OsStr) -> Option<PathBuf> {
    find_in_path(word).filter(|path| path.is_file() && is_executable(path))
}

/// The name of a compiler without what stands before and after it: `gcc` of `x86_64-linux-gnu-gcc-12`.
fn compiler_name(path: &OsStr) -> Option<&'static str> {
    const NAMES: [&str; 9] = ["clang", "clang++", "gcc", "g++", "gfortran", "cc", "c++", "c89", "c99"];
    let file = Path::new(path).file_name()?.to_string_lossy().into_owned();
    let name = file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = if name.len() < file.len() { name.strip_suffix('-').unwrap_or(&file) } else { name };
    let last = name.rsplit('-').next()?;
    NAMES.into_iter().find(|known| *known == last)
}

/// Whose compiler a binary is. A script may start anything, whatever its name.
fn family_of_binary(path: &Path) -> Option<Family> {
    let path = path.canonicalize().ok()?;
    let mut magic = [0; 4];
    File::open(&path).and_then(|mut file| file.read_exact(&mut magic)).ok()?;
    if &magic != b"\x7fELF" {
        return None;
    }
    match compiler_name(path.as_os_str())? {
        "gcc" | "g++" | "gfortran" => Some(Family::Gcc),
        "clang" | "clang++" => Some(Family::Clang),
        _ => None,
    }
}

/// Whose compiler says this.
fn family_by_version(said: &str) -> Option<Family> {
    if said.contains("Free Software Foundation") {
        Some(Family::Gcc)
    } else if said.contains("clang") || said.contains("LLVM") {
        Some(Family::Clang)
    } else {
        None
    }
}

/// Whether the linker is gold, the one that takes no patterns for `--export-dynamic-symbol`.
pub fn links_with_gold(named: Option<&str>) -> bool {
    let is_gold = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("gold"));
    match named {
        Some(name) => is_gold(Path::new(name)),
        None => find(OsStr::new("ld")).and_then(|path| path.canonicalize().ok()).is_some_and(|path| is_gold(&path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn names_of_compilers() {
        for (path, name) in [
            ("/usr/bin/x86_64-linux-gnu-gcc-12", Some("gcc")),
            ("gcc-12.2", Some("gcc")),
            ("g++", Some("g++")),
            ("clang++-19", Some("clang++")),
            ("c99", Some("c99")),
            ("/opt/musl-gcc", Some("gcc")),
            ("ccache", None),
            ("sh", None),
            ("clang-tidy-19", None),
        ] {
            assert_eq!(compiler_name(OsStr::new(path)), name, "{path}");
        }
    }

    #[test]
    fn launchers_come_first() {
        // `sh` and `env` stand for launchers: they are on every machine.
        for (line, count) in [
            ("-c a.c", 0),
            ("a.c -o a", 0),
            ("a.o", 0),
            ("@words", 0),
            ("gcc -c a.c", 1),
            ("/usr/bin/gcc a.c", 1),
            ("env gcc -c a.c", 2),
            ("env sh gcc a.c", 3),
            ("gcc sh", 1),
            ("env sh -c", 1),
            ("no-such-program -c a.c", 0),
        ] {
            assert_eq!(launched(&words(line)), count, "{line}");
        }
    }

    #[test]
    fn the_version_tells_whose_it_is() {
        assert_eq!(family_by_version("gcc (Debian 12.2.0-14) 12.2.0\n© Free Software Foundation"), Some(Family::Gcc));
        assert_eq!(family_by_version("Debian clang version 19.1.7 (3~deb12u1)"), Some(Family::Clang));
        assert_eq!(family_by_version("tcc version 0.9.27"), None);
    }

    #[test]
    fn linkers_by_name() {
        assert!(links_with_gold(Some("gold")));
        assert!(links_with_gold(Some("/usr/bin/ld.gold")));
        assert!(!links_with_gold(Some("lld")));
    }
}
