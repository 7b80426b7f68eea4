//! A folder of programs with headers: each source is an entry, or one for each of its variants.

use std::io;
use std::path::{Path, PathBuf};

use raddle_core::rng::run_seed;
use raddle_protocol::Points;

use super::header::{self, Header};
use super::Skipped;

/// A program to be compared, with its arguments.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file's name without its ending, and the variant's suffix.
    pub name: String,
    pub source: PathBuf,
    /// What its header says.
    pub header: Header,
    pub arguments: Vec<String>,
    /// The suffix of the variant.
    pub variant: Option<String>,
    /// Threads, the main one included.
    pub threads: Option<u64>,
    /// The depth of its bug.
    pub depth: Option<u32>,
    /// The d with which PCT is run on it.
    pub pct_depth: Option<u32>,
    /// The rows of papers that it stands for.
    pub rows: Vec<String>,
}

impl Entry {
    /// Whether its accesses must be visible.
    pub fn instrumented(&self) -> bool {
        self.header.points != Points::Sync
    }
}

/// The seed of a program's campaigns. Programs that share one share their luck, too: two with a bug that half of all
/// first draws show would fail in the same runs.
pub fn seed_of(comparison: u64, program: &str) -> u64 {
    let name = program.bytes().fold(comparison, |seed, byte| run_seed(seed, u64::from(byte) + 1));
    // It is printed, and typed.
    name >> 32
}

/// The endings of sources.
pub const ENDINGS: [&str; 4] = ["c", "cc", "cpp", "rs"];

/// The sources in a folder and those below it, in the order of their names. A folder `include` has none.
pub fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            if kind.is_dir() && !hidden && name != "include" && name != "target" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending)) {
                all.push(path);
            }
        }
    }
    all.sort();
    Ok(all)
}

/// The entries of a folder whose names contain a text, and the sources that are none.
pub fn entries(folder: &Path, only: Option<&str>) -> io::Result<(Vec<Entry>, Vec<Skipped>)> {
    let (mut all, mut skipped): (Vec<Entry>, Vec<Skipped>) = (Vec::new(), Vec::new());
    for source in sources(folder)? {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let shown = source.strip_prefix(folder).unwrap_or(&source).display().to_string();
        let text = match std::fs::read(&source) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                skipped.push(Skipped { program: shown, reason: format!("it cannot be read: {error}") });
                continue;
            }
        };
        let header = match header::parse(&text) {
            Ok(header) => header,
            Err(error) => {
                skipped.push(Skipped { program: shown, reason: error.to_string() });
                continue;
            }
        };
        for entry in variants(&stem, &source, &header) {
            if all.iter().any(|other| other.name == entry.name) {
                let reason = format!("another program is called {} too", entry.name);
                skipped.push(Skipped { program: shown.clone(), reason });
            } else {
                all.push(entry);
            }
        }
    }
    let wanted = |name: &str| only.is_none_or(|text| name.contains(text));
    all.retain(|entry| wanted(&entry.name));
    skipped.retain(|skipped| wanted(&skipped.program));
    Ok((all, skipped))
}

fn variants(stem: &str, source: &Path, header: &Header) -> Vec<Entry> {
    let entry = |suffix: Option<&str>, arguments: &[String], threads: Option<u64>, depth: Option<u32>| Entry {
        name: suffix.map_or_else(|| stem.to_string(), |suffix| format!("{stem}-{suffix}")),
        source: source.to_path_buf(),
        header: header.clone(),
        arguments: arguments.to_vec(),
        variant: suffix.map(str::to_string),
        threads: threads.or(header.threads),
        depth: depth.or(header.depth),
        pct_depth: header.pct_depth.or(depth).or(header.depth),
        rows: header.rows.iter().filter(|row| belongs(row, suffix, header)).cloned().collect(),
    };
    if header.variants.is_empty() {
        return vec![entry(None, &header.arguments, None, None)];
    }
    let variants = header.variants.iter();
    variants.map(|v| entry(Some(&v.suffix), &v.arguments, v.threads, v.depth)).collect()
}

/// A row that ends with the suffix of a variant, such as `stride:reorder_10`, is that variant's; others are for all.
fn belongs(row: &str, suffix: Option<&str>, header: &Header) -> bool {
    let last = row.rsplit(['_', ' ', ':']).next().unwrap_or(row);
    let somebodys = header.variants.iter().any(|variant| variant.suffix == last);
    !somebodys || suffix == Some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_seed_of_its_own() {
        let of = |seed: u64| ["fft", "lu", "barnes", "fft-2"].map(|name| seed_of(seed, name));
        let all: std::collections::BTreeSet<_> = (0..100).flat_map(of).collect();
        assert_eq!((all.len(), of(1)), (400, of(1)));
    }

    #[test]
    fn variants_are_entries_and_rows_find_theirs() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("scaled")).expect("a folder");
        std::fs::create_dir_all(folder.path().join("include")).expect("a folder");
        let header =
            "// bug: x\n// kind: assert\n// depth: 2\n// threads: 4\n// row: stride:reorder_3, stride:reorder_10, \
                      pct:All\n// variants: 3 = 3; 10 = 10 [threads 12]\n";
        std::fs::write(folder.path().join("scaled/reorder.c"), header).expect("written");
        std::fs::write(folder.path().join("plain.rs"), "// bug: y\n// kind: exit\n").expect("written");
        std::fs::write(folder.path().join("no-header.cc"), "int main() {}\n").expect("written");
        std::fs::write(folder.path().join("include/common.c"), "").expect("written");
        let (all, skipped) = entries(folder.path(), None).expect("read");
        let names: Vec<_> = all.iter().map(|e| (e.name.as_str(), e.threads, e.rows.join(" "))).collect();
        assert_eq!(
            names,
            [
                ("plain", None, String::new()),
                ("reorder-3", Some(4), "stride:reorder_3 pct:All".into()),
                ("reorder-10", Some(12), "stride:reorder_10 pct:All".into())
            ]
        );
        assert_eq!(skipped.iter().map(|s| s.program.as_str()).collect::<Vec<_>>(), ["no-header.cc"]);
        let (some, skipped) = entries(folder.path(), Some("-10")).expect("read");
        assert_eq!((some.len(), skipped.len()), (1, 0));
    }
}
