//! The house is built as CONTRIBUTING.md draws it: which crate uses which, what is where, and no cycle between the modules
//! of a crate.
//!
//! This reads the sources as text. Comments, test modules and `lib.rs`, which only names the modules, do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose top-level modules must not use each other in a circle.
const WITHOUT_CYCLES: &[&str] = &["raddle-schedule", "raddle-inspect", "raddle-report", "raddle-engine", "raddle-cli"];

/// Modules that need no explanation.
const PLAIN: &[&str] = &["error", "tests"];

/// The workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names of the crates.
fn crates() -> BTreeSet<String> {
    let folders = entries(&root().join("crates")).into_iter().filter(|path| path.join("Cargo.toml").is_file());
    folders.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect()
}

/// The top-level modules of a crate.
fn modules(of: &str) -> BTreeSet<String> {
    let all = entries(&root().join("crates").join(of).join("src"));
    let is_module = |path: &PathBuf| path.join("mod.rs").is_file() || path.extension().is_some_and(|e| e == "rs");
    let binaries = ["lib", "main", "cargo_main", "bin"];
    all.into_iter()
        .filter(is_module)
        .map(|path| name(&path))
        .filter(|name| !binaries.contains(&name.as_str()))
        .collect()
}

/// The sources below a folder, with the path of the module that each of them is.
fn sources(folder: &Path, at: &[String]) -> Vec<(PathBuf, Vec<String>)> {
    let mut all = Vec::new();
    for path in entries(folder) {
        let below = |name: String| [at, &[name]].concat();
        if path.is_dir() {
            all.extend(sources(&path, &below(name(&path))));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if name(&path) == "mod" { at.to_vec() } else { below(name(&path)) };
            all.push((path, module));
        }
    }
    all
}

/// What of a source counts.
fn code(path: &Path) -> String {
    let text = read(path);
    // Tests stand at the end of a file, or in a file of their own.
    let tests = text.match_indices("#[cfg(test)]").find(|(at, _)| text[*at..].lines().nth(1).is_some_and(opens_module));
    let text = &text[..tests.map_or(text.len(), |(at, _)| at)];
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn opens_module(line: &str) -> bool {
    line.starts_with("mod ") && line.ends_with('{')
}

/// The top-level modules that a piece of code names, as it stands in this module.
fn named(code: &str, module: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in ["crate::", "super::"] {
        for (at, _) in code.match_indices(word) {
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c)) {
                // It is within a longer path, which was or will be met at its start.
                continue;
            }
            let (mut rest, mut depth) = (&code[at..], module.len());
            if let Some(after) = rest.strip_prefix("crate::") {
                (rest, depth) = (after, 0);
            }
            while let Some(after) = rest.strip_prefix("super::") {
                (rest, depth) = (after, depth.saturating_sub(1));
            }
            if depth == 0 {
                found.extend(first_words(rest));
            }
        }
    }
    found
}

/// The first word of a path, or of each path in braces.
fn first_words(path: &str) -> Vec<String> {
    let word = |text: &str| {
        let text = text.trim_start();
        text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())].to_string()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut depth, mut words) = (0, vec![word(group)]);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => words.push(word(&group[at + 1..])),
            _ => {}
        }
    }
    words
}

/// Which top-level module of a crate uses which others, and a file that does.
fn arrows(of: &str) -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let modules = modules(of);
    let mut arrows: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for (path, module) in sources(&root().join("crates").join(of).join("src"), &[]) {
        let Some(top) = module.first().filter(|top| modules.contains(*top)) else { continue };
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        for other in named(&code(&path), &module) {
            if modules.contains(&other) && other != *top {
                arrows.entry(top.clone()).or_default().entry(other).or_insert_with(|| path.clone());
            }
        }
    }
    arrows
}

/// A circle, as its modules, if there is one.
fn circle(arrows: &BTreeMap<String, BTreeMap<String, PathBuf>>) -> Option<Vec<String>> {
    fn follow(
        from: &str,
        arrows: &BTreeMap<String, BTreeMap<String, PathBuf>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|module| module == from) {
            return Some(way[start..].to_vec());
        }
        if !done.insert(from.to_string()) {
            return None;
        }
        way.push(from.to_string());
        let found = arrows.get(from).into_iter().flat_map(BTreeMap::keys).find_map(|to| follow(to, arrows, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|module| follow(module, arrows, &mut Vec::new(), &mut done))
}

#[test]
fn modules_do_not_use_each_other_in_a_circle() {
    for of in WITHOUT_CYCLES {
        let arrows = arrows(of);
        if let Some(circle) = circle(&arrows) {
            let steps = circle.iter().zip(circle.iter().cycle().skip(1));
            let steps = steps.map(|(from, to)| format!("\n  {from} uses {to}: {}", arrows[from][to].display()));
            panic!("the modules of {of} use each other in a circle:{}", steps.collect::<String>());
        }
    }
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    let at = |module: &str| module.split("::").map(String::from).collect::<Vec<_>>();
    let words = |code: &str, module: &str| named(code, &at(module)).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(words("use crate::run::Batch;", "job"), "run");
    assert_eq!(words("use crate::{plan::{Plan, place}, run};", "job"), "plan run");
    assert_eq!(words("fn f() -> super::os::Error { super::super::job::x() }", "run::watch"), "job");
    assert_eq!(words("fn f() -> super::os::Error {}", "run"), "os");
    assert_eq!(words("use super::Plan;", "plan::place"), "");
    assert_eq!(words("raddle_core::policy::x($crate::run::y)", "job"), "");
    let arrow = |from: &str, to: &str| (from.to_string(), BTreeMap::from([(to.to_string(), PathBuf::new())]));
    assert_eq!(circle(&[arrow("a", "b"), arrow("b", "c")].into()), None);
    assert_eq!(circle(&[arrow("a", "b"), arrow("b", "c"), arrow("c", "b")].into()).expect("a circle"), ["b", "c"]);
}

/// A row of a table: its cells.
fn rows(text: &str, header: &str) -> Vec<Vec<String>> {
    let table =
        text.lines().skip_while(|line| !line.starts_with(header)).skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<String>> =
        table.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()).collect();
    assert!(!rows.is_empty(), "CONTRIBUTING.md has no table that starts with {header}");
    rows
}

