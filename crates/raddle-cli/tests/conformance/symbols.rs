//! The list of calls: what the headers in `conformance/headers.h` declare and libc exports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSymbol, SymbolKind};

use super::rows::folder;

/// The functions that need a row.
pub fn declared() -> BTreeSet<String> {
    let list = folder().join("headers.h");
    let text = fs::read_to_string(&list).expect("the list of headers");
    let wanted: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("#include <")?.strip_suffix('>')).collect();
    let output = Command::new("gcc").args(["-E", "-x", "c"]).arg(&list).output().expect("gcc runs");
    assert!(output.status.success(), "the headers are not there: {}", String::from_utf8_lossy(&output.stderr));
    let (source, exported) = (String::from_utf8_lossy(&output.stdout), exported());
    let mut names = called_names(&source, &wanted);
    let also = text.lines().filter_map(|line| line.strip_prefix("// also: ")).flat_map(str::split_whitespace);
    names.extend(also.map(str::to_owned));
    names.into_iter().filter(|name| !name.starts_with('_') && exported.contains(name)).collect()
}

/// The names before a parenthesis in what comes from these headers, or from parts of them, which are in `bits/`.
fn called_names(source: &str, wanted: &[&str]) -> BTreeSet<String> {
    let mut files: Vec<String> = Vec::new();
    let mut names = BTreeSet::new();
    for line in source.lines() {
        if let Some((file, flags)) = line.strip_prefix("# ").and_then(marker) {
            match flags {
                Some('1') => files.push(file.to_owned()),
                Some('2') => drop(files.pop()),
                _ if files.is_empty() => files.push(file.to_owned()),
                _ => {}
            }
            continue;
        }
        let header = files.iter().rev().find(|file| !file.contains("/bits/")).map(String::as_str).unwrap_or_default();
        if wanted.iter().any(|wanted| header.ends_with(&format!("/include/{wanted}")) || in_triplet(header, wanted)) {
            let before = line.split('(').map(|part| part.trim_end());
            let last = |part: &str| part.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
            names.extend(before.filter_map(last));
        }
    }
    names
}

/// Whether a file is this header in the folder of an architecture, `include/TRIPLET/HEADER`.
fn in_triplet(file: &str, header: &str) -> bool {
    let folder = file.strip_suffix(header).and_then(|folder| folder.strip_suffix('/'));
    folder.is_some_and(|folder| folder.ends_with("-linux-gnu"))
}

/// What a line marker, `LINE "FILE" FLAGS`, says.
fn marker(rest: &str) -> Option<(&str, Option<char>)> {
    let mut parts = rest.split('"');
    parts.next().filter(|line| line.trim().parse::<u64>().is_ok())?;
    Some((parts.next()?, parts.next().and_then(|flags| flags.trim().chars().next())))
}

/// The functions that libc defines, those that only old programs can reach included.
fn exported() -> BTreeSet<String> {
    dynamic_symbols(&libc(), true)
}

/// The functions that a program takes from libraries.
pub fn imported(program: &Path) -> BTreeSet<String> {
    dynamic_symbols(program, false)
}

fn dynamic_symbols(path: &Path, defined: bool) -> BTreeSet<String> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{} cannot be read: {e}", path.display()));
    let file = object::File::parse(&*bytes).unwrap_or_else(|e| panic!("{} is no program: {e}", path.display()));
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_undefined() != defined);
    // Functions that the loader resolves at run time have a kind of their own; data has another.
    let functions = symbols.filter(|symbol| symbol.kind() != SymbolKind::Data);
    functions.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect()
}

/// The C library that this test itself uses.
fn libc() -> std::path::PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("the kernel lists the mappings");
    let mut files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.find(|file| file.ends_with("/libc.so.6")).expect("this test is linked with glibc").into()
}
