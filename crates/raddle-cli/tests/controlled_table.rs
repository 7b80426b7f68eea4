//! The table in docs/src/controlled.md is true: it names every function of libc that the runtime
//! interposes, and no other.
//!
//! The runtime is the one that RADDLE_RUNTIME names, or the one that raddle brings along.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};

/// The first cell of the header of the tables that count.
const HEADER: &str = "Function";

#[test]
fn names_every_interposed_function_and_no_other() {
    let runtime = runtime();
    let interposed = exported(&runtime);
    let libc = exported(&libc());
    let page = root().join("docs/src/controlled.md");
    let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{} cannot be read: {e}", page.display()));
    let documented = functions(&text);

    // What libc does not have is the runtime's own business.
    let missing: Vec<_> = interposed.intersection(&libc).filter(|name| !documented.contains(*name)).collect();
    let surplus: Vec<_> = documented.difference(&interposed).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "{} and {} do not agree.\n  interposed, but not in the table: {missing:?}\n  in the table, but not interposed: {surplus:?}",
        page.display(),
        runtime.display(),
    );
}

#[test]
fn reads_the_first_cells_of_function_tables() {
    let text =
        "| Function | What happens |\n|---|---|\n| `a`, `b` | calls `c` |\n\n| Other | x |\n|---|---|\n| `d` | |\n";
    assert_eq!(functions(text), BTreeSet::from(["a", "b"].map(String::from)));
}

#[test]
#[should_panic(expected = "`a` is in the table twice")]
fn a_function_has_one_row() {
    functions("| Function | |\n|---|---|\n| `a` | |\n| `a` | |\n");
}

/// The names in the first cells of all tables whose header says so.
fn functions(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in text.lines() {
        let Some(row) = line.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let cell = row.split('|').next().unwrap_or_default();
        if cell.trim() == HEADER {
            inside = true;
        } else if inside {
            // Names are between backquotes: every second part.
            for name in cell.split('`').skip(1).step_by(2) {
                assert!(names.insert(name.to_string()), "`{name}` is in the table twice");
            }
        }
    }
    names
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn runtime() -> PathBuf {
    raddle_engine::runtime::find(None).expect("a runtime library")
}

/// The functions that a library defines for others.
fn exported(library: &Path) -> BTreeSet<String> {
    let bytes = fs::read(library).unwrap_or_else(|e| panic!("{} cannot be read: {e}", library.display()));
    let file = object::File::parse(&*bytes).unwrap_or_else(|e| panic!("{} is no library: {e}", library.display()));
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.filter_map(|symbol| Some(symbol.name().ok()?.to_string())).collect()
}

/// The C library that this test itself uses.
fn libc() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").expect("the kernel lists the mappings");
    let mut files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let file = files.find(|file| file.ends_with("/libc.so.6"));
    file.expect("this test is linked with glibc").into()
}
