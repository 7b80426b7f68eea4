//! Bundles and suppression files that were damaged, or made to do harm. Whatever is in them: no panic, no end of memory,
//! nothing written outside the folder that they are unpacked to, and nothing left of it.
//!
//! Each test makes a number of inputs from a fixed seed; RADDLE_FUZZ_CASES sets another number.

#[allow(dead_code)]
#[path = "../../raddle-inspect/tests/support/mutate.rs"]
mod mutate;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::{Mutex, MutexGuard};

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::Compression;
use raddle_engine::bundle::{open, File, Manifest, Opened, Role};
use raddle_engine::plan::suppressions::{FrameNames, Suppressions};
use raddle_inspect::build_id::content_hash;
use raddle_protocol::{PolicySettings, RunSettings};
use raddle_schedule::Schedule;
use tempfile::TempDir;

use mutate::{cases, forget_peak, peak, Mutator};

/// A folder that is this process's TMPDIR, so that all that a bundle writes is in it.
struct Place {
    /// Tests that look at memory and files take turns.
    _turn: MutexGuard<'static, ()>,
    root: TempDir,
    before: Option<std::ffi::OsString>,
}

impl Place {
    fn new() -> Place {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (before, root) = (std::env::var_os("TMPDIR"), tempfile::tempdir().expect("a folder"));
        fs::create_dir_all(root.path().join("above/tmp")).expect("a folder");
        std::env::set_var("TMPDIR", root.path().join("above/tmp"));
        Place { _turn: turn, root, before }
    }

    /// Opens an archive, looks at what that did, and says whether it was accepted.
    fn open(&self, bytes: &[u8]) -> bool {
        let path = self.root.path().join("bundle");
        fs::write(&path, bytes).expect("a file");
        let opened = open(&path);
        let accepted = match &opened {
            Ok(Some(opened)) => {
                self.check(opened);
                true
            }
            Ok(None) => false,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        };
        drop(opened);
        let left: Vec<_> = self.files().into_iter().filter(|file| *file != path).collect();
        assert_eq!(
            left,
            Vec::<PathBuf>::new(),
            "written outside, or left behind: {}",
            mutate::keep("bundle", bytes).display()
        );
        accepted
    }

    fn check(&self, opened: &Opened) {
        let folder = opened.directory.path();
        assert!(folder.starts_with(self.root.path().join("above/tmp")));
        assert!(opened.program.starts_with(folder) && opened.schedule.starts_with(folder));
        for file in &opened.manifest.files {
            let path = folder.join(&file.file);
            let metadata = path.symlink_metadata();
            assert!(metadata.map_or(true, |metadata| metadata.is_file()), "{path:?}");
        }
        let _ = opened.differences();
    }

    /// All files below the place.
    fn files(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.root.path().to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let is_folder = entry.file_type().expect("has a type").is_dir();
                if is_folder { &mut folders } else { &mut found }.push(entry.path());
            }
        }
        found
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        match self.before.take() {
            Some(before) => std::env::set_var("TMPDIR", before),
            None => std::env::remove_var("TMPDIR"),
        }
    }
}

/// An entry of an archive, right or wrong.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    kind: u8,
    size: u64,
    contents: Vec<u8>,
    link: Vec<u8>,
}

impl Entry {
    fn file(name: &str, contents: &[u8]) -> Entry {
        let name = format!("raddle-bundle/{name}").into_bytes();
        Entry { name, kind: b'0', size: contents.len() as u64, contents: contents.to_vec(), link: Vec::new() }
    }