/// The names in backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The other crates that a crate's code and build script use.
fn used(of: &str) -> BTreeSet<String> {
    let manifest = read(&root().join("crates").join(of).join("Cargo.toml"));
    let mut used = BTreeSet::new();
    let mut counts = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-");
        }
        let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if counts && (dependency == "raddle" || dependency.starts_with("raddle-")) {
            used.insert(dependency.to_string());
        }
    }
    used
}

#[test]
fn crates_use_what_contributing_says_and_nothing_below_them() {
    let contributing = read(&root().join("CONTRIBUTING.md"));
    let mut above: BTreeSet<String> = BTreeSet::new();
    for row in rows(&contributing, "| Crate | May use |") {
        let [of] = quoted(&row[0])[..] else { panic!("a row for one crate starts with its name: {row:?}") };
        let allowed: BTreeSet<String> = quoted(&row[1]).into_iter().map(String::from).collect();
        assert_eq!(used(of), allowed, "{of}: its Cargo.toml, and what CONTRIBUTING.md lets it use");
        let below: Vec<_> = allowed.difference(&above).collect();
        assert!(below.is_empty(), "{of} uses crates that stand below it in the table: {below:?}");
        above.insert(of.to_string());
    }
    assert_eq!(above, crates(), "the crates in CONTRIBUTING.md, and those in the folder");
}

#[test]
fn the_rooms_that_contributing_names_are_there() {
    let contributing = read(&root().join("CONTRIBUTING.md"));
    for row in rows(&contributing, "| Crate | May use |") {
        let source = root().join("crates").join(quoted(&row[0])[0]).join("src");
        for room in quoted(&row[2]).into_iter().filter(|name| name.ends_with('/')) {
            assert!(source.join(room).is_dir(), "{room} of {}", row[0]);
        }
    }
    for row in rows(&contributing, "| Folder |") {
        for path in quoted(&row[0]) {
            assert!(root().join(path).exists(), "{path}");
        }
    }
    for row in rows(&contributing, "| File in `crates/raddle-runtime/src` |") {
        let source = root().join("crates/raddle-runtime/src");
        let names = quoted(&row[0]);
        // The first name has the folder; those after it may leave it out.
        let folder = source.join(names[0]).parent().map(Path::to_path_buf).unwrap_or_default();
        for name in names {
            assert!(source.join(name).exists() || folder.join(name).exists(), "{name}");
        }
    }
}

#[test]
fn every_module_is_introduced() {
    let contributing = read(&root().join("CONTRIBUTING.md"));
    for row in rows(&contributing, "| Crate | May use |") {
        let of = quoted(&row[0])[0];
        let lib = read(&root().join("crates").join(of).join("src/lib.rs"));
        let table: Vec<_> = lib.lines().filter(|line| line.starts_with("//! |")).collect();
        let table = table.join("\n");
        let known: BTreeSet<&str> = quoted(&row[2]).into_iter().chain(quoted(&table)).collect();
        for module in modules(of) {
            let known = known.contains(module.as_str()) || known.contains(format!("{module}/").as_str());
            let small = table.is_empty() && modules(of).len() <= 6;
            assert!(
                known || small || PLAIN.contains(&module.as_str()),
                "{of}: the module {module} is in no table, neither in its lib.rs nor in CONTRIBUTING.md"
            );
        }
    }
}

/// The sources of tests: whole files of the folder `tests`, and what comes after the first test module of the others.
fn tests() -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for of in crates() {
        let folder = root().join("crates").join(of);
        for (path, _) in sources(&folder.join("src"), &[]) {
            let text = read(&path);
            let start = if path.iter().any(|part| part == "tests") { Some(0) } else { text.find("#[cfg(test)]") };
            all.extend(start.map(|start| (path, text[start..].to_string())));
        }
        if folder.join("tests").is_dir() {
            all.extend(sources(&folder.join("tests"), &[]).into_iter().map(|(path, _)| (path.clone(), read(&path))));
        }
    }
    all
}

#[test]
fn no_test_measures_time() {
    // A busy machine may take any time. What a test may do is to give up: after WATCHDOG, which is minutes.
    let compares = |line: &str| {
        let (elapsed, now) = ([concat!("elapsed", "() "), concat!("elapsed", "())")], concat!("Instant::", "now() +"));
        elapsed.iter().any(|text| line.contains(text)) || line.contains(now)
    };
    for (path, text) in tests() {
        let line = text.lines().find(|line| compares(line) && !line.contains("WATCHDOG"));
        assert_eq!(line, None, "{}: compare with a constant WATCHDOG, or with nothing", path.display());
    }
}
