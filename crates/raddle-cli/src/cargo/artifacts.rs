//! The test executables that cargo says it has built (`--message-format=json`).

use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::CargoError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    pub path: PathBuf,
    pub manifest: PathBuf,
    /// Cargo's name of the target.
    pub name: String,
    /// What kind of target it is.
    pub kind: Kind,
    /// Its main source file.
    pub source: PathBuf,
    /// Whether it is a library whose documentation can have tests.
    pub doctest: bool,
}

/// A kind of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The library's own tests.
    Library,
    /// A binary's own tests.
    Binary,
    Test,
    Example,
    Benchmark,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
    src_path: PathBuf,
    #[serde(default)]
    doctest: bool,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Reads cargo's messages to their end.
pub fn read(messages: impl BufRead) -> Result<Vec<Artifact>, CargoError> {
    let wrong = |reason: String| CargoError::NotUnderstood { what: "a message", reason };
    let mut artifacts = Vec::new();
    for line in messages.lines() {
        let line = line.map_err(|error| wrong(error.to_string()))?;
        // Build scripts and macros may print, too.
        if !line.starts_with('{') {
            continue;
        }
        let message: Message = serde_json::from_str(&line).map_err(|error| wrong(error.to_string()))?;
        artifacts.extend(message.artifact());
    }
    Ok(artifacts)
}

impl Message {
    fn artifact(self) -> Option<Artifact> {
        let is_test = self.reason == "compiler-artifact" && self.profile?.test;
        let (target, path) = (self.target?, self.executable?);
        let kind = match target.kind.first()?.as_str() {
            "bin" => Kind::Binary,
            "test" => Kind::Test,
            "example" => Kind::Example,
            "bench" => Kind::Benchmark,
            _ => Kind::Library,
        };
        is_test.then_some(Artifact {
            path,
            manifest: self.manifest_path,
            name: target.name,
            kind,
            source: target.src_path,
            doctest: target.doctest,
        })
    }
}

impl Artifact {
    /// The folder of the package.
    pub fn package_root(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("/"))
    }

    /// As cargo names it in its messages, such as `unittests src/lib.rs`.
    pub fn title(&self) -> String {
        let source = self.source.strip_prefix(self.package_root()).unwrap_or(&self.source).display();
        match self.kind {
            Kind::Test => source.to_string(),
            _ => format!("unittests {source}"),
        }
    }

    /// The option that chooses it.
    pub fn option(&self) -> String {
        match self.kind {
            Kind::Library => "--lib".to_string(),
            Kind::Binary => format!("--bin {}", self.name),
            Kind::Test => format!("--test {}", self.name),
            Kind::Example => format!("--example {}", self.name),
            Kind::Benchmark => format!("--bench {}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_executables_only() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"kind":["lib"],"name":"a","src_path":"/w/a/src/lib.rs","doctest":true},"profile":{"test":false},"executable":null}
a build script says hello
{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"kind":["lib"],"name":"a","src_path":"/w/a/src/lib.rs","doctest":true},"profile":{"test":true},"executable":"/t/a-1"}
{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"kind":["test"],"name":"whole","src_path":"/w/a/tests/whole.rs"},"profile":{"test":true},"executable":"/t/whole-1"}
{"reason":"build-finished","success":true}
"#;
        let found = read(messages.as_bytes()).expect("understood");
        let titles: Vec<_> = found.iter().map(|a| (a.title(), a.option(), a.doctest)).collect();
        assert_eq!(
            titles,
            [
                ("unittests src/lib.rs".to_string(), "--lib".to_string(), true),
                ("tests/whole.rs".to_string(), "--test whole".to_string(), false)
            ]
        );
    }
}