    fn write(&self, archive: &mut Vec<u8>) {
        let mut header = tar::Header::new_gnu();
        let bytes = header.as_mut_bytes();
        let (name, link) = (self.name.len().min(100), self.link.len().min(100));
        bytes[..name].copy_from_slice(&self.name[..name]);
        bytes[157..157 + link].copy_from_slice(&self.link[..link]);
        bytes[156] = self.kind;
        header.set_mode(0o777);
        header.set_size(self.size);
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(&self.contents);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
}

/// The files of a small bundle that is right.
fn contents() -> Vec<(Role, &'static str, Vec<u8>)> {
    let mut schedule = Schedule { command: vec![b"./program".to_vec()], run: 1, ..Schedule::default() };
    (schedule.raddle, schedule.build_id, schedule.failure.kind) = ("0.1.0".into(), "6f1c".into(), "exit".into());
    schedule.settings = RunSettings::of(PolicySettings::new("pct", []));
    vec![
        (Role::Schedule, "schedule", raddle_schedule::write(&schedule).into_bytes()),
        (Role::Program, "bin/program", b"not really a program".to_vec()),
        (Role::Library, "lib/libthing.so", vec![7; 700]),
        (Role::Stdin, "stdin", b"input\n".to_vec()),
    ]
}

fn manifest(folder: &Path) -> Manifest {
    let hash = |bytes: &[u8]| {
        let path = folder.join("hashed");
        fs::write(&path, bytes).expect("a file");
        let hash = content_hash(&path).expect("read");
        fs::remove_file(path).expect("removed");
        hash
    };
    let file = |(role, name, bytes): (Role, &str, Vec<u8>)| File {
        file: name.into(),
        role,
        from: format!("/home/ada/{name}"),
        identity: "6f1c".into(),
        hash: hash(&bytes),
        size: bytes.len() as u64,
    };
    Manifest {
        version: 1,
        raddle: "0.1.0".into(),
        loader: "/lib64/ld-linux-x86-64.so.2".into(),
        glibc: Some("2.0".into()),
        files: contents().into_iter().map(file).collect(),
        missing: Vec::new(),
    }
}

/// The entries of a bundle, the manifest first.
fn entries(manifest: &Manifest) -> Vec<Entry> {
    let text = serde_json::to_vec(manifest).expect("JSON");
    let files = contents().into_iter().map(|(_, name, bytes)| Entry::file(name, &bytes));
    std::iter::once(Entry::file("manifest.json", &text)).chain(files).collect()
}

fn archive(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    entries.iter().for_each(|entry| entry.write(&mut bytes));
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

/// Names that should lead nowhere.
const NAMES: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "../../outside",
    "/outside",
    "bin/../../../outside",
    "bin//program",
    "bin/program/below",
    "bin",
    "lib",
    "work",
    "schedule",
    "manifest.json",
    "a/b/c/d/e/f/g",
    "nul\0byte",
    "new\nline",
    "\u{202e}",
    "bin/program",
];

fn spoil_manifest(mutator: &mut Mutator, manifest: &mut Manifest) {
    let at = mutator.below(manifest.files.len());
    match mutator.below(12) {
        0 => manifest.files[at].file = (*mutator.one(NAMES)).into(),
        1 => manifest.files[at].size = mutator.edge(),
        2 => manifest.files[at].hash.push('0'),
        3 => manifest.files[at].role = manifest.files[mutator.below(manifest.files.len())].role,
        4 => manifest.loader = (*mutator.one(&["/dev/zero", "/", "", "/proc/self/mem", "\0", "bundle"])).into(),
        5 => {
            manifest.glibc =
                [None, Some("999.0".into()), Some("x".into()), Some("-1.-1".into())][mutator.below(4)].clone()
        }
        6 => manifest.version = mutator.edge() as u32,
        7 => manifest.files[at].from = (*mutator.one(&["/dev/zero", "/proc/self/mem", "/", "\0"])).into(),
        8 => manifest.files[at].role = *mutator.one(&[Role::CLibrary, Role::Loader, Role::Runtime, Role::Preload]),
        9 => {
            manifest.files.remove(at);
        }
        10 => manifest.files.push(manifest.files[at].clone()),
        _ => manifest.files[at].file = "long/".repeat(*mutator.one(&[1, 10, 1000])),
    }
}

fn spoil_entry(mutator: &mut Mutator, entries: &mut Vec<Entry>) {
    let at = mutator.below(entries.len());
    match mutator.below(8) {
        0 => entries[at].name = [b"raddle-bundle/", mutator.one(NAMES).as_bytes()].concat(),
        1 => entries[at].kind = *mutator.one(b"\x00123456789ALKSMNVXxgZ\xff"),
        2 => entries[at].size = mutator.edge(),
        3 => entries[at].link = b"../../outside".to_vec(),
        4 => {
            entries.remove(at);
        }
        5 => {
            let entry = entries[at].clone();
            let to = mutator.below(entries.len() + 1);
            entries.insert(to, entry);
        }
        6 => {
            let contents = mutator.one(NAMES).as_bytes().repeat(1 + mutator.below(400));
            let kind = *mutator.one(b"LKxg");
            let entry = Entry { kind, size: contents.len() as u64, contents, ..Entry::file("pax", b"") };
            entries.insert(at, entry);
        }
        _ => mutator.rough_damage(&mut entries[at].contents),
    }
    if entries.is_empty() {
        entries.push(Entry::file("manifest.json", b"{}"));
    }
}

#[test]
fn a_small_bundle_is_accepted() {
    let place = Place::new();
    let whole = archive(&entries(&manifest(place.root.path())));
    assert!(place.open(&whole) && place.open(&compressed(&whole)));
}

#[test]
fn damaged_archives() {
    let place = Place::new();
    let whole = archive(&entries(&manifest(place.root.path())));
    let packed = compressed(&whole);
    let mut mutator = Mutator::new(1);
    for _ in 0..cases(1_500) {
        let mut bytes = if mutator.below(3) == 0 { packed.clone() } else { whole.clone() };
        mutator.rough_damage(&mut bytes);
        place.open(&bytes);
    }
}

#[test]
fn hostile_archives() {
    let place = Place::new();
    let right = manifest(place.root.path());
    let mut mutator = Mutator::new(2);
    let mut accepted = 0;
    for _ in 0..cases(3_000) {
        let mut manifest = right.clone();
        for _ in 0..mutator.below(3) {
            spoil_manifest(&mut mutator, &mut manifest);
            if manifest.files.is_empty() {
                manifest = right.clone();
            }
        }
        let mut entries = entries(&manifest);
        for _ in 0..mutator.below(3) {
            spoil_entry(&mut mutator, &mut entries);
        }
        let bytes = archive(&entries);
        accepted += u64::from(place.open(&if mutator.below(4) == 0 { compressed(&bytes) } else { bytes }));
    }
    assert!(accepted > 0, "no change was harmless: nothing behind the first check was tried");
}

#[test]
fn archives_that_are_much_larger_when_uncompressed() {
    const PIECES: usize = 256;
    let place = Place::new();
    let right = manifest(place.root.path());
    let text = serde_json::to_vec(&right).expect("JSON");
    // A stretch of a compressed stream that does not end it; many of them are a large file.
    let deflated = |bytes: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.flush().expect("compressed");
        encoder.get_ref().clone()
    };
    let piece = deflated(&vec![b' '; 1 << 20]);
    let bomb = |first: &[Entry], kind: u8, name: &str| {
        let mut start = Vec::new();
        first.iter().for_each(|entry| entry.write(&mut start));
        Entry { kind, size: (PIECES as u64) << 20, ..Entry::file(name, b"") }.write(&mut start);
        const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        [&HEADER[..], &deflated(&start), &piece.repeat(PIECES)].concat()
    };
    let manifest = Entry::file("manifest.json", &text);
    let bombs = [
        bomb(&[], b'0', "manifest.json"),
        bomb(&[], b'L', "manifest.json"),
        bomb(&[], b'x', "manifest.json"),
        bomb(from_ref(&manifest), b'0', "bin/program"),
        bomb(from_ref(&manifest), b'L', "bin/program"),
        bomb(from_ref(&manifest), b'x', "bin/program"),
        bomb(from_ref(&manifest), b'K', "bin/program"),
    ];
    let before = forget_peak();
    for (number, bomb) in bombs.iter().enumerate() {
        assert!(!place.open(bomb), "bomb {number}");
        let more = peak().saturating_sub(before) >> 20;
        // A manifest may be 16 MiB.
        assert!(more < 48, "bomb {number} took {more} MiB");
    }
}

/// The plain meaning of a pattern, tried in all ways.
fn means(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skipped| means(rest, &name[skipped..])),
        Some((first, rest)) => name.split_first().is_some_and(|(c, after)| c == first && means(rest, after)),
    }
}

#[test]
fn patterns_mean_what_they_say() {
    let mut mutator = Mutator::new(3);
    for _ in 0..cases(20_000) {
        let mut text = |alphabet: &[char], most: usize| -> String {
            let length = mutator.below(most + 1);
            (0..length).map(|_| *mutator.one(alphabet)).collect()
        };
        let (body, name) = (text(&['a', 'b', 'ü', '*'], 6), text(&['a', 'b', 'ü'], 8));
        let (start, end) = (mutator.below(3) == 0, mutator.below(3) == 0);
        let pattern = format!("{}{body}{}", if start { "^" } else { "" }, if end { "$" } else { "" });
        let Ok(suppressions) = Suppressions::parse(&format!("race:{pattern}\n")) else {
            assert!(body.is_empty(), "{pattern}");
            continue;
        };
        let whole = format!("{}{body}{}", if start { "" } else { "*" }, if end { "" } else { "*" });
        let (whole, chars): (Vec<char>, Vec<char>) = (whole.chars().collect(), name.chars().collect());
        let expected = !name.is_empty() && means(&whole, &chars);
        assert_eq!(suppressions.suppresses_variable(&name).is_some(), expected, "{pattern} and {name}");
        let frame = FrameNames { function: Some(&name), ..FrameNames::default() };
        assert_eq!(suppressions.suppresses(&[&[frame]]).is_some(), expected, "{pattern} and {name}");
    }
}

#[test]
fn damaged_suppressions() {
    let right =
        "# known races\nrace:std::*::lock$\nrace_top:^inner\n\nmutex:b\ncalled_from_lib:libe.so\n \trace:a b\t\r\n";
    let mut mutator = Mutator::new(4);
    let mut read = 0;
    for _ in 0..cases(20_000) {
        let mut bytes = right.repeat(1 + mutator.below(3)).into_bytes();
        mutator.rough_damage(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().count();
        match Suppressions::parse(&text) {
            Ok(suppressions) => {
                read += 1;
                assert!(suppressions.ignored.iter().all(|(line, _)| (1..=lines).contains(line)));
                let frame = FrameNames { function: Some("std::mutex::lock"), file: Some("a b"), module: None };
                let _ = suppressions.suppresses(&[&[frame, frame], &[]]);
            }
            Err(error) => assert!(error.to_string().starts_with("line ")),
        }
    }
    assert!(read > 0);
}
